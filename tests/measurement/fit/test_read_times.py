from pathlib import Path

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.measurement.fit import read_times
from forestcoll.schedule.files import write_schedule
from forestcoll.topology.registry import build_topology

LOG = Path(__file__).parents[3] / "examples" / "nccl-tests.log"


def table(folder: Path, text: str) -> Path:
    path = folder / "times.csv"
    path.write_text(text)
    return path


def test_a_table_of_times_and_one_of_bandwidths_are_the_same(tmp_path: Path) -> None:
    ring = ["ring:nodes=4"]
    (one,) = read_times([table(tmp_path, "# measured\nsize, time_us, note\n1MB, 500, x\n\n1GB, 250000, y\n")], ring)
    (two,) = read_times([table(tmp_path, "SIZE,algbw (GB/s)\n1MB,2\n1GB,4\n")], ring)
    assert one.sizes == two.sizes == (10**6, 10**9)
    assert one.seconds == pytest.approx((0.0005, 0.25))
    assert two.seconds == pytest.approx((0.0005, 0.25))


def test_columns_name_the_schedule_the_algorithm_and_the_collective(tmp_path: Path) -> None:
    text = (
        "schedule,algorithm,collective,size,algbw\n"
        "dgx-a100:boxes=2,nccl-ring,all_gather,1M,3.17\n"
        "dgx-a100:boxes=2,,reduce-scatter,1M,9.24\n"
        "dgx-a100:boxes=2,nccl-ring,allgather,1G,187\n"
    )
    ring, forest = read_times([table(tmp_path, text)], [])
    assert (ring.name, len(ring.sizes)) == ("dgx-a100:boxes=2 nccl-ring allgather", 2)
    assert forest.schedule.collective is Collective.REDUCE_SCATTER


def test_a_schedule_file_and_several_tables_are_paired_in_order(tmp_path: Path) -> None:
    schedule = generate(build_topology("ring:nodes=4"), collective="broadcast", root=0)
    write_schedule(schedule, tmp_path / "broadcast.json")
    times = table(tmp_path, "size,time_us\n1M,5\n")
    one, two = read_times([times, times], [tmp_path / "broadcast.json", "ring:nodes=5"])
    assert one.schedule.collective is Collective.BROADCAST
    assert len(two.schedule.members) == 5


def test_a_log_of_nccl_tests_says_its_collective_and_its_ranks() -> None:
    (times,) = read_times([LOG], ["dgx-a100:boxes=2"], algorithms=["nccl-ring"])
    assert times.schedule.collective is Collective.ALLGATHER
    assert len(times.sizes) > 2
    with pytest.raises(InputError, match="the test ran on 16 ranks; the schedule has 8"):
        read_times([LOG], ["dgx-a100:boxes=1"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,bandwidth\n1M,5\n", "the columns are size, bandwidth; there must be size, and time_us or algbw"),
        ("size,time_us\n1M,5,6\n", "line 2: has 3 values; expected 2, as in the first line"),
        ("size,time_us\n1M,-5\n", "line 2: time_us is '-5'; expected a number greater than 0"),
        ("size,algbw\n1M,\n", "line 2: algbw is ''; expected a number greater than 0"),
        ("size,time_us\n1Mb,5\n", "line 2: '1Mb' looks like bits"),
        ("size,algbw (Gb/s)\n1M,5\n", "'algbw (Gb/s)' is not in GB/s"),
        ("collective,size,algbw\nallgahter,1M,5\n", "line 2: there is no collective 'allgahter'"),
        ("hello\n", "has no row of nccl-tests"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_times([table(tmp_path, text)], ["ring:nodes=4"])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("schedules", "algorithms", "collective", "message"),
    [
        ([], [], None, "line 2: no schedule is given; give --schedule, or a column schedule"),
        (["ring:nodes=4"], ["nccl-tree"], None, "nccl-tree on ring:nodes=4: not an algorithm for an allgather"),
        (["ring:nodes=4"], ["nccl-rings"], None, "'nccl-rings' is not the name of an algorithm"),
        (["ring:nodes=4"], [], "broadcast", "a broadcast has a root; give its schedule file"),
        (["ring:nodes=4", "ring:nodes=5"], [], None, "there are 2 schedules for 1 files of times"),
    ],
)
def test_a_schedule_that_cannot_be_made_is_refused(
    tmp_path: Path, schedules: list[str], algorithms: list[str], collective: str | None, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_times([table(tmp_path, "size,time_us\n1M,5\n")], schedules, algorithms=algorithms, collective=collective)
    assert message in str(caught.value)
