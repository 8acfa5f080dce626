"""Other software that judges: whether it is installed, and its version; a test without it is skipped and says why."""

import importlib
import importlib.metadata
import shutil
import subprocess
import sys
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


def python_with(name: str, packages: str) -> str:
    """Return a Python that has a module: this one, or that of the system; skip the test without one."""
    for python in (sys.executable, "/usr/bin/python3"):
        if (
            shutil.which(python)
            and not subprocess.run([python, "-c", f"import {name}"], capture_output=True, check=False).returncode
        ):
            return python
    pytest.skip(f"{name} is missing; {packages}")
