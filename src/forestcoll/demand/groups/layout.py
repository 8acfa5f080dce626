"""Layouts of parallel training: how ranks are divided into groups along named dimensions.

Ranks are numbered with the first dimension fastest: with `tp=8,dp=4`, ranks 0 to 7 are a tensor-parallel group, and
ranks 0, 8, 16 and 24 a data-parallel group.
"""

import re
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.topology import Topology

DIMENSIONS = {
    "tp": "tensor-parallel",
    "dp": "data-parallel",
    "fsdp": "fully sharded data-parallel",
    "ep": "expert-parallel",
    "pp": "pipeline-parallel",
    "cp": "context-parallel",
}
"""The names of dimensions, and what they mean."""

Ranks: TypeAlias = tuple[int, ...]
"""Positions among the compute nodes, counted from 0."""

_DIMENSION = re.compile(r"([a-z]+)=([0-9]{1,9})")
_WITHOUT_SIGN = re.compile(r"([a-z]+)[ :-]?([1-9][0-9]*)")


@dataclass(frozen=True)
class Layout:
    """The dimensions of a layout with their sizes, the fastest first.

    Attributes:
        sizes: the name and the size of each dimension.

    Example:
        >>> from forestcoll.demand import Layout
        >>> layout = Layout.of("tp=2,dp=3")
        >>> layout.ranks, layout.groups("tp"), layout.groups("dp")
        (6, ((0, 1), (2, 3), (4, 5)), ((0, 2, 4), (1, 3, 5)))
    """

    sizes: tuple[tuple[str, int], ...]

    @staticmethod
    def of(text: "str | Layout") -> "Layout":
        """Return the layout that a text such as `tp=8,dp=4` describes.

        Raises:
            InputError: a part has another form, or a dimension is unknown, has size 0, or occurs twice.
        """
        if isinstance(text, Layout):
            return text
        sizes: dict[str, int] = {}
        for part in text.split(","):
            found = _DIMENSION.fullmatch(part.strip().lower())
            if found is None or not int(found[2]):
                near = _WITHOUT_SIGN.fullmatch(part.strip().lower())
                form = "tp=8" if near is None else f"{near[1]}={near[2]}"
                raise InputError(f"layout: {shown(part.strip())} is not a dimension; write it as in {form}")
            name = _known(found[1])
            if name in sizes:
                raise InputError(f"layout: {name} is given twice; give each dimension once")
            sizes[name] = int(found[2])
        return Layout(tuple(sizes.items()))

    @property
    def ranks(self) -> int:
        """The number of ranks: the product of all sizes."""
        return prod(size for _, size in self.sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(name for name, _ in self.sizes)

    def size(self, name: str) -> int:
        """Return the size of a dimension; 1 if the layout does not have it."""
        return dict(self.sizes).get(name, 1)

    def __str__(self) -> str:
        return ",".join(f"{name}={size}" for name, size in self.sizes)

    def check(self, topology: Topology) -> None:
        """Check that the layout has as many ranks as the network has compute nodes.

        Raises:
            InputError: it does not.
        """
        count = len(topology.compute)
        if self.ranks != count:
            raise InputError(
                f"layout {self} has {self.ranks} ranks, and {topology.name} has {count} compute nodes; the sizes must "
                "multiply to this number; if some take no part, list the groups (--groups '0,8,16;1,9,17')"
            )

    def running(self, run: str | None = None) -> tuple[str, ...]:
        """Return the dimensions that a text such as `dp` or `tp,dp` names; the last one of the layout if it is None.

        Raises:
            InputError: a dimension is not in the layout, has size 1, or is named twice.
        """
        names = self.names[-1:] if run is None else tuple(part.strip().lower() for part in run.split(","))
        for name in names:
            if name not in self.names:
                raise InputError(f"run: {shown(name)} is not in layout {self}; name one of {', '.join(self.names)}")
            if self.size(name) == 1:
                raise InputError(f"run: {name} has size 1, so its groups have one rank each; name another dimension")
            if names.count(name) > 1:
                raise InputError(f"run: {name} is named twice; name each dimension once")
        return names

    def stride(self, name: str) -> int:
        """Return the difference between the numbers of neighbouring ranks of a group of a dimension."""
        return prod(size for _, size in self.sizes[: self.names.index(name)])

    def groups(self, name: str) -> tuple[Ranks, ...]:
        """Return the groups of a dimension, each with its ranks in rising order."""
        size, stride = self.size(name), self.stride(name)
        firsts = (rank for rank in range(self.ranks) if rank // stride % size == 0)
        return tuple(tuple(range(first, first + size * stride, stride)) for first in firsts)


def _known(name: str) -> str:
    if name not in DIMENSIONS:
        listed = ", ".join(f"{each} ({meaning})" for each, meaning in DIMENSIONS.items())
        raise InputError(
            f"layout: there is no dimension {shown(name)}; {did_you_mean(name, DIMENSIONS)}there are {listed}"
        )
    return name
