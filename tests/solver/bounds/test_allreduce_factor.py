"""The factor between the cut-set bound and trees: stored networks, and the table of the benchmark."""

import re
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import pytest

from allreduce_factor import SMALL, file_name, tally_of
from forestcoll.algorithms.generate import optimum
from forestcoll.presentation.results.schedules.bounds import bounds_page
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.bounds.cut_edge import cut_edge
from forestcoll.solver.bounds.table import bounds
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.topology import Topology, read_topology
from networks import linked
from tree_programs import all_trees

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "allreduce-rate"
PAGE = (ROOT / "docs" / "evidence" / "allreduce-proofs.md").read_text()
KINDS = {kind.name: kind for kind in SMALL}
OTHERS = {
    "butterfly": (Fraction(2), Fraction(3, 2)),
    "fano": (Fraction(4), Fraction(7, 2)),
    "two-cut-edges": (Fraction(12), Fraction(12)),
}
"""The cut-set bound and the optimum along trees of networks that no enumeration found."""

FAST = (
    "full duplex, 3 nodes, links of 1 to 3",
    "full duplex, 4 nodes, links of 1 or 2",
    "full duplex, 6 nodes, links of 1",
    "one way, 4 nodes, links of 1",
)


def test_every_stored_network_has_a_test() -> None:
    names = {file_name(kind) for kind in KINDS if not kind.startswith("one way, 2 ranks")}
    assert {path.name for path in FOLDER.iterdir()} == names | {f"{name}.json" for name in OTHERS}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("one way, 2 ranks")])
def test_a_stored_network_reaches_the_greatest_factor(kind: str) -> None:
    topology = read_topology(FOLDER / file_name(kind))
    ranks = len(topology.compute)
    assert (ranks, len(topology.switches)) == (KINDS[kind].nodes - KINDS[kind].relays, KINDS[kind].relays)
    best = optimum(topology, "allreduce")
    assert best.is_optimal
    assert bounds(topology).allreduce_rate.cut_set_upper.algbw / best.algbw == 2 - Fraction(2, ranks)


@pytest.mark.parametrize("name", OTHERS)
def test_other_stored_networks_have_the_stated_rates(name: str) -> None:
    topology = read_topology(FOLDER / f"{name}.json")
    best = optimum(topology, "allreduce")
    assert best.is_optimal
    assert (bounds(topology).allreduce_rate.cut_set_upper.algbw, best.algbw) == OTHERS[name]


@pytest.mark.parametrize("name", FAST)
def test_the_document_shows_the_rows_of_the_benchmark(name: str) -> None:
    row = tally_of(KINDS[name].networks()).row(name)
    assert row in PAGE.splitlines()


SHOWN = re.findall(r"^forestcoll optimum ([^\n]*) --all\n```\n\n```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("spec", "shown"), SHOWN)
def test_the_document_shows_rows_of_the_command(spec: str, shown: str) -> None:
    assert set(shown.splitlines()) <= set(bounds_page(bounds(spec)).lines())


@pytest.mark.parametrize(
    ("name", "networks"),
    [("full duplex, 6 nodes, links of 1", 112), ("one way, 4 nodes, links of 1", 83)],
)
def test_the_numbers_of_networks_are_known(name: str, networks: int) -> None:
    """Sequences A001349 (connected graphs) and A035512 (strongly connected digraphs) of the OEIS."""
    assert sum(1 for _ in KINDS[name].networks()) == networks


def test_each_tree_of_a_combination_network_needs_all_relays_but_one() -> None:
    """Four relays and a rank for each pair of them: the cut is 2, and each tree needs three of the four relays."""
    pairs = list(combinations("abcd", 2))
    links = [*(f"s>{relay}" for relay in "abcd"), *(f"{a}{b}>s:2 {a}>{a}{b} {b}>{a}{b}" for a, b in pairs)]
    ranks = " ".join(["s", *(a + b for a, b in pairs)])
    topology = linked(ranks, " ".join(links), switches="a b c d", able=True)
    best = optimum(topology, "allreduce")
    assert best.is_optimal
    assert (bounds(topology).allreduce_rate.cut_set_upper.algbw, best.algbw) == (Fraction(2), Fraction(4, 3))


def uses_all_links(topology: Topology, rate: Fraction) -> bool:
    """Return whether pairs of trees with this rate together can use each link, by the program of Theorem 2."""
    compute = topology.compute
    pairs = [
        (*inward, *outward)
        for root in compute
        for inward, outward in product(*(list(all_trees(topology, [root], compute, out=out)) for out in (False, True)))
    ]
    least = len(pairs)  # the column of the least use of a link
    program = LinearProgram([0] * least + [1])
    for link in topology.links:
        ends = (link.source, link.target)
        uses = {column: pair.count(ends) for column, pair in enumerate(pairs) if ends in pair}
        program.add(Constraint(uses, None, int(link.bandwidth)))
        program.add(Constraint({**uses, least: -1}, 0, None))
    program.add(Constraint(dict.fromkeys(range(least), 1), int(rate), None))
    exact = program.exact(program.solve())
    assert exact is not None
    values, prices = exact
    assert program.proves(values, prices)
    return values[least] > 0


@pytest.mark.slow
def test_the_rate_along_trees_of_three_nodes_is_the_cut_or_a_quarter_of_all_bandwidth() -> None:
    members = 0
    for topology in KINDS["one way, 3 nodes, links of 1 to 3"].networks():
        found, cut = allreduce_optimum(topology), cut_set_bound(topology).algbw
        total = sum((link.bandwidth for link in topology.links), Fraction(0))
        assert found.exact
        assert found.upper == min(cut, total / 4)
        if found.upper == cut and cut_edge(topology, cut) is not None:
            members += 1
            assert uses_all_links(topology, cut)
    assert members == 362
