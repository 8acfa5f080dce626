"""Create the virtual environment of the Makefile, or print what is to be installed into it.

`environment.py .venv` creates an environment after a look at the version of Python.
`environment.py --requirements test` prints a dependency group of pyproject.toml; pip reads groups only since 25.1. The
group `package` has what the package needs. `build` has what an installation needs that is not isolated: it is installed
once, and a rebuild compiles only changed files, because paths stay the same.
"""

import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def create(folder: str) -> None:
    """Create an environment; an older Python, which runs this file too, gets one line."""
    least = re.findall(r'^requires-python = ">=(\d+)\.(\d+)"', PROJECT.read_text(), re.MULTILINE)[0]
    if sys.version_info < tuple(map(int, least)):
        name = ".".join(least)
        sys.exit(
            f"forestcoll needs Python {name} or newer, and '{sys.executable}' is Python {sys.version.split()[0]}; "
            f"choose another one: make PYTHON=/path/to/python{name}"
        )
    print(f"== Creating the virtual environment {folder}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)


def requirements(group: str) -> list[str]:
    """Return the lines of a requirements file."""
    import tomllib  # not in the Pythons that are refused

    project = tomllib.loads(PROJECT.read_text())
    if group == "package":
        return list(project["project"]["dependencies"])
    found: list[str] = list(project["dependency-groups"][group])
    if group == "build":
        found += project["build-system"]["requires"]
    if group == "torch":  # its version exists only as a CPU build
        found.insert(0, f"--extra-index-url {TORCH_INDEX}")
    return found


if __name__ == "__main__":
    if sys.argv[1] == "--requirements":
        print("\n".join(requirements(sys.argv[2])))
    else:
        create(sys.argv[1])
