"""The rows `openmpi` and `mpich` of a comparison: what MPI libraries choose by size and number of ranks."""

import pytest

from forestcoll import compare
from forestcoll.algorithms.baseline import title_of
from forestcoll.comparison.mpi.rules import LIBRARIES, Ranks, chosen_algorithm
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.presentation.results.comparisons.comparison import comparison_page

SIZES = (2**10, 2**16, 2**20, 2**24)


@pytest.mark.parametrize(
    ("library", "spec", "collective", "algorithms", "methods"),
    [
        ("openmpi", "torus:dims=8x4", "allgather", ["recursive_doubling", "neighbor", "neighbor", "ring"], None),
        ("mpich", "torus:dims=4x4", "allgather", ["recursive_doubling", "recursive_doubling", "ring", "ring"], None),
        ("mpich", "ring:nodes=7", "allgather", ["brucks", "brucks", "ring", "ring"], None),
        ("openmpi", "ring:nodes=7", "allgather", ["recursive_doubling"] * 4, ["bruck"] * 4),
        ("mpich", "hypercube:dim=4", "reduce-scatter", ["recursive_halving"] * 2 + ["pairwise"] * 2, None),
        ("mpich", "hypercube:dim=4", "allreduce", ["reduce_scatter_allgather"] * 4, None),
        ("openmpi", "dgx-a100:boxes=1", "all-to-all", ["linear_sync"] * 2 + ["linear_sync", "linear"], None),
        ("mpich", "dgx-a100:boxes=2", "all-to-all", ["brucks", "scattered", "pairwise", "pairwise"], None),
    ],
)
def test_each_size_has_the_time_of_the_algorithm_that_is_chosen(
    library: str, spec: str, collective: str, algorithms: list[str], methods: list[str] | None
) -> None:
    ours = {
        "recursive_doubling": "recursive-doubling",
        "recursive_halving": "recursive-doubling",
        "reduce_scatter_allgather": "recursive-doubling-far",
        "brucks": "bruck",
        "neighbor": "neighbor-exchange",
        "ring": "rank-ring",
        "linear": "direct",
        "linear_sync": "direct",
        "scattered": "direct",
        "pairwise": "pairwise",
    }
    names = methods or [ours[each] for each in algorithms]
    found = compare(spec, collective, sizes=SIZES, baselines=[library, *dict.fromkeys(names)])
    row = found.row(library)
    assert list(row.algorithms) == algorithms
    assert row.times == tuple(found.row(name).times[place] for place, name in enumerate(names))
    assert row.algbw == found.row(names[-1]).algbw
    assert f"{LIBRARIES[library]} chooses {algorithms[0]} from 1KiB" in row.reason


def test_an_algorithm_without_a_schedule_is_skipped_and_named() -> None:
    found = compare("hypercube:dim=3", "reduce-scatter", sizes=[2**20, 2**24], baselines=["openmpi"])
    assert [each.name for each in found.rows] == ["forestcoll"]
    assert found.skipped[0].reason == (
        "Open MPI 5.0.11 chooses recursive_halving from 1MiB, basic_linear from 16MiB; "
        "there is no schedule of basic_linear here"
    )


@pytest.mark.parametrize(
    ("library", "spec", "algorithm"),
    [
        ("openmpi", "dgx-a100:boxes=2", "han"),
        ("openmpi", "dgx-a100:boxes=4,gpus=1", "rabenseifner"),
        ("mpich", "dgx-a100:boxes=2", "smp"),
        ("mpich", "dgx-a100:boxes=1", "release_gather"),
        ("mpich", "dgx-a100:boxes=4,gpus=1", "reduce_scatter_allgather"),
    ],
)
def test_hosts_with_several_ranks_have_algorithms_of_their_own(library: str, spec: str, algorithm: str) -> None:
    found = compare(spec, "allreduce", sizes=[2**20], baselines=[library])
    said = {row.name: row.reason for row in found.rows} | {each.name: each.reason for each in found.skipped}
    assert f"chooses {algorithm} from 1MiB" in said[library]


def test_without_sizes_the_row_is_for_large_data() -> None:
    row = compare("ring:nodes=4", sizes=(), baselines=["mpich"]).row("mpich")
    assert (row.times, row.algorithms) == ((), ())
    assert "chooses ring from 1GiB" in row.reason


def test_rows_are_only_there_by_name_and_json_has_the_algorithms() -> None:
    assert not {*LIBRARIES, "rank-ring", "pairwise"} & {row.name for row in compare("ring:nodes=4", sizes=[1024]).rows}
    found = compare("ring:nodes=4", sizes=[1024, 2**20], baselines=["mpich"])
    (row,) = [each for each in comparison_page(found).document()["rows"] if each["name"] == "mpich"]
    assert [each["algorithm"] for each in row["times"]] == ["recursive_doubling", "ring"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("collective", COMPARED)
def test_there_is_a_rule_for_every_number_of_ranks_and_every_size(library: str, collective: Collective) -> None:
    for number in (2, 3, 5, 8, 31, 33, 100, 5000):
        for hosts in {1, 2, number}:
            for size in (1, 100, 2**14, 2**30):
                assert chosen_algorithm(library, collective, Ranks(number, hosts), size)


def test_the_rows_have_titles() -> None:
    assert [title_of(each) for each in LIBRARIES] == ["Open MPI as it chooses", "MPICH as it chooses"]
