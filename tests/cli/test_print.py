"""`print` shows what the command prints, `repr` is one line, and notebooks show every result."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_run import run_command

import forestcoll as fc
from forestcoll.base.display import Displayed
from forestcoll.comparison.nccl_tuning import nccl_tuning
from forestcoll.demand.collective import PhaseOp
from forestcoll.design import TopologyFinder
from forestcoll.design.workloads.job import Job, best_networks
from forestcoll.design.workloads.samples import profile_of
from forestcoll.measurement import MeasuredTimes
from forestcoll.nccl.job.explained import explain_job
from forestcoll.nccl.order.rank_order import rank_order
from forestcoll.oneport import compare_series
from forestcoll.presentation import html
from forestcoll.programs import judge_file
from forestcoll.schedule.proof import CutProof, PartitionProof, Proof, ReceiptProof
from forestcoll.schedule.proof.documents import KINDS
from forestcoll.schedule.proof.lengths.link_lengths import LinkLengths
from forestcoll.schedule.proof.prices import Port, PortKind, PricesProof
from forestcoll.schedule.proof.tree_dual import TreeDualProof, WeightedCut
from forestcoll.solver import layout_table
from forestcoll.topology import import_topology
from forestcoll.what_if.failover import write_failover

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"
JOB = LOG.with_name("nccl-job.log")
GROUPS = fc.Groups("0,1;1,2")


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> list[Displayed]:
    """Return a result of each kind."""
    folder = tmp_path_factory.mktemp("printed")
    network = fc.load_topology("ring:nodes=3")
    demands = (fc.Demand(), "all-to-all", GROUPS)
    schedules = [fc.generate(network, demand) for demand in demands]
    schedules += [fc.generate(network, method="bfb"), compare_series(network, 0).schedule()]
    program = fc.export(schedules[0], "msccl-xml")
    program.write(folder / "p.xml")
    fc.topology.write_network(network, folder / "ring.graphml")
    sizes = [2**20, 2**24, 2**27]
    seconds = tuple(point.seconds for point in fc.simulate(schedules[0], sizes))
    optima = [fc.optimum(network, demand) for demand in demands]
    job = explain_job(JOB, None)
    assert job is not None
    return [
        network,
        program,
        *schedules,
        *map(fc.verify, schedules),
        *optima,
        *(each.bound for each in optima),
        *(each.bound.proof for each in optima),
        judge_file(folder / "p.xml"),
        import_topology(folder / "ring.graphml"),
        fc.bounds(network),
        fc.compare(network, baselines=["bruck"]),
        fc.failures(network),
        fc.upgrades(network),
        fc.tune(network, sizes=[2**20]),
        fc.view(schedules[0]),
        fc.view(network),
        fc.find_topologies(8, 3),
        fc.step_frontier(network),
        best_networks(Job(profile_of("gpt2-small").on(4)), TopologyFinder(), 4, 2),
        fc.explain("dgx-a100:boxes=2", LOG),
        fc.fit_costs([MeasuredTimes("trees", schedules[0], tuple(sizes), seconds)]),
        layout_table("ring:nodes=4", fc.Groups("tp=2,dp=2", "allreduce")),
        write_failover(network, folder / "failover"),
        job,
        nccl_tuning("dgx-h100:boxes=4", "allreduce", [2**20]),
        rank_order("ring:nodes=4"),
    ]


def test_there_is_a_result_of_each_kind(values: list[Displayed]) -> None:
    found = {f"{kind.__module__}.{kind.__qualname__}" for value in values for kind in type(value).__mro__}
    assert html._PAGES.keys() <= found


def test_every_result_is_printed_as_a_page_and_shown_in_a_notebook(values: list[Displayed]) -> None:
    for value in values:
        first, *others = str(value).splitlines()
        assert first != "", type(value)
        assert others, type(value)
        assert value._repr_html_().startswith('<div class="forestcoll"')


def test_the_representation_of_every_result_is_one_short_line(values: list[Displayed]) -> None:
    for value in values:
        assert len(repr(value)) < 200, type(value)
        assert "\n" not in repr(value)
        assert type(value).__name__ in repr(value)


def test_the_rows_of_every_result_are_dictionaries_for_a_table(values: list[Displayed]) -> None:
    for value in values:
        rows = value.records()
        assert len({tuple(row) for row in rows}) == 1, type(value)
        json.dumps(rows)


def test_the_rows_of_a_result_have_exact_values_as_floats() -> None:
    rows = fc.bounds("ring:nodes=3").records()
    assert {row["collective"]: row["upper_algbw"] for row in rows}["allreduce"] == 1.5
    assert fc.optimum("ring:nodes=4").records()[0]["algbw"] == 8 / 3
    assert fc.explain("dgx-a100:boxes=2", LOG).records()[0]["size"] == 2**20


def test_a_notebook_shows_the_picture_of_a_view() -> None:
    assert "<svg" in fc.view("ring:nodes=3")._repr_html_()


PROOFS: tuple[tuple[Proof, str], ...] = (
    (CutProof((0, 1)), "a set of 2 nodes"),
    (ReceiptProof(), "all data 2(N - 1) times"),
    (PartitionProof(((0,), (1,), (2,))), "divided into 3 parts"),
    (TreeDualProof((WeightedCut(PhaseOp.BROADCAST, (0,), Fraction(1)),), {}), "the weights of 1 set of nodes"),
    (PricesProof(((Port(PortKind.SEND, 0), Fraction(2)),), ((Fraction(1), (1,)),)), "a unit of time costs 2"),
    *(
        (kind(((0, 1), (1, 0)), (1, 1)), "the lengths of 2 links")
        for kind in KINDS.values()
        if issubclass(kind, LinkLengths)
    ),
)


def test_every_kind_of_proof_says_itself_in_words() -> None:
    assert {proof.kind for proof, _ in PROOFS} == KINDS.keys()
    for proof, words in PROOFS:
        title, sentence = str(proof).splitlines()
        assert (
            title
            == f"proof of kind {proof.kind}, for {'schedules along trees' if proof.trees_only else 'all schedules'}"
        )
        assert words in sentence


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("optimum torus:dims=3x3", lambda: fc.optimum("torus:dims=3x3")),
        ("optimum torus:dims=3x3 --all", lambda: fc.bounds("torus:dims=3x3")),
        ("compare ring:nodes=4 --baselines bruck", lambda: fc.compare("ring:nodes=4", baselines=["bruck"])),
        ("what-if ring:nodes=4 --upgrade", lambda: fc.upgrades("ring:nodes=4")),
    ],
)
def test_print_shows_what_the_command_prints(line: str, value: object) -> None:
    assert callable(value)
    assert run_command(*line.split()).out == f"{value()}\n"
