"""Other software that judges: whether it is installed, and its version; a test without it is skipped and says why."""

import importlib
import importlib.metadata
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest


def module(name: str) -> ModuleType:
    """Return a module of Python, and print its version; skip the test without it."""
    try:
        found = importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is missing; `make judges` installs it")
    print(f"{name} {importlib.metadata.version(name)}")
    return found


def package_of(commands: dict[str, str]) -> dict[str, str]:
    """Return the paths of commands by name, given the Debian package of each; skip the test if one is missing."""
    found = {}
    for command, package in commands.items():
        path = shutil.which(command, path="/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
        if path is None:
            pytest.skip(f"{command} is missing; apt-get install {package}")
        found[command] = path
        print(package, _debian_version(package))
    return found


def _debian_version(package: str) -> str:
    query = shutil.which("dpkg-query")
    if query is None:
        return "of an unknown version"
    asked = [query, "-W", "-f", "${Version}", package]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout


JUDGES = Path(__file__).parents[2] / "build" / "judges" / "bin"
"""The programs of an environment for software that does not fit beside ours: Open MPI, and SimGrid of PyPI."""

PYTHONS = (str(JUDGES / "python"), "/usr/bin/python3")
"""The Pythons of PyPI's and of Debian's SimGrid."""


def require_module(python: str, name: str, packages: str) -> None:
    """Skip the test if a Python does not have a module."""
    command = [python, "-c", f"import {name}"]
    if shutil.which(python) is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip(f"{name} is missing in {Path(python).parent.parent.name}; {packages}")


def programs(names: Iterable[str], folder: Path, how: str) -> dict[str, Path]:
    """Return the paths of programs in a folder or, if they are not there, in the system; skip the test without one."""
    found = {}
    for name in names:
        path = shutil.which(name, path=f"{folder}:/usr/local/bin:/usr/bin")
        if path is None:
            pytest.skip(f"{name} is missing; {how}")
        found[name] = Path(path)
    return found


def compiled(text: str, folder: Path) -> Path:
    """Return the shared library of a text in C; skip the test without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("cc is missing; apt-get install gcc")
    source, library = folder / "recorder.c", folder / "recorder.so"
    source.write_text(text)
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    return library
