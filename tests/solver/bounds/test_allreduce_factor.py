"""The factor between the cut-set bound and trees: stored networks, and the table of the benchmark."""

import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from allreduce_factor import SMALL, file_name, tally_of
from forestcoll.presentation.results.schedules.bounds import bounds_page
from forestcoll.solver.bounds.table import bounds_of
from forestcoll.solver.optimum import optimum
from forestcoll.topology import TopologyBuilder, read_topology

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples" / "allreduce-rate"
PAGE = (ROOT / "docs" / "allreduce-rate.md").read_text()
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
    assert bounds_of(topology).allreduce_rate.cut_set_upper.algbw / best.algbw == 2 - Fraction(2, ranks)


@pytest.mark.parametrize("name", OTHERS)
def test_other_stored_networks_have_the_stated_rates(name: str) -> None:
    topology = read_topology(FOLDER / f"{name}.json")
    best = optimum(topology, "allreduce")
    assert best.is_optimal
    assert (bounds_of(topology).allreduce_rate.cut_set_upper.algbw, best.algbw) == OTHERS[name]


@pytest.mark.parametrize("name", FAST)
def test_the_document_shows_the_rows_of_the_benchmark(name: str) -> None:
    row = tally_of(KINDS[name].networks()).row(name)
    assert row in PAGE.splitlines()


SHOWN = re.findall(r"^forestcoll bounds ([^\n]*)\n```\n\n```text\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("spec", "shown"), SHOWN)
def test_the_document_shows_rows_of_the_command(spec: str, shown: str) -> None:
    assert set(shown.splitlines()) <= set(bounds_page(bounds_of(spec)).lines())


@pytest.mark.parametrize(
    ("name", "networks"),
    [("full duplex, 6 nodes, links of 1", 112), ("one way, 4 nodes, links of 1", 83)],
)
def test_the_numbers_of_networks_are_known(name: str, networks: int) -> None:
    """Sequences A001349 (connected graphs) and A035512 (strongly connected digraphs) of the OEIS."""
    assert sum(1 for _ in KINDS[name].networks()) == networks


def test_each_tree_of_a_combination_network_needs_all_relays_but_one() -> None:
    """Four relays and a rank for each pair of them: the cut is 2, and each tree needs three of the four relays."""
    builder = TopologyBuilder("combination network")
    builder.add_compute("s")
    for relay in range(4):
        builder.add_switch(relay, multicast=True, aggregation=True)
        builder.add_link("s", relay, 1)
    for pair in combinations(range(4), 2):
        rank = builder.add_compute(str(pair))
        builder.add_link(rank, "s", 2)
        for relay in pair:
            builder.add_link(relay, rank, 1)
    topology = builder.build()
    best = optimum(topology, "allreduce")
    assert best.is_optimal
    assert (bounds_of(topology).allreduce_rate.cut_set_upper.algbw, best.algbw) == (Fraction(2), Fraction(4, 3))
