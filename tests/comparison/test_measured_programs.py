"""Programs of MSCCL that others ran on 8 MI300X: the simulation agrees with what they measured."""

from pathlib import Path
from statistics import median

import pytest

from forestcoll import compare, export, generate
from forestcoll.programs import judge_file
from forestcoll.simulation import Costs
from msccl_forms import Form, measured, program_text

GIB = 2**30
SIX = (
    Form("allgather", "pairs", "Simple", 1, 1),
    Form("allgather", "pairs", "Simple", 1, 4),
    Form("allgather", "ring", "Simple", 1, 1),
    Form("allgather", "ring", "Simple", 8, 1),
    Form("allgather", "pairs", "LL128", 1, 8),
    Form("allreduce", "pairs", "LL", 1, 4),
)
"""The figures of which the simulation was 1.4 to 11 times too fast when it did not know the thread blocks."""

WORST, MEDIAN = 0.4, 0.15


def errors(folder: Path, forms: list[Form]) -> list[float]:
    """Return by what part the algbw that `compare` prints at 1 GiB differs from the measured one."""
    found = []
    for collective in sorted({form.collective for form in forms}):
        files = {}
        for number, form in enumerate(each for each in forms if each.collective == collective):
            files[form] = folder / f"{collective}-{number}.xml"
            files[form].write_text(program_text(form))
        rows = compare("mi300x:boxes=1", collective, baselines=list(files.values()), sizes=[GIB])
        for form, file in files.items():
            known = measured()[form][GIB]
            assert known
            found.append(abs(rows.row(str(file)).times[0].algbw / known - 1))
    return found


def test_six_programs_take_about_as_long_as_measured(tmp_path: Path) -> None:
    found = errors(tmp_path, list(SIX))
    assert max(found) <= WORST
    assert median(found) <= MEDIAN


@pytest.mark.slow
def test_all_programs_that_ended_take_about_as_long_as_measured(tmp_path: Path) -> None:
    forms = [form for form, sizes in measured().items() if sizes[GIB]]
    assert len(forms) == 44
    found = errors(tmp_path, forms)
    assert max(found) <= WORST
    assert median(found) <= MEDIAN


@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=[pytest.mark.slow] * (form.instances > 2)) for form in measured()],
    ids=lambda form: " ".join(map(str, form)),
)
def test_the_programs_that_hung_are_those_that_stop(tmp_path: Path, form: Form) -> None:
    file, sizes = tmp_path / "program.xml", measured()[form]
    file.write_text(program_text(form))
    judged = judge_file(file)
    assert judged.ok == all(sizes.values())
    if judged.fault is not None:
        assert judged.fault.rule == "deadlock"
        assert judged.right_up_to is not None
        assert all((algbw is not None) == (size <= judged.right_up_to) for size, algbw in sizes.items())


def test_rounds_of_blocks_that_take_turns_overlap(tmp_path: Path) -> None:
    """Eight blocks of a ring pass on one shard each; without overlap they would be as slow as one block."""
    costs, times = Costs(block_gbps=10.6), []
    for channels in (1, 8):
        file = tmp_path / f"{channels}.xml"
        file.write_text(program_text(Form("allgather", "ring", "Simple", channels, 1)))
        row = compare("mi300x:boxes=1", baselines=[file], sizes=[GIB], costs=costs).row(str(file))
        times.append(row.times[0].seconds)
    assert times[0] > 4 * times[1]


def test_a_row_says_what_it_assumes_about_thread_blocks(tmp_path: Path) -> None:
    file = tmp_path / "program.xml"
    file.write_text(program_text(SIX[0]))
    for network, words in (
        ("mi300x:boxes=1", "a thread block moves 20.9 GB/s with Simple, as measured on mi300x"),
        ("dgx-h100:boxes=1", "a thread block sends at most 38.7 GB/s, as NCCL counts for h100"),
        ("mi355x:boxes=1", "thread blocks have no limit, because no program was measured on mi355x"),
    ):
        reason = compare(network, baselines=[file], sizes=[GIB]).row(str(file)).reason
        assert reason.endswith(f"; in the times, {words}")
        given = compare(network, baselines=[file], sizes=[GIB], costs=Costs()).row(str(file)).reason
        assert "in the times" not in given


def test_an_export_says_what_measured_thread_blocks_make_of_it() -> None:
    schedule = generate("mi300x:boxes=1")
    (remark,) = export(schedule, "msccl-xml:dialect=rccl").remarks
    assert remark.startswith("a thread block of mi300x moves 20.9 GB/s with Simple, as measured; ")
    assert not export(schedule, "mscclpp-json").remarks
    assert not export(generate("dgx-h100:boxes=1"), "msccl-xml").remarks


def test_a_program_that_hangs_above_its_greatest_size_has_times_there(tmp_path: Path) -> None:
    """The runtime does not use the file for 1 GiB; its messages are then as many chunks as at the greatest size."""
    file, form = tmp_path / "program.xml", Form("allreduce", "pairs", "Simple", 1, 1)
    file.write_text(program_text(form, most=2**25))
    small, large = compare("mi300x:boxes=1", "allreduce", baselines=[file], sizes=[2**24, GIB]).row(str(file)).times
    assert small.algbw == pytest.approx(measured()[form][2**24], rel=MEDIAN)
    assert large.algbw > small.algbw
