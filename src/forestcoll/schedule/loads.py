"""The data that crosses each link, exactly, and the links that routes cross."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.symmetry.orbits import summed_over_images


@dataclass(frozen=True, eq=False)
class LinkLoads:
    """The data that crosses each link, in the order of the links: integers of 64 bits if they fit, else of Python.

    Attributes:
        carried: for each link, the data as a number of units.
        whole: the number of units of M.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule.loads_of import link_loads
        >>> str(link_loads(generate("ring:nodes=4")).exact[0])
        '3/8'
    """

    carried: npt.NDArray[Any]
    whole: int

    @staticmethod
    def of_parts(parts: Sequence[Fraction]) -> "LinkLoads":
        """Return the loads of links that carry these parts of M."""
        whole = lcm(*(part.denominator for part in parts))
        return LinkLoads(np.array([int(part * whole) for part in parts], dtype=object), whole)

    @property
    def exact(self) -> list[Fraction]:
        """The part of M that crosses each link."""
        return [Fraction(int(units), self.whole) for units in self.carried.tolist()]

    @property
    def parts(self) -> npt.NDArray[np.float64]:
        """The part of M that crosses each link, rounded: for times, not for proofs."""
        return np.asarray(self.carried / self.whole, dtype=np.float64)

    def algbw(self, topology: Topology) -> Fraction:
        """Return 1 / (the greatest load of a link / its bandwidth), in the unit of the topology."""
        pairs = zip(self.carried.tolist(), topology.links, strict=True)
        return self.whole / max(int(units) / link.bandwidth for units, link in pairs)


class Shared(Protocol):
    """Trees or flows: for each, its share of M and the numbers of its routes."""

    @property
    def shares(self) -> Sequence[Fraction]:
        """The shares of M."""

    @property
    def routes(self) -> Rows:
        """The numbers of routes."""


def loads_along_routes(
    topology: Topology, routes: Rows, listed: Sequence[Shared], symmetry: Symmetry | None
) -> LinkLoads:
    """Return the loads of links by trees or flows along `routes`, with all their images.

    Raises:
        ValueError: a route crosses no link.
    """
    order = 1 if symmetry is None else symmetry.order
    carried, whole = _carried_by_routes(routes, listed, order * len(topology.nodes))
    loads = np.zeros(len(topology.links), dtype=carried.dtype)
    links = links_of_routes(topology, routes)
    np.add.at(loads, links.entries, np.repeat(carried, np.diff(links.starts)))
    return LinkLoads(loads if symmetry is None else summed_over_images(topology, symmetry, loads), whole)


def _carried_by_routes(routes: Rows, listed: Sequence[Shared], copies: int) -> tuple[IntArray, int]:
    """Return the data that each route carries, as a number of units, and the number of units of M.

    The integers are wide enough for sums that count each share `copies` times for each hop.
    """
    from forestcoll.schedule._schedules import add_units

    whole = lcm(*{share.denominator for each in listed for share in each.shares})
    longest = max(1, routes.longest)
    most = whole * copies * longest * len(listed)
    carried = np.zeros(len(routes), dtype=np.int64 if most * 2 < 2**62 else object)
    for each in listed:
        compiled = each.routes.compiled() if carried.dtype == np.int64 else None
        units = np.array([int(share * whole) for share in each.shares], dtype=carried.dtype)
        if compiled is None:
            np.add.at(carried, each.routes.entries, np.repeat(units, np.diff(each.routes.starts)))
        else:
            add_units(compiled, units, carried)
    return carried, whole


def hops_of(routes: Rows) -> tuple[IntArray, IntArray, IntArray]:
    """Return three arrays with one entry for each link of each route: its source, its target, and the route."""
    inner = np.ones(len(routes.entries), dtype=np.bool_)
    inner[routes.starts[1:] - 1] = False
    places = np.flatnonzero(inner)
    of_route = np.repeat(np.arange(len(routes)), np.diff(routes.starts) - 1)
    return routes.entries[places].astype(np.int64), routes.entries[places + 1].astype(np.int64), of_route


def links_of_routes(topology: Topology, routes: Rows) -> Rows:
    """Return the numbers of the links of each route.

    Raises:
        ValueError: a route crosses no link.
    """
    sources, targets, _ = hops_of(routes)
    starts = routes.starts - np.arange(len(routes) + 1, dtype=routes.starts.dtype)
    return Rows(starts, link_numbers(topology, sources, targets))


def link_numbers(topology: Topology, sources: IntArray, targets: IntArray) -> npt.NDArray[np.int64]:
    """Return the number of the link from each source to its target.

    Raises:
        ValueError: a link does not exist.
    """
    nodes = len(topology.nodes)
    tails, heads = (np.array(ends, dtype=np.int64) for ends in topology.link_ends)
    codes = tails * nodes + heads  # rising, as links are sorted
    wanted = sources.astype(np.int64) * nodes + targets
    found = np.searchsorted(codes, wanted)
    if len(wanted) and (found.max() >= len(codes) or not np.array_equal(codes[found], wanted)):
        raise ValueError("a transfer crosses no link")
    return found
