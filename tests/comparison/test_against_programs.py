"""Programs for runtimes as rows of a comparison: loads, values, times, faults and refusals."""

from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll import InputError, compare, export, generate, load_topology
from forestcoll.algorithms.method import Problem
from forestcoll.base.progress import SILENT
from forestcoll.comparison.against.files import ComparedFile, candidates
from forestcoll.comparison.against.program_runs import ProgramRun
from forestcoll.demand.demand import Demand
from networks import linked

TARGETS = ("msccl-xml", "mscclpp-json")


def exported(folder: Path, topology: str, collective: str, target: str) -> Path:
    file = folder / ("program.xml" if target == "msccl-xml" else "plan.json")
    export(generate(topology, collective), target).write(file)
    return file


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("topology", "collective"),
    [("dgx-a100:boxes=2,gpus=2", "allreduce"), ("ring:nodes=4", "reduce-scatter"), ("ring:nodes=4", "allgather")],
)
def test_an_exported_schedule_has_the_algbw_of_the_schedule(
    tmp_path: Path, topology: str, collective: str, target: str
) -> None:
    file = exported(tmp_path, topology, collective, target)
    row = compare(topology, collective, baselines=[file], sizes=[2**20]).row(str(file))
    assert row.algbw == generate(topology, collective).algbw
    assert (row.family, row.valid, row.schedule) == ("program", True, None)
    assert row.height is not None
    assert row.height >= 2
    assert row.times[0].algbw == pytest.approx(2**20 / row.times[0].seconds / 1e9)
    assert row.times[0].algbw < float(row.algbw)


def test_a_program_written_by_hand_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "two.xml"
    blocks = (
        '<tb id="0" send="{o}" recv="{o}" chan="0">'
        '<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{r}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        '<step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{o}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        '<step s="2" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="{r}" cnt="1" depid="-1" deps="-1" hasdep="0"/>'
        "</tb>"
    )
    gpus = "".join(
        f'<gpu id="{rank}" i_chunks="1" o_chunks="2" s_chunks="0">{blocks.format(r=rank, o=1 - rank)}</gpu>'
        for rank in range(2)
    )
    file.write_text(
        '<algo name="two" nchunksperloop="2" nchannels="1" proto="Simple" ngpus="2" coll="allgather" inplace="0" '
        f'outofplace="1" minBytes="0" maxBytes="0">{gpus}</algo>'
    )
    row = compare(linked("a b", "a=b:10"), baselines=[file], sizes=[2**20]).row(str(file))
    assert row.valid
    assert row.algbw == 20
    assert row.height == 1


def test_a_multicast_uses_the_link_of_each_rank_of_its_group_once() -> None:
    network = load_topology("dgx-h100:boxes=1,nvls=true")
    problem = Problem(network, Demand("allreduce").bind(network)[1])
    (found,), skipped = candidates(
        Path(__file__).parents[1] / "golden" / "nvls-allreduce.json", _part_of(problem, 3), SILENT
    )
    assert not skipped
    assert isinstance(found, ComparedFile)
    assert isinstance(found.found, ProgramRun)
    assert found.found.algbw == 450 / (1 + Fraction(1, 3))


def _part_of(problem: Problem, ranks: int) -> Problem:
    chosen = list(problem.topology.ids(problem.members[:ranks]))
    return Problem(problem.topology, Demand("allreduce", chosen).bind(problem.topology)[1])


@pytest.mark.parametrize("target", TARGETS)
def test_a_wrong_program_is_a_row_that_is_not_valid(tmp_path: Path, target: str) -> None:
    file = exported(tmp_path, "ring:nodes=4", "allgather", target)
    text = file.read_text()
    changed = text.replace('dstoff="1"', 'dstoff="2"', 1) if target == "msccl-xml" else text.replace('"o"', '"s"', 1)
    assert changed != text
    file.write_text(changed)
    row = compare("ring:nodes=4", baselines=[file], sizes=[2**20]).row(str(file))
    assert not row.valid
    assert row.algbw == 0
    assert row.reason.startswith("not valid: ")
    assert "\n" not in row.reason


def test_a_program_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    for target in TARGETS:
        file = exported(tmp_path, "ring:nodes=4", "allgather", target)
        with pytest.raises(InputError, match="a program of 4 ranks, and 8 compute nodes take part"):
            compare("ring:nodes=8", baselines=[file])
        with pytest.raises(InputError, match="a program for allgather, not for an allreduce"):
            compare("ring:nodes=4", "allreduce", baselines=[file])
    file = exported(tmp_path, "complete:nodes=4", "allgather", "msccl-xml")
    with pytest.raises(InputError, match=r"rank \d sends to rank \d, and no path through switches joins their nodes"):
        compare("ring:nodes=4", baselines=[file])


def test_the_route_is_the_widest_of_the_shortest(tmp_path: Path) -> None:
    topology = linked("a b", "a=narrow b=narrow a=wide:2 b=wide:2", switches="narrow wide")
    file = exported(tmp_path, "ring:nodes=2", "allgather", "msccl-xml")
    row = compare(topology, baselines=[file], sizes=[2**20]).row(str(file))
    assert row.algbw == Fraction(4)
    assert row.reason.endswith("links of 2 GB/s 100% busy, links of 1 GB/s 0%")
