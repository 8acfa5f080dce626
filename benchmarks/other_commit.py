"""The forestcoll of another commit, installed into a temporary environment, to be measured in the same run."""

import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[1]

Python: TypeAlias = tuple[str, ...]
"""The command of a Python, with its options."""


@contextmanager
def installed(commit: str | None) -> Iterator[Python | None]:
    """Yield the Python of an environment with the forestcoll of `commit`; None if `commit` is None.

    The Python is isolated (`-I`), as the environment variable PYTHONPATH may lead to this forestcoll. Packages that
    forestcoll uses have the same versions as here, so that only forestcoll differs. The build downloads its tools, as
    `pip install` does.
    """
    if commit is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _extract(commit, folder / "source")
        subprocess.run([sys.executable, "-m", "venv", folder / "environment"], check=True)
        python = str(folder / "environment" / "bin" / "python")
        words = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", str(folder / "source")]
        subprocess.run([*words, *_pinned()], check=True)
        yield (python, "-I")


def _extract(commit: str, folder: Path) -> None:
    archive = folder.with_suffix(".tar")
    subprocess.run(["git", "-C", ROOT, "archive", "--output", archive, commit], check=True)  # noqa: S607 (git of the user)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def _pinned() -> list[str]:
    """Return the packages that forestcoll needs, each with the version of this environment."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = [requirement.partition(">")[0] for requirement in needed]
    return [f"{name}=={metadata.version(name)}" for name in names]
