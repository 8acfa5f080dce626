"""Formats of programs as texts, such as `msccl-xml:blocks=64,channels=2`: the format, and options of the lowering."""

from dataclasses import dataclass
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.base.parameters import Choice, Integer, Kind, Parameter
from forestcoll.base.registry import Registry, Spec
from forestcoll.programs.formats.exporting import Target
from forestcoll.programs.lowering import Placement
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.model import Protocol

_COUNT = Integer(1, MOST)


@dataclass(frozen=True)
class _Chunks:
    """A number of chunks, or `exact` for the least number that makes all shares exact, which is None."""

    form: str = f"'exact' or {_COUNT.form}"

    def parse(self, text: str) -> int | None:
        """As `Kind.parse`."""
        return None if text == "exact" else _COUNT.parse(text)

    def write(self, value: object) -> str:
        """As `Kind.write`."""
        return "exact" if value is None else str(value)


_OPTIONS: dict[str, tuple[Kind, str]] = {
    "placement": (Choice(tuple(Placement)), "whether the input and the output are the same buffer"),
    "protocol": (Choice(tuple(Protocol)), "how the runtime transfers the data; Simple by default"),
    "chunks": (_Chunks(), "the most chunks of the data; exact is the least number that makes all shares exact"),
    "pieces": (_COUNT, "pieces of a chunk, which follow each other along a tree"),
    "step_chunks": (_COUNT, "the most chunks that one step moves; more parts of a tree then move at the same time"),
    "channels": (_COUNT, "channels that the trees of a root share"),
    "instances": (_COUNT, "copies of the program that run in parallel, each on a part of the data"),
    "blocks": (_COUNT, "the most thread blocks of a rank"),
}
_OF_MSCCL: dict[str, tuple[Kind, str]] = {
    "levels": (
        Integer(0, MOST),
        "channels for the hops of a tree by depth; with 0, a rank receives and sends in one step",
    ),
    "lanes": (_COUNT, "blocks that send from one rank to another at the same time, in the order of a timetable"),
    "strands": (_COUNT, "parts of a tree that move at the same time, in blocks of their own, and share its chunks"),
}
"""Options of programs of messages made of trees. `programs.lowering.options` explains all of them."""

targets = Registry("format", ())
"""The formats of programs by name."""


def target_of(target: Target | str) -> tuple[Target, dict[str, Any]]:
    """Return the format that a text names, and the options of the lowering that it gives.

    Raises:
        InputError: there is no such format or option, or a value is out of range.

    Example:
        >>> target_of("msccl-xml:blocks=64,chunks=exact")
        (<Target.MSCCL_XML: 'msccl-xml'>, {'blocks': 64, 'chunks': None})
    """
    if not isinstance(target, str):
        raise InputError(f"the format is {target!r}; expected a text such as msccl-xml")
    found: tuple[Target, dict[str, Any]] = targets.read(target)
    return found


def _spec(target: Target) -> Spec:
    options = _OPTIONS | (_OF_MSCCL if target is Target.MSCCL_XML else {})
    parameters = tuple(
        Parameter(name, kind, None, "", meaning, is_size=False) for name, (kind, meaning) in options.items()
    )
    return Spec(target.value, lambda **given: (target, given), parameters, __name__)


for _target in Target:
    targets.put(_spec(_target))
