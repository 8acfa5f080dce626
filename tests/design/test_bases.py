"""Every row of Table 9, and the distance-regular graphs of Table 8: the catalogue's costs are compared with counts."""

from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

from forestcoll.design.bases import base_mirror, base_wiring
from forestcoll.design.constructions import Base
from forestcoll.design.measure import Cost, cayley_cost, least_factor, moore_steps
from forestcoll.design.realisation import schedule_of
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.wiring import Wiring, is_mirror
from forestcoll.topology.families.cayley import Cayley, Metacyclic
from forestcoll.topology.registry import recipe_of

SIZES = [(nodes, degree) for degree in range(1, 7) for nodes in range(2, 33)]
SIZES += [(nodes, 4) for nodes in (35, 45, 64, 70, 80, 98, 128, 189, 200)] + [(54, 6), (64, 6)]


def every_base() -> list[Base]:
    listed = [base for nodes, degree in SIZES for base in bases(nodes, degree)]
    return listed + [graph for nodes, degree in SIZES if (graph := kautz(nodes, degree)) is not None]


def named(name: str) -> Base:
    return next(base for base in every_base() if base.name == name)


def test_costs_by_formula_and_by_table_equal_counted_costs() -> None:
    for base in every_base():
        if "Ring" in base.name and base.nodes > 12:
            continue  # long rings are like short ones
        counted = base.wiring.breadth_first_cost()
        assert (base.wiring.nodes, base.wiring.degree) == (base.nodes, base.degree), base.name
        assert counted == base.cost or not base.is_breadth_first, base.name
        assert base.is_bidirectional == base.wiring.is_bidirectional, base.name
        assert base.is_simple == base.wiring.is_simple, base.name
        assert base.has_loops == base.wiring.has_loops, base.name
        assert base.branches == base.wiring.branches, base.name


TABLE_9 = [
    # name, nodes, degree, steps, properties
    ("K(5)", 5, 4, 1, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("K(4,4)", 8, 4, 2, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("H(2,3)", 9, 4, 2, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("H(3,3)", 27, 6, 3, "bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("Π(2,6)", 6, 2, 2, "moore-optimal breadth-first simple reverse-symmetric"),
    ("Π(4,20)", 20, 4, 2, "moore-optimal breadth-first simple reverse-symmetric"),
    ("Π(4,32)", 32, 4, 3, "moore-optimal breadth-first reverse-symmetric"),
    ("Π(4,31)", 31, 4, 3, "moore-optimal breadth-first"),
    ("C(16,{3,4})", 16, 4, 3, "bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("C(12,{2,3})", 12, 4, 2, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("DirCirculant(4)", 6, 4, 2, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("BiRing(2,9)", 9, 2, 4, "bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("BiRing(4,8)", 8, 4, 4, "bandwidth-optimal breadth-first reverse-symmetric"),
    ("UniRing(1,4)", 4, 1, 3, "moore-optimal bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("UniRing(3,5)", 5, 3, 4, "bandwidth-optimal breadth-first reverse-symmetric"),
    ("Diamond", 8, 2, 3, "moore-optimal bandwidth-optimal simple reverse-symmetric"),
    ("DBJ(2,3)", 8, 2, 3, "moore-optimal breadth-first reverse-symmetric"),
    ("DBJ(4,2)", 16, 4, 2, "moore-optimal breadth-first reverse-symmetric"),
    ("DBJMod(2,3)", 8, 2, 4, "bandwidth-optimal simple reverse-symmetric"),
    ("DBJMod(2,4)", 16, 2, 5, "bandwidth-optimal simple reverse-symmetric"),
    ("DBJMod(3,2)", 9, 3, 3, "bandwidth-optimal simple"),
    ("DBJMod(4,2)", 16, 4, 3, "bandwidth-optimal simple"),
    ("DistReg(4,32)", 32, 4, 4, "bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("TwistedTorus(4,8)", 32, 4, 4, "bandwidth-optimal breadth-first simple reverse-symmetric"),
    ("TwistedTorus(3,3,6)", 54, 6, 4, "bandwidth-optimal breadth-first simple reverse-symmetric"),
]


def test_the_rows_of_table_nine() -> None:
    for name, nodes, degree, steps, properties in TABLE_9:
        base = named(name)
        assert (base.nodes, base.degree, base.cost.steps) == (nodes, degree, steps), name
        mirror = base_mirror(base.spec, base.wiring)
        found = {
            "moore-optimal": base.is_moore_optimal,
            "bandwidth-optimal": base.is_bandwidth_optimal,
            "breadth-first": base.is_breadth_first,
            "simple": base.is_simple,
            "reverse-symmetric": mirror is not None,
        }
        assert {word for word, holds in found.items() if holds} == set(properties.split()), name
        assert mirror is None or is_mirror(base.wiring, mirror), name


def test_a_generalized_kautz_graph_is_near_the_moore_bound_and_within_twice_the_bandwidth() -> None:
    for degree in (2, 3, 4, 8):
        for nodes in range(degree + 2, 160, 3):
            base = kautz(nodes, degree)
            assert base is not None
            assert base.cost.steps <= moore_steps(nodes, degree) + 1, base.name
            assert base.cost.bandwidth_factor <= 2 * least_factor(nodes), base.name


@pytest.mark.parametrize("name", [base.name for base in every_base() if not base.is_breadth_first])
def test_a_schedule_found_by_search_is_correct_and_has_the_cost_of_the_catalogue(name: str) -> None:
    base = named(name)
    schedule_of(base)  # verifies, and compares the cost
    scatter = schedule_of(base, "reduce-scatter")
    assert scatter.steps == base.reduce_scatter_cost.steps


TABLES = {
    int(table.name.removeprefix("cayley-").removesuffix(".txt")): table.read_text().splitlines()
    for table in files("forestcoll.design.tables").iterdir()
    if table.name.startswith("cayley-")
}
"""The lines of each table of Cayley graphs, by degree."""


def table_lines(degree: int) -> list[str]:
    return [line for line in TABLES[degree] if not line.startswith("#")]


def cost_of_line(line: str, degree: int) -> Cost | None:
    nodes, outer, inner, ratio, generators, _, _ = line.split()
    group = Metacyclic(int(outer), int(inner), int(ratio))
    assert group.is_group
    assert group.order == int(nodes)
    listed = [int(generator) for generator in generators.split("+")]
    assert len(set(listed)) == degree
    elements = np.arange(group.order)
    onward = np.array([[group.product(int(x), g) for x in elements] for g in listed])
    back = np.array([[group.product(int(x), group.inverse(g)) for x in elements] for g in listed])
    cost = cayley_cost(onward, back)
    assert cayley_cost(back, onward) == cost, "the transpose has another cost"
    return cost


def test_small_cayley_graphs_of_the_tables_have_the_listed_costs() -> None:
    lines = [line for line in table_lines(4) if int(line.split()[0]) <= 60]
    assert len(lines) > 50
    for line in lines:
        steps, factor = line.split()[-2:]
        assert cost_of_line(line, 4) == Cost(int(steps), Fraction(factor)), line


@pytest.mark.slow
@pytest.mark.parametrize("degree", sorted(TABLES))
def test_every_cayley_graph_of_a_table_has_the_listed_cost(degree: int) -> None:
    for line in table_lines(degree):
        steps, factor = line.split()[-2:]
        assert cost_of_line(line, degree) == Cost(int(steps), Fraction(factor)), line


def test_wirings_have_the_arcs_of_the_recipe_with_parallel_ones_and_loops() -> None:
    assert base_wiring("ring:nodes=3,one_way=true,parallel=2").targets.tolist() == [[1, 1], [2, 2], [0, 0]]
    assert base_wiring("de-bruijn:degree=2,length=2").has_loops
    assert base_wiring("generalized-kautz:degree=4,nodes=5").is_simple
    for spec in ("cayley:outer=16,inner=2,ratio=7", "cayley:outer=7,inner=3,ratio=2,generators=1+4+8"):
        wiring, (_, recipe) = base_wiring(spec), recipe_of(spec)
        assert isinstance(recipe, Cayley)
        assert wiring.targets.tolist() == Wiring.of_arcs(recipe.order(), recipe.arcs()).targets.tolist()
