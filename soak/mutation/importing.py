"""Changes of code that runs while a module is imported: each needs a new process, which imports the changed file.

As a plugin of pytest (`-p mutation.importing`), this file replaces the code of the file that the environment variable
names.
"""

import importlib.machinery
import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import CodeType

from mutation.changes import Change

VARIABLE = "FORESTCOLL_CHANGED_FILE"
"""The path of the changed file and of its compiled code, with a colon between them."""

LIMIT = 900
"""Seconds by the clock after which the tests of a change are stopped."""

LIMIT_OF_TEST = 60
"""Seconds by the clock after which a test fails: some changes make loops without an end."""


def is_killed(path: Path, change: Change, tests: Sequence[str]) -> bool:
    """Return whether a test fails if the changed file is imported."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "code"
        code.write_bytes(marshal.dumps(change.code))
        here = Path(__file__).parent.parent
        words = ["-m", "pytest", "-x", "-q", "-p", "mutation.importing", "-p", "no:cacheprovider"]
        words += ["--timeout", str(LIMIT_OF_TEST), *tests]
        paths = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {VARIABLE: f"{path}{os.pathsep}{code}", "PYTHONPATH": paths}
        try:
            done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, timeout=LIMIT)  # noqa: PLW1510
        except subprocess.TimeoutExpired:
            return True
    return done.returncode != 0


def _replace(path: str, code: str) -> None:
    """Let the import of the file at `path` use the compiled code in the file at `code`."""
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> CodeType | None:
        if self.path == path:
            changed: CodeType = marshal.loads(Path(code).read_bytes())  # noqa: S302 (written by this tool)
            return changed
        return usual(self, fullname)

    setattr(loader, "get_code", get_code)  # noqa: B010 (mypy refuses a method with another type)


if VARIABLE in os.environ:
    _replace(*os.environ[VARIABLE].split(os.pathsep))
