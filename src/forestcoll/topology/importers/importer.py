"""What an importer is: the reader of one format. Each is declared in a file of its own.

    @importers.add("slurm", summary="Slurm's topology.conf or topology.yaml", tried=130)
    @dataclass(frozen=True)
    class Slurm(Importer):
        link_bandwidth: Fraction | None = option("link_bandwidth")

        @staticmethod
        def looks_like(text: str) -> bool: ...

        def network(self, source: Source, notes: Notes) -> TopologyBuilder: ...

Its fields are the keys of its text, `slurm:link_bandwidth=25`, and what it does not declare has no effect on its files.
The declaration states a `summary`, `several=True` if several files make one network, and `tried`, its place in the
order in which files are compared with the formats. The most distinctive formats come first. From `UNMARKED` on are
formats without any mark: a broken file of another format can look like one of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from forestcoll.base.exact import MAX_DIGITS
from forestcoll.base.parameters import check_fields, derived_integer
from forestcoll.base.registry import Registry, Spec
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import FIELDS
from forestcoll.topology.importers.source import Source

importers = Registry(
    "format",
    tuple(
        f"forestcoll.topology.importers.{folder}"
        for folder in ("graphs", "hosts", "fabrics", "matrices", "measurements", "simulators")
    ),
)
"""All importers, by the names of their formats."""

OWN = "forestcoll"
"""This project's own format, which is looked for first, without the import of the other files."""

UNMARKED = 900
"""Formats that are tried from here on have no mark."""


@dataclass(frozen=True)
class Importer(ABC):
    """The reader of one format, with its options: a frozen dataclass, or a text such as `nccl-xml:nvlink=25`.

    Attributes:
        rounding: how many significant digits all bandwidths and latencies get; all their digits if None.

    Raises:
        InputError: the value of an option is out of range.
    """

    rounding: int | str | None = derived_integer(
        "no rounding", "significant digits of bandwidths and latencies", minimum=1, maximum=MAX_DIGITS
    )

    def __post_init__(self) -> None:
        check_fields(self, self.name)

    @property
    def name(self) -> str:
        """The name of the format."""
        return importers.name_of(type(self))

    @property
    def spec(self) -> Spec:
        """What the format declares."""
        return importers.named(self.name)

    @property
    def digits(self) -> int | None:
        """The number of digits of all bandwidths and latencies; None if they are not rounded."""
        return self.rounding if isinstance(self.rounding, int) else None

    def given(self) -> tuple[str, ...]:
        """Return the names of the options that are not at their default, without a number of digits."""
        return tuple(
            each.name
            for each in self.spec.parameters
            if getattr(self, each.name) != each.default and not (each.name == "rounding" and self.digits)
        )

    @staticmethod
    @abstractmethod
    def looks_like(text: str) -> bool:
        """Return whether a text is in the format, as far as can be seen at once."""

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the builder of the network that files describe together. Formats of one file need only `network`.

        Raises:
            InputError: a file is broken, or does not state a speed that no option gives.
        """
        return self.network(sources[0], notes)

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the builder of the network in a file."""
        raise NotImplementedError


def option(name: str) -> Any:
    """Return the declaration of a field that is an option of `forestcoll import`."""
    shared = FIELDS[name]
    return field(default=shared.default, metadata=shared.metadata)


def by_content() -> tuple[Spec, ...]:
    """Return all importers in the order in which files are compared with them."""
    return tuple(sorted(importers.all(), key=lambda spec: int(spec.facts["tried"])))


def importer_of(text: str) -> Spec | None:
    """Return the first importer whose format a text looks like, or None."""
    own = importers.named(OWN)
    if _has_format(own, text):
        return own
    return next((spec for spec in by_content() if _has_format(spec, text)), None)


def _has_format(spec: Spec, text: str) -> bool:
    return cast("type[Importer]", spec.make).looks_like(text)
