"""Other builds of the compiled modules, for sanitizers and coverage."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

VARIABLES = {"_native": "FORESTCOLL_CORE", "_schedules": "FORESTCOLL_SCHEDULES", "_runtime": "FORESTCOLL_ENGINE"}
"""The variable that names a build of each module, for the plugin `tests/common/sanitized.py`."""

CORE_TESTS = (
    "kernels", "solver/forests", "solver/generation", "solver/allreduce", "algorithms/test_random_networks.py",
    "simulation",
)  # fmt: skip
SCHEDULE_TESTS = ("schedule", "verification/trees", "programs/interpreter")
RUNTIME_TESTS = ("runtime",)


def build(name: str, *options: str, modules: Sequence[str] = tuple(VARIABLES)) -> dict[str, str]:
    """Build modules in build/NAME, and return the variables that name them."""
    folder, binaries = Path("build", name).absolute(), Path(sys.executable).parent
    print(f"== Building {', '.join(modules)} in {folder.name}", flush=True)
    cmake = [str(binaries / "cmake"), "-S", ".", "-B", str(folder), "-G", "Ninja"]
    cmake += [f"-DCMAKE_MAKE_PROGRAM={binaries / 'ninja'}", f"-DPython_EXECUTABLE={sys.executable}"]
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    )
    cmake += [f"-Dnanobind_DIR={nanobind.stdout.strip()}", *options]
    subprocess.run(cmake, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake[0], "--build", str(folder), "--target", *modules], check=True, stdout=subprocess.DEVNULL)
    return {VARIABLES[module]: str(next(folder.glob(f"{module}*.so"))) for module in modules}


def test(suite: Sequence[str], variables: Mapping[str, str], *options: str) -> int:
    """Run tests with other builds of the modules, and return the exit status."""
    environment = os.environ | {"PYTHONPATH": f"src{os.pathsep}tests/common"} | dict(variables)
    paths = [f"tests/{each}" for each in suite]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "sanitized", *options, *paths]
    return subprocess.run(command, check=False, env=environment).returncode
