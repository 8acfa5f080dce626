"""NumPy starts with one thread in commands, and the environment of the user is kept."""

import os
import subprocess
import sys

import pytest

STARTED = """
import os
from forestcoll.cli.numpy_start import import_numpy
before = os.environ.get("OPENBLAS_NUM_THREADS")
import_numpy()
assert os.environ.get("OPENBLAS_NUM_THREADS") == before
print(len(os.listdir("/proc/self/task")))
"""


def threads_with(variables: dict[str, str]) -> int:
    """Return the number of threads of a process that imports NumPy with these environment variables."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(  # noqa: S603 (our own interpreter)
        [sys.executable, "-c", STARTED], env=kept | variables, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists threads in /proc")
@pytest.mark.parametrize("variables", [{}, {"OPENBLAS_NUM_THREADS": "1"}])
def test_numpy_starts_with_one_thread_and_the_environment_is_kept(variables: dict[str, str]) -> None:
    assert threads_with(variables) == 1
