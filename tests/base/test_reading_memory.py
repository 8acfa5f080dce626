import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from forestcoll import InputError, load_topology
from forestcoll.base.files import read_bytes, read_document
from forestcoll.base.reading_memory import DEFAULT_LIMIT, VARIABLE, memory_limit, set_memory_limit
from forestcoll.demand.matrix import read_matrix

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
from forestcoll.base.reading_memory import _check, set_memory_limit
import forestcoll.base.reading_memory as memory
import forestcoll.base.files as files
estimates = []
def note(data, values, where):
    estimates.append(memory._texts(data) + values)
memory._check = note
memory.memory_limit = lambda: memory._PROCESS + 1
memory.most_text = files.most_text = lambda: 10**9
tracemalloc.start()
read_document(Path(sys.argv[1]))
print(estimates[0], tracemalloc.get_traced_memory()[1])
"""


@pytest.fixture(autouse=True)
def default_limit() -> None:
    set_memory_limit(None)


@pytest.mark.parametrize("name", EXPANDING)
def test_the_estimate_is_above_the_memory_that_a_text_takes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(EXPANDING[name].encode(), 1))
    words = [sys.executable, "-c", MEASURE, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 (our own command)
    estimate, peak = map(int, done.stdout.split())
    assert peak <= estimate + 10**6  # the modules of the reader
    assert estimate <= 6 * peak


@pytest.mark.parametrize("name", [name for name in EXPANDING if name != "wide characters"])
def test_a_small_file_that_becomes_large_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(EXPANDING[name].encode(), 1))
    set_memory_limit(130 * 10**6)
    for read in (read_document, load_topology):
        with pytest.raises(InputError, match=r"would take about .* the limit is 130MB, and --max-memory or FORESTCOLL"):
            read(path)


def test_text_in_words_and_lines_is_bounded_too(tmp_path: Path) -> None:
    set_memory_limit(130 * 10**6)
    for text in ("GPU0 GPU1\n" + "GPU0 X\n" * 100_000, "1," * 200_000, "<a/>\n" * 100_000):
        path = tmp_path / "a.txt"
        path.write_text(text)
        with pytest.raises(InputError, match="would take about"):
            load_topology(path)
        with pytest.raises(InputError, match="would take about"):
            read_matrix(path, load_topology("ring:nodes=3"))


def test_an_endless_file_is_refused() -> None:
    set_memory_limit(140 * 10**6)
    with pytest.raises(InputError, match="more than 9 MiB, which takes too much memory"):
        read_bytes(Path("/dev/zero"))


def test_the_limit_is_the_set_one_or_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_limit() == DEFAULT_LIMIT
    monkeypatch.setenv(VARIABLE, "4GB")
    assert memory_limit() == 4 * 10**9
    set_memory_limit(5)
    assert memory_limit() == 5
    set_memory_limit(None)
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(InputError, match="FORESTCOLL_MAX_MEMORY: 'much'; expected a size"):
        memory_limit()
