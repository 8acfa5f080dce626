"""The version of the package, which `pyproject.toml` takes from here, and the build of its native core."""

from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"
"""The version of the package."""


def native_build() -> str:
    """Return how the native core was built: the compiler, the system and the kind of build. The core is not loaded."""
    found = find_core()
    if found is None or found.origin is None:
        return "not installed"
    core = Path(found.origin)
    try:
        build = core.with_name("_native_build.txt").read_text(encoding="utf-8").strip()
    except OSError:
        build = "of an unknown build"
    return f"{build}, stable ABI" if ".abi3." in core.name else build


def find_core() -> ModuleSpec | None:
    """Return where the native core is installed, without importing its package, which would load it."""
    package = find_spec("forestcoll")
    folders = package.submodule_search_locations if package is not None else None
    return PathFinder.find_spec("_native", [str(Path(folder) / "kernels") for folder in folders or ()])
