"""The base networks: all known ones of a size and a degree, with the costs of their allgathers (Tables 8 and 9).

Families with a proof have their costs by formula, and tests compare each formula with the count of `measure`. The costs
of generalized Kautz graphs, de Bruijn graphs, twisted tori and circulants with repeated offsets are counted. The costs
of Cayley graphs are read from a table that `evidence/cayley_search.py` made.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import isqrt

import numpy as np

from forestcoll.design.bases import base_wiring
from forestcoll.design.breadth_first import breadth_first_cost_of
from forestcoll.design.constructions import Base
from forestcoll.design.kautz_cost import de_bruijn_cost, kautz_cost
from forestcoll.design.measure import Cost, cayley_cost, least_factor, moore_steps
from forestcoll.topology.families.cayley import Metacyclic
from forestcoll.topology.families.distance_regular import GRAPHS

_DISTANCE_REGULAR_STEPS = dict(zip(GRAPHS, (2, 2, 3, 3, 3, 4, 3, 3, 4, 3, 4, 7, 4, 6, 6), strict=True))
_MODIFIED_STEPS = {(2, 3): 4, (2, 4): 5, (3, 2): 3, (4, 2): 3}
_LARGEST_TWISTED_TORUS = 1024


@cache
def bases(nodes: int, degree: int, *, published_only: bool = False, for_products: bool = False) -> tuple[Base, ...]:
    """Return the base networks of this size and degree, without the generalized Kautz graph (`kautz`).

    The networks of the paper come first.

    Args:
        nodes: N, 2 or more.
        degree: d, 1 or more.
        published_only: leave out networks that are not in the paper: the Cayley graphs, Moebius ladders, the Petersen
            graph, and circulants that repeat only some of their offsets.
        for_products: leave out families that are never simple and bandwidth-optimal. This saves the time to count
            their costs.
    """
    families = _SIMPLE_OPTIMAL if for_products else (*_SIMPLE_OPTIMAL, *_WITH_PARALLEL_LINKS, _de_bruijn)
    if not published_only:
        families = (*families, *_UNPUBLISHED) if for_products else (*families, *_UNPUBLISHED, _repeated_circulant)
    return tuple(base for family in families for base in family(nodes, degree))


@cache
def kautz(nodes: int, degree: int) -> Base | None:
    """Return the generalized Kautz graph Π(degree, nodes), or None if the size is too small."""
    if degree < 2 or nodes < degree + 2:
        return None
    spec = f"generalized-kautz:degree={degree},nodes={nodes}"
    has_loops = _kautz_has_loops(nodes, degree)
    return _base(
        f"Π({degree},{nodes})",
        spec,
        nodes,
        degree,
        kautz_cost(nodes, degree),
        bidirectional=may_be_bidirectional(nodes, degree) and base_wiring(spec).is_bidirectional,
        simple=not has_loops,  # the targets of a node are consecutive, so no arcs are parallel
        loops=has_loops,
    )


def kautz_bound(nodes: int, degree: int) -> Cost:
    """Return a lower bound on the cost of Π(degree, nodes), of degree 2 or more, without counting.

    If the graph has a loop, d-1 links bring all shards to the node of the loop.
    """
    links = degree - _kautz_has_loops(nodes, degree)
    return Cost(moore_steps(nodes, degree), least_factor(nodes) * Fraction(degree, links))


def _kautz_has_loops(nodes: int, degree: int) -> bool:
    return nodes % (degree + 1) != 0


def may_be_bidirectional(nodes: int, degree: int) -> bool:
    """Return whether Π(degree, nodes) may be bidirectional, which is possible only with fewer than 2d nodes.

    Node 0 has a link to node -2, whose links lead to the nodes 2d-1 to d. One of them must be node 0, modulo N.
    """
    return nodes < 2 * degree


def _base(  # noqa: PLR0913 (one argument per field)
    name: str,
    spec: str,
    nodes: int,
    degree: int,
    cost: Cost,
    *,
    bidirectional: bool,
    breadth_first: bool = True,
    simple: bool = True,
    loops: bool = False,
    branches: bool | None = None,
) -> Base:
    two_targets = degree > 1 if branches is None else branches
    return Base(name, nodes, degree, cost, bidirectional, breadth_first, simple, loops, two_targets, spec)


def _best(steps: int, nodes: int) -> Cost:
    return Cost(steps, least_factor(nodes))


def _complete(nodes: int, degree: int) -> Iterator[Base]:
    if nodes == degree + 1:
        yield _base(f"K({nodes})", f"complete:nodes={nodes}", nodes, degree, _best(1, nodes), bidirectional=True)


def _complete_bipartite(nodes: int, degree: int) -> Iterator[Base]:
    if nodes == 2 * degree and degree > 1:
        spec = f"complete-bipartite:left={degree},right={degree}"
        yield _base(f"K({degree},{degree})", spec, nodes, degree, _best(2, nodes), bidirectional=True)


def _hamming(nodes: int, degree: int) -> Iterator[Base]:
    for dim in range(2, degree + 1):
        base = degree // dim + 1
        if degree % dim == 0 and base**dim == nodes:
            spec = f"hamming:dim={dim},base={base}"
            yield _base(f"H({dim},{base})", spec, nodes, degree, _best(dim, nodes), bidirectional=True)


def _directed_circulant(nodes: int, degree: int) -> Iterator[Base]:
    if nodes == degree + 2 and degree > 1:
        spec = f"directed-circulant:degree={degree}"
        yield _base(f"DirCirculant({degree})", spec, nodes, degree, _best(2, nodes), bidirectional=False)


def _circulant(nodes: int, degree: int) -> Iterator[Base]:
    """Yield the circulant of degree 4 with the least diameter (Theorem 22). All circulants of degree 4 are optimal."""
    if degree == 4 and nodes > 6:
        least = _least_diameter(nodes)
        spec = f"circulant:nodes={nodes},offsets={least}+{least + 1}"
        name = f"C({nodes},{{{least},{least + 1}}})"
        yield _base(name, spec, nodes, degree, _best(least, nodes), bidirectional=True, simple=True)


def _least_diameter(nodes: int) -> int:
    """Return m = ceil((-1 + sqrt(2n-1)) / 2), the diameter of C(n, {m, m+1}) (Theorem 22)."""
    root = isqrt(2 * nodes - 2)
    return next(m for m in range(max(root // 2 - 1, 0), nodes) if (2 * m + 1) ** 2 >= 2 * nodes - 1)


def _repeated_circulant(nodes: int, degree: int) -> Iterator[Base]:
    """Yield the circulant of least diameter whose four links per node are repeated as equally as the degree allows.

    If the degree is a multiple of 4, all links are repeated equally often. Then it is a network with parallel links.
    """
    if degree < 5 or degree % 4 == 0 or nodes <= 6:
        return
    least = _least_diameter(nodes)
    steps = (least, -least, least + 1, -least - 1)
    times, rest = divmod(degree, 4)
    counts = [times + (place < rest) for place in range(4)]
    numbers = np.arange(nodes)
    onward = np.array([(numbers + step) % nodes for step in steps])
    back = np.array([(numbers - step) % nodes for step in steps])
    cost = cayley_cost(onward, back, counts)
    if cost is None:
        return
    both_ways = rest == 2  # then the two directions of a link are repeated equally often
    named = {step % nodes: count for step, count in zip(steps, counts, strict=True)}
    offsets = sorted(offset for offset in named if not both_ways or offset <= nodes // 2)
    spec = f"circulant:nodes={nodes},offsets={_plus(offsets)},parallel={_plus(named[offset] for offset in offsets)}"
    listed = ",".join(str(offset) for offset in offsets for _ in range(named[offset]))
    name = f"{'Dir' * (not both_ways)}C({nodes},{{{listed}}})"
    spec += ",one_way=true" * (not both_ways)
    yield _base(name, spec, nodes, degree, cost, bidirectional=both_ways, simple=False)


def _plus(numbers: Iterable[int]) -> str:
    return "+".join(map(str, numbers))


def _moebius_ladder(nodes: int, degree: int) -> Iterator[Base]:
    """Yield the ring with a link between opposite nodes. Each step but the first and the last reaches four nodes.

    Nodes t and -t are reached over one link of the ring, and the nodes opposite to t-1 and 1-t over two links, one of
    which is the link to the opposite node. So the three links can share the four shards equally.
    """
    if degree == 3 and nodes % 2 == 0 and nodes > 6:
        half, cost = nodes // 2, _best(-(-nodes // 4), nodes)
        spec, name = f"circulant:nodes={nodes},offsets=1+{half}", f"C({nodes},{{1,{half}}})"
        yield _base(name, spec, nodes, degree, cost, bidirectional=True)


def _petersen(nodes: int, degree: int) -> Iterator[Base]:
    if (nodes, degree) == (10, 3):
        spec = "generalized-petersen:outer=5,step=2"
        yield _base("GP(5,2)", spec, nodes, degree, _best(2, nodes), bidirectional=True)


def _bidirectional_ring(nodes: int, degree: int) -> Iterator[Base]:
    if degree == 2 and nodes > 2:
        yield _base(f"BiRing(2,{nodes})", f"ring:nodes={nodes}", nodes, 2, _best(nodes // 2, nodes), bidirectional=True)


def _one_way_ring(nodes: int, degree: int) -> Iterator[Base]:
    if degree == 1:
        spec = f"ring:nodes={nodes}" + ",one_way=true" * (nodes > 2)
        yield _base(f"UniRing(1,{nodes})", spec, nodes, 1, _best(nodes - 1, nodes), bidirectional=nodes == 2)


def _wide_bidirectional_ring(nodes: int, degree: int) -> Iterator[Base]:
    if degree % 2 == 0 and degree > 2 and nodes > 2:
        spec, cost = f"ring:nodes={nodes},parallel={degree // 2}", _best(nodes // 2, nodes)
        yield _base(f"BiRing({degree},{nodes})", spec, nodes, degree, cost, bidirectional=True, simple=False)


def _wide_one_way_ring(nodes: int, degree: int) -> Iterator[Base]:
    if degree > 1:
        spec = f"ring:nodes={nodes}" + ",one_way=true" * (nodes > 2) + f",parallel={degree}"
        name, cost = f"UniRing({degree},{nodes})", _best(nodes - 1, nodes)
        yield _base(name, spec, nodes, degree, cost, bidirectional=nodes == 2, simple=False, branches=False)


def _diamond(nodes: int, degree: int) -> Iterator[Base]:
    if (nodes, degree) == (8, 2):
        yield _base("Diamond", "diamond", 8, 2, _best(3, 8), bidirectional=False, breadth_first=False)


def _modified_de_bruijn(nodes: int, degree: int) -> Iterator[Base]:
    for (digits, length), steps in _MODIFIED_STEPS.items():
        if digits == degree and digits**length == nodes:
            spec, name = f"modified-de-bruijn:degree={digits},length={length}", f"DBJMod({digits},{length})"
            yield _base(name, spec, nodes, degree, _best(steps, nodes), bidirectional=False, breadth_first=False)


def _distance_regular(nodes: int, degree: int) -> Iterator[Base]:
    if degree == 4 and nodes in GRAPHS:
        cost = _best(_DISTANCE_REGULAR_STEPS[nodes], nodes)
        yield _base(f"DistReg(4,{nodes})", f"distance-regular:nodes={nodes}", nodes, 4, cost, bidirectional=True)


def _counted(name: str, spec: str, nodes: int, degree: int) -> Iterator[Base]:
    wiring = base_wiring(spec)
    cost = breadth_first_cost_of(wiring)
    yield _base(name, spec, nodes, degree, cost, bidirectional=wiring.is_bidirectional, simple=wiring.is_simple)


def _de_bruijn(nodes: int, degree: int) -> Iterator[Base]:
    length = 2
    while degree > 1 and degree**length < nodes:
        length += 1
    if degree > 1 and degree**length == nodes:
        spec, cost = f"de-bruijn:degree={degree},length={length}", de_bruijn_cost(length, degree)
        name = f"DBJ({degree},{length})"
        yield _base(name, spec, nodes, degree, cost, bidirectional=False, simple=False, loops=True)


def _twisted_torus(nodes: int, degree: int) -> Iterator[Base]:
    for dimensions in (2, 3):
        if degree != 2 * dimensions or nodes > _LARGEST_TWISTED_TORUS:
            continue
        short = round((nodes / 2) ** (1 / dimensions))
        if 2 * short**dimensions != nodes or short < 3:
            continue
        dims = "x".join(map(str, (*[short] * (dimensions - 1), 2 * short)))
        yield from _counted(f"TwistedTorus({dims.replace('x', ',')})", f"twisted-torus:dims={dims}", nodes, degree)


def _twisted_hypercube(nodes: int, degree: int) -> Iterator[Base]:
    if degree > 2 and nodes == 2**degree and nodes <= _LARGEST_TWISTED_TORUS:
        yield from _counted(f"TwistedHypercube({degree})", f"twisted-hypercube:dim={degree}", nodes, degree)


def _cayley(nodes: int, degree: int) -> Iterator[Base]:
    for line in _cayley_table(degree).get(nodes, ()):
        _, outer, inner, ratio, generators, steps, factor = line.split()
        spec = f"cayley:outer={outer},inner={inner},ratio={ratio},generators={generators}"
        group, listed = Metacyclic(int(outer), int(inner), int(ratio)), set(map(int, generators.split("+")))
        bidirectional = {group.inverse(generator) for generator in listed} == listed
        name = f"{'Bi' * bidirectional}Cayley({degree},{nodes})"
        yield _base(name, spec, nodes, degree, Cost(int(steps), Fraction(factor)), bidirectional=bidirectional)


@cache
def _cayley_table(degree: int) -> dict[int, tuple[str, ...]]:
    """Return the lines of the table of this degree, by number of nodes. The result is empty if there is no table."""
    file = files("forestcoll.design.tables") / f"cayley-{degree}.txt"
    if not file.is_file():
        return {}
    found: dict[int, tuple[str, ...]] = {}
    for line in file.read_text(encoding="ascii").splitlines():
        if not line.startswith("#"):
            nodes = int(line.split()[0])
            found[nodes] = (*found.get(nodes, ()), line)
    return found


_Family = Callable[[int, int], Iterator[Base]]
_SIMPLE_OPTIMAL: tuple[_Family, ...] = (
    _complete,
    _complete_bipartite,
    _hamming,
    _directed_circulant,
    _diamond,
    _modified_de_bruijn,
    _distance_regular,
    _circulant,
    _bidirectional_ring,
    _one_way_ring,
    _twisted_torus,
    _twisted_hypercube,
)
_WITH_PARALLEL_LINKS: tuple[_Family, ...] = (_wide_bidirectional_ring, _wide_one_way_ring)
_UNPUBLISHED: tuple[_Family, ...] = (_moebius_ladder, _petersen, _cayley)
"""Simple networks with the least T_B, and Cayley graphs, that are not in the paper."""
