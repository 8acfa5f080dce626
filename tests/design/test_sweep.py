from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

from forestcoll.design.search.finder import TopologyFinder
from forestcoll.design.search.sweep import questions_of, sweep
from refusal import refusal
from started import dask_executor


def test_a_sweep_answers_in_order_with_any_executor() -> None:
    questions = questions_of(range(5, 40), [2, 4])
    here = list(sweep(questions))
    assert [(each.nodes, each.degree) for each in here] == questions
    with ThreadPoolExecutor(3) as threads:
        assert list(sweep(questions, executor=threads)) == here
    questions = questions_of([8, 12, 27], [3])
    with ProcessPoolExecutor(2) as processes:
        assert list(sweep(questions, executor=processes)) == list(sweep(questions))


def test_a_sweep_skips_sizes_without_a_network_and_a_range_beyond_the_limits_is_refused_at_once() -> None:
    found = list(sweep(questions_of([7, 8, 9, 10], [3]), TopologyFinder(bidirectional=True)))
    assert [each.nodes for each in found] == [8, 10]
    said = refusal(questions_of, range(2, 10**9), range(4, 5))
    assert said.startswith("nodes is 999999999; expected an integer from 2 to 16384")
    said = refusal(questions_of, range(8, 9), range(1, 10**6))
    assert said.startswith("degree is 999999; expected an integer from 1 to 64")


def test_a_sweep_works_with_a_dask_client(tmp_path: Path) -> None:
    with dask_executor(tmp_path) as executor:
        questions = questions_of([8, 16, 20], [4])
        assert list(sweep(questions, executor=executor)) == list(sweep(questions))
