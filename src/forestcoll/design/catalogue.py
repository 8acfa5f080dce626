"""The base networks: all known ones of a size and a degree, with the costs of their allgathers (Tables 8 and 9).

Families with a proof have their costs by formula, and tests compare each formula with the count of `measure`. The costs
of generalized Kautz graphs, de Bruijn graphs and twisted tori are counted. The costs of Cayley graphs are read from a
table that `benchmarks/cayley_search.py` made.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import isqrt

from forestcoll.design.bases import base_wiring
from forestcoll.design.breadth_first import breadth_first_cost_of
from forestcoll.design.constructions import Base
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor
from forestcoll.topology.families.cayley import Metacyclic
from forestcoll.topology.families.distance_regular import GRAPHS

_DISTANCE_REGULAR_STEPS = dict(zip(GRAPHS, (2, 2, 3, 3, 3, 4, 3, 3, 4, 3, 4, 7, 4, 6, 6), strict=True))
_MODIFIED_STEPS = {(2, 3): 4, (2, 4): 5, (3, 2): 3, (4, 2): 3}
_LARGEST_TWISTED_TORUS = 1024
_MOST_ARCS_SCHEDULED = 2**15
"""The maximum number of arcs of a base whose degree is too large for counting: its schedule is made to get the cost."""


@cache
def bases(nodes: int, degree: int, *, published_only: bool = False, for_products: bool = False) -> tuple[Base, ...]:
    """Return the base networks of this size and degree. The networks of the paper come first.

    Args:
        nodes: N, 2 or more.
        degree: d, 1 or more.
        published_only: leave out networks that are not in the paper, which are the Cayley graphs.
        for_products: leave out families that are never bandwidth-optimal. This saves the time to count their costs.
    """
    families = _OPTIMAL if for_products else (*_OPTIMAL, _de_bruijn, _generalized_kautz)
    if not published_only:
        families = (*families, _cayley)
    return tuple(base for family in families for base in family(nodes, degree))


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
) -> Base:
    return Base(name, nodes, degree, cost, bidirectional, breadth_first, simple, spec)


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
        root = isqrt(2 * nodes - 2)  # m = ceil((-1 + sqrt(2n-1)) / 2)
        least = next(m for m in range(max(root // 2 - 1, 0), nodes) if (2 * m + 1) ** 2 >= 2 * nodes - 1)
        spec = f"circulant:nodes={nodes},offsets={least}+{least + 1}"
        name = f"C({nodes},{{{least},{least + 1}}})"
        yield _base(name, spec, nodes, degree, _best(least, nodes), bidirectional=True, simple=True)


def _bidirectional_ring(nodes: int, degree: int) -> Iterator[Base]:
    if degree % 2 == 0 and nodes > 2:
        parallel = degree // 2
        spec = f"ring:nodes={nodes}" + f",parallel={parallel}" * (parallel > 1)
        cost = _best(nodes // 2, nodes)
        yield _base(f"BiRing({degree},{nodes})", spec, nodes, degree, cost, bidirectional=True, simple=parallel == 1)


def _one_way_ring(nodes: int, degree: int) -> Iterator[Base]:
    spec = f"ring:nodes={nodes}" + ",one_way=true" * (nodes > 2) + f",parallel={degree}" * (degree > 1)
    cost = _best(nodes - 1, nodes)
    yield _base(f"UniRing({degree},{nodes})", spec, nodes, degree, cost, bidirectional=nodes == 2, simple=degree == 1)


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
    if degree <= MAX_DEGREE or nodes * degree <= _MOST_ARCS_SCHEDULED:
        wiring = base_wiring(spec)
        cost = breadth_first_cost_of(wiring)
        yield _base(name, spec, nodes, degree, cost, bidirectional=wiring.is_bidirectional, simple=wiring.is_simple)


def _de_bruijn(nodes: int, degree: int) -> Iterator[Base]:
    length = 2
    while degree > 1 and degree**length < nodes:
        length += 1
    if degree > 1 and degree**length == nodes:
        yield from _counted(f"DBJ({degree},{length})", f"de-bruijn:degree={degree},length={length}", nodes, degree)


def _generalized_kautz(nodes: int, degree: int) -> Iterator[Base]:
    if degree > 1 and nodes > degree + 1:
        spec = f"generalized-kautz:degree={degree},nodes={nodes}"
        yield from _counted(f"Π({degree},{nodes})", spec, nodes, degree)


def _twisted_torus(nodes: int, degree: int) -> Iterator[Base]:
    for dimensions in (2, 3):
        short = round((nodes / 2) ** (1 / dimensions))
        if degree != 2 * dimensions or 2 * short**dimensions != nodes or short < 3 or nodes > _LARGEST_TWISTED_TORUS:
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


_OPTIMAL: tuple[Callable[[int, int], Iterator[Base]], ...] = (
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
