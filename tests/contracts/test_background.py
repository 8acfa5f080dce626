"""The tests end where Ctrl-C is ignored when they start, as with nohup, in scripts, and on some machines of CI."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IGNORING = (
    "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.exit(pytest.main(sys.argv[1:]))"
)


@pytest.mark.slow
def test_tests_of_ctrl_c_pass_where_it_is_ignored() -> None:
    chosen = ["tests/kernels/test_core_watching.py", "-q", "-p", "no:cacheprovider", "--timeout", "60", "-k", "ctrl_c"]
    done = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "-c", IGNORING, *chosen], cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
