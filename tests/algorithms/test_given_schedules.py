"""`simulate`, `view` and `export` from Python: what they take for a schedule, and for sizes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import forestcoll as fc
from forestcoll.simulation import Point
from refusal import refusal

RING = fc.load_topology("ring:nodes=4")
SCHEDULE = fc.generate(RING)
WRONG = replace(SCHEDULE, algbw=SCHEDULE.algbw * 2)


def exported(schedule: fc.Schedule | Path | str | fc.Topology) -> fc.Export:
    return fc.export(schedule, "msccl-xml")


def simulated(schedule: fc.Schedule | Path | str | fc.Topology) -> tuple[Point, ...]:
    return fc.simulate(schedule, 1024)


@pytest.mark.parametrize("function", [simulated, fc.view, exported])
def test_a_wrong_schedule_is_refused_with_its_fault(function: Callable[[fc.Schedule], object], tmp_path: Path) -> None:
    fault = fc.verify(WRONG).fault
    assert fault is not None
    assert refusal(function, WRONG) == f"ring:nodes=4: {fault.message} [{fault.rule}]"
    if function is not fc.view:
        path = tmp_path / "wrong.json"
        fc.write_schedule(WRONG, path)
        assert refusal(function, path) == f"{path}: {fault.message} [{fault.rule}]"


def test_a_schedule_is_also_given_by_its_file_or_its_network(tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    fc.write_schedule(SCHEDULE, path)
    points, text = simulated(SCHEDULE), exported(SCHEDULE).text
    for given in (path, str(path)):
        assert simulated(given) == points
        assert exported(given).text == text
    for network in (RING, "ring:nodes=4"):
        assert [each.seconds for each in simulated(network)] < [
            each.seconds for each in points
        ]  # the best for the size
        assert exported(network).text == text
    assert refusal(simulated, "no.json") == "no.json: no such file; check the name"


def test_sizes_are_numbers_or_texts_in_all_functions() -> None:
    assert [point.size for point in fc.simulate(SCHEDULE, "1KiB..4KiB,1MB")] == [1024, 2048, 4096, 10**6]
    assert fc.simulate(SCHEDULE, ["1KiB", 5]) == fc.simulate(SCHEDULE, [1024, 5])
    rows = [fc.compare(RING, baselines=["direct"], sizes=sizes).rows[0].times for sizes in ("1KiB..2KiB", [1024, 2048])]
    assert rows[0] == rows[1]
    assert fc.tune(RING, sizes="1MiB").sizes == fc.tune(RING, sizes=2**20).sizes == (2**20,)
    assert "expected a size of 1 byte or more" in refusal(fc.generate, RING, method="bfb", size=1e6)
    for wrong in ([-1], 1e6, True, [None]):
        assert "expected a size of 1 byte or more" in refusal(fc.simulate, SCHEDULE, wrong)


def test_other_arguments_of_simulate_are_checked() -> None:
    assert refusal(fc.simulate, SCHEDULE, [1], {"alpha": 1}) == "costs is {'alpha': 1}; expected Costs or None"
    message = "there is no model 'progam'; did you mean 'program'? there are trees, program, slots"
    assert refusal(fc.simulate, SCHEDULE, [1], model="progam") == message


def test_messages_show_arguments_as_python_writes_them() -> None:
    assert refusal(fc.verify, None) == "source is None; expected a schedule, or the name of a file"
    assert refusal(fc.verify, RING).startswith("source is Topology('ring:nodes=4', 4 compute nodes")
    assert refusal(fc.optimum, SCHEDULE).startswith("topology is <TreeSchedule: allgather on 'ring:nodes=4'")
    assert repr(fc.Progress()) == "SILENT"
