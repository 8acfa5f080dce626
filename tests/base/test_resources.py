import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from forestcoll import InputError, load_topology
from forestcoll.base import resources
from forestcoll.base.files import read_bytes, read_document
from forestcoll.base.resources import (
    VARIABLE,
    ResourceEstimate,
    announce,
    machine_memory,
    memory_limit,
    set_memory_limit,
    size_text,
)
from forestcoll.demand.matrix import read_matrix
from refusal import refusal
from remarks import Remarks

EXPANDING = {
    "empty lists": '{"nodes": [' + "[]," * 200_000 + "[]]}",
    "empty objects": '{"nodes": [' + "{}," * 200_000 + "{}]}",
    "numbers": '{"nodes": [' + "1e1," * 200_000 + "1.5]}",
    "numbers that are not finite": '{"nodes": [' + "NaN," * 200_000 + "NaN]}",
    "texts": '{"nodes": [' + ",".join(f'"{number}"' for number in range(200_000)) + "]}",
    "wide characters": '{"nodes": "' + "a" * 400_000 + '\U0001f600"}',
    "keys": '{"nodes": {' + ",".join(f'"{number}":0' for number in range(200_000)) + "}}",
}
MEASURE = """
import resource, sys, tracemalloc
from pathlib import Path
from forestcoll.base.files import read_document
from forestcoll.base.resources import set_memory_limit
import forestcoll.base.resources as memory
import forestcoll.base.files as files
estimates = []
def note(work, need):
    estimates.append(need)
memory.require_memory = note
memory.memory_limit = lambda: memory._PROCESS + 1
memory.most_text = files.most_text = lambda: 10**9
for path in map(Path, sys.argv[1:]):
    tracemalloc.start()
    read_document(path)
    print(estimates.pop(), tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
"""


@pytest.fixture(autouse=True)
def default_limit() -> None:
    set_memory_limit(None)


def test_the_estimate_is_above_the_memory_that_a_text_takes(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.json.gz" for name in EXPANDING]
    for path, text in zip(paths, EXPANDING.values(), strict=True):
        path.write_bytes(gzip.compress(text.encode(), 1))
    words = [sys.executable, "-c", MEASURE, *map(str, paths)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=100)  # noqa: S603 (our own command)
    for name, line in zip(EXPANDING, done.stdout.splitlines(), strict=True):
        estimate, peak = map(int, line.split())
        assert peak <= estimate + 10**6, name  # the modules of the reader
        assert estimate <= 6 * peak, name


@pytest.mark.parametrize("name", [name for name in EXPANDING if name != "wide characters"])
def test_a_small_file_that_becomes_large_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(EXPANDING[name].encode(), 1))
    set_memory_limit(130 * 10**6)
    for read in (read_document, load_topology):
        with pytest.raises(InputError, match=r"would take about .* the limit is 130 MB, and FORESTCOLL"):
            read(path)


def test_text_in_words_and_lines_is_bounded_too(tmp_path: Path) -> None:
    set_memory_limit(130 * 10**6)
    for text in ("GPU0 GPU1\n" + "GPU0 X\n" * 100_000, "1," * 200_000, "<a/>\n" * 100_000):
        path = tmp_path / "a.txt"
        path.write_text(text)
        assert "would take about" in refusal(load_topology, path)
        assert "would take about" in refusal(read_matrix, path, load_topology("ring:nodes=3"))


def test_an_endless_file_is_refused() -> None:
    set_memory_limit(140 * 10**6)
    assert "more than 19 MiB, which takes too much memory" in refusal(read_bytes, Path("/dev/zero"))


def test_the_limit_is_the_set_one_or_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_limit() == machine_memory() // 2
    monkeypatch.setenv(VARIABLE, "4GB")
    assert memory_limit() == 4 * 10**9
    set_memory_limit(5)
    assert memory_limit() == 5
    set_memory_limit(None)
    monkeypatch.setenv(VARIABLE, "much")
    assert "FORESTCOLL_MAX_MEMORY: 'much'; expected a size" in refusal(memory_limit)


def test_long_work_is_announced_and_work_above_the_limit_refused() -> None:
    set_memory_limit(4 * 10**9)
    remarks = Remarks()
    announce("a short stage", ResourceEstimate(9.9, 1.9e9), remarks)
    announce("a long stage", ResourceEstimate(12, 3 * 10**6), remarks)
    announce("a large stage", ResourceEstimate(3.5, 2.5e9), remarks)
    assert remarks.texts == [
        "a long stage takes about 12 s and 3.0 MB of memory",
        "a large stage takes about 3.5 s and 2.5 GB of memory",
    ]
    assert refusal(announce, "a larger stage", ResourceEstimate(1, 3.9e9), remarks, "use fewer chunks") == (
        "a larger stage would take about 4.0 GB of memory; use fewer chunks; the limit is 4.0 GB, and "
        "FORESTCOLL_MAX_MEMORY sets another one"
    )
    assert len(remarks.texts) == 2
    assert [size_text(size) for size in (1, 10**6, 10**10, 15 * 10**14)] == ["1 MB", "1.0 MB", "10 GB", "1,500,000 GB"]


@pytest.mark.parametrize(
    ("groups", "name"), [("0::/a/b\n", "memory.max"), ("3:cpu:/\n5:memory,x:/a/b\n", "memory.limit_in_bytes")]
)
def test_the_limits_of_control_groups_and_those_above_count(
    groups: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = "/sys/fs/cgroup" if name == "memory.max" else "/sys/fs/cgroup/memory"
    texts = {"/proc/self/cgroup": groups, f"{root}/a/b/{name}": "max\n", f"{root}/a/{name}": "700000\n"}
    monkeypatch.setattr(resources, "system_text", texts.get)
    assert machine_memory.__wrapped__() == 700_000
    texts[f"{root}/{name}"] = "5000"
    assert machine_memory.__wrapped__() == 5000


def test_the_limit_of_the_address_space_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10_000_000, resource.RLIM_INFINITY))
    monkeypatch.setattr(resources, "system_text", lambda _: None)
    assert machine_memory.__wrapped__() == 10_000_000
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert machine_memory.__wrapped__() > 10**8
