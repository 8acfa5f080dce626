import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from forestcoll.design.search import cache as cache_module
from forestcoll.design.search.cache import cache_folder, find_with_cache, frontier_document, frontier_of
from forestcoll.design.search.finder import find_topologies
from forestcoll.design.search.sweep import questions_of, sweep
from refusal import refusal
from remarks import Remarks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = cache_folder()
    assert found is not None
    return found


def test_a_frontier_is_read_back_from_its_document() -> None:
    for nodes in (12, 36, 64):
        frontier = find_topologies(nodes, 4)
        assert frontier_of(frontier_document(frontier)) == frontier


def test_the_cache_answers_without_searching(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find_with_cache(24, 4)
    assert [path.name for path in folder.iterdir()] == ["24-4.json"]
    monkeypatch.setattr(cache_module, "find_topologies", None)
    assert find_with_cache(24, 4) == first


def test_a_damaged_cache_file_is_named_and_written_again(folder: Path) -> None:
    find_with_cache(24, 4)
    path = folder / "24-4.json"
    good = path.read_text()
    document = json.loads(good)
    document["frontier"]["members"].pop()
    damaged = [
        "",
        "{",
        "[]",
        '{"checksum": 1}',
        '{"checksum": "", "frontier": {"members": [{}]}}',
        json.dumps(document),
    ]
    for text in damaged:
        remarks = Remarks()
        path.write_text(text)
        assert find_with_cache(24, 4, progress=remarks) == find_topologies(24, 4)
        assert remarks.texts == [f"{path}: the cached result is damaged and is computed again"]
        assert path.read_text() == good
        find_with_cache(24, 4, progress=remarks)
        assert len(remarks.texts) == 1


def test_the_search_works_without_a_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder() is None
    assert find_with_cache(12, 4) == find_topologies(12, 4)
    (tmp_path / "forestcoll").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_with_cache(12, 4) == find_topologies(12, 4)


def test_a_cache_file_for_another_size_is_ignored(folder: Path) -> None:
    find_with_cache(24, 4)
    (folder / "24-4.json").rename(folder / "26-4.json")
    assert find_with_cache(26, 4) == find_topologies(26, 4)


def test_the_cache_folder_follows_the_xdg_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert str(cache_folder()).startswith(str(tmp_path / ".cache" / "forestcoll" / "finder"))


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
    found = list(sweep(questions_of([7, 8, 9, 10], [3]), bidirectional=True))
    assert [each.nodes for each in found] == [8, 10]
    said = refusal(questions_of, range(2, 10**9), range(4, 5))
    assert said.startswith("nodes is 999999999; expected an integer from 2 to 16384")
    said = refusal(questions_of, range(8, 9), range(1, 10**6))
    assert said.startswith("degree is 999999; expected an integer from 1 to 64")


def test_a_sweep_works_with_a_dask_client(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", local_directory=tmp_path
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        questions = questions_of([8, 16, 20], [4])
        assert list(sweep(questions, executor=client.get_executor())) == list(sweep(questions))
