"""The row `nccl (best setting)` of a comparison, and NCCL's settings with their schedules."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll import compare, verify
from forestcoll.algorithms.baseline import AS_CHOSEN, BEST_SETTING, title_of
from forestcoll.algorithms.generate import problem_of
from forestcoll.comparison.value import Comparison, Row
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.choice.table import Entry, Key, Table
from forestcoll.nccl.graph.hosts import host_graphs
from forestcoll.nccl.settings import nccl_algbw, proof_of, settings
from forestcoll.topology import Topology
from forestcoll.topology.registry import load_topology
from shuffled_hosts import shuffled

SIZES = (2**20, 2**24, 2**27, 2**30)
FOUR = "dgx-h100:boxes=4"
KEYS = [Key(Collective.ALLREDUCE, algorithm, "SIMPLE") for algorithm in ("RING", "TREE")]
MESH = Table("2.32.3", "a test", 80, hosts=1, ranks=4, channels=24, entries=dict.fromkeys(KEYS, Entry(20, 100, 0)))
"""A table of four A100 on a board, which offers rings and trees."""


def best_of(topology: str | Topology, collective: str) -> tuple[Comparison, Row]:
    found = compare(topology, collective, sizes=SIZES, baselines=["nccl-ring", "nccl-tree", AS_CHOSEN, BEST_SETTING])
    return found, found.row(BEST_SETTING)


def test_no_setting_is_slower_than_what_nccl_chooses() -> None:
    found, best = best_of(FOUR, "allreduce")
    chosen = found.row(AS_CHOSEN)
    assert best.algbw == chosen.algbw
    for mine, its in zip(best.times, chosen.times, strict=True):
        assert mine.seconds <= its.seconds
    assert best.times[3].seconds < chosen.times[3].seconds
    assert [each.algorithm for each in best.choices] == ["TREE"] * 4
    assert set(best.settings) == {'NCCL_ALGO="allreduce:tree;allgather:ring"'}
    assert best.reason.endswith('NCCL_ALGO="allreduce:ring": no rings are faster for large data')
    assert [(each.protocol, each.channels) for each in best.choices] == [
        ("LL128", 16),
        ("LL128", 16),
        ("SIMPLE", 16),
        ("SIMPLE", 16),
    ]


def test_a_better_order_of_hosts_is_a_setting() -> None:
    found, best = best_of(shuffled("cluster:box=dgx-a100,boxes=8,boxes_per_leaf=2,oversubscription=4", 3), "allgather")
    assert set(best.settings) == {'NCCL_ALGO="allgather:ring", hosts as rank-order says'}
    assert best.algbw == 2 * found.row(AS_CHOSEN).algbw
    assert best.schedule is not None
    assert verify(best.schedule).fault is None


def test_chains_of_our_graph_file_are_a_setting_of_a_damaged_host() -> None:
    mesh = load_topology("hgx-a100-4:boxes=1").degraded("b0/gpu0--b0/gpu1", to="75")
    problem = problem_of(mesh, "allreduce")
    found = {(each.algorithm, each.channels is not None): each for each in settings(problem, MESH)}
    assert found["RING", False].algbw == Fraction(550, 3)
    assert found["TREE", True].algbw > found["RING", False].algbw
    assert found["TREE", True].text == (
        'NCCL_ALGO="allreduce:tree;allgather:ring", NCCL_GRAPH_FILE of export --to nccl-graph'
    )
    assert proof_of(problem, found["TREE", True], Fraction(575, 3)) == "the bound is reached for large data"
    assert proof_of(problem, found["RING", False], Fraction(575, 3)) == "no rings are faster for large data"
    assert proof_of(problem, found["RING", True], Fraction(575, 3)) in {
        "no rings are faster for large data",
        "found by search",
    }


def test_the_graph_that_nccl_finds_is_that_of_its_own_schedule() -> None:
    mesh = load_topology("hgx-a100-4:boxes=1")
    [host] = host_graphs(mesh)
    first, others = host.text.split("</channel>")[0] + "</channel>", host.text.count("<channel>")
    one = first.replace(f'nchannels="{others}"', 'nchannels="1"') + "\n  </graph>\n</graphs>\n"
    found = {each.channels: each for each in settings(problem_of(mesh, "allreduce"), replace(MESH, graphs=(one,)))}
    assert found[None].algbw == Fraction(100 * 4, 2 * 3)  # one ring over links of 100 GB/s
    assert found[None].made.note == "with the graph that NCCL finds"
    assert found[2 * others].algbw == 200


@pytest.mark.parametrize("spec", ["dgx-h100:boxes=2,nvls=true", "dgx-h100:boxes=1,nvls=true", FOUR, "mi250:boxes=2"])
def test_settings_never_have_a_bare_tree_and_are_all_verified(spec: str) -> None:
    for collective in ("allreduce", "allgather", "reduce-scatter"):
        for each in settings(problem_of(spec, collective)):
            assert verify(each.made.schedule).fault is None
            assert each.text.startswith(f'NCCL_ALGO="{collective.replace("-", "")}:')
            if each.algorithm != "RING" and collective == "allreduce":
                assert ";allgather:ring" in each.text


def test_pat_is_offered_for_one_gpu_a_host() -> None:
    one = load_topology("dgx-h100:boxes=4").without(*(f"b{box}/gpu{gpu}" for box in range(4) for gpu in range(1, 8)))
    assert [each.algorithm for each in settings(problem_of(one, "allgather"))][:2] == ["RING", "PAT"]
    assert "PAT" not in [each.algorithm for each in settings(problem_of(FOUR, "allgather"))]


def test_a_dead_nic_on_four_h100_hosts_costs_nccls_rings_an_eighth() -> None:
    whole = load_topology(FOUR)
    damaged = whole.without("b0/gpu0--ib")
    for collective in (Collective.ALLREDUCE, Collective.ALLGATHER):
        before, after = (nccl_algbw(each, NodeDemand(collective), "RING").algbw for each in (whole, damaged))
        assert before is not None
        assert after is not None
        assert 1 - after / before == Fraction(1, 8)


def test_without_a_table_the_row_is_missing_with_the_reason() -> None:
    found = compare("mi300x:boxes=1", sizes=(), baselines=[AS_CHOSEN, BEST_SETTING])
    assert [each.name for each in found.skipped] == [AS_CHOSEN, BEST_SETTING]
    assert len({each.reason for each in found.skipped}) == 1


def test_without_sizes_the_row_is_for_large_data() -> None:
    row = compare(FOUR, "allreduce", sizes=(), baselines=[BEST_SETTING]).row(BEST_SETTING)
    assert (row.times, row.choices, row.settings) == ((), (), ())
    assert title_of(BEST_SETTING) == "NCCL's best setting"
