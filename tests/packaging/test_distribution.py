"""The source distribution, the metadata, and what the build says without a compiler."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

import forestcoll

ROOT = Path(__file__).parents[2]

needs_build_tools = pytest.mark.skipif(
    importlib.util.find_spec("scikit_build_core") is None, reason="scikit-build-core is not installed; make setup does"
)
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_the_same_everywhere() -> None:
    version = forestcoll.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_wheels_are_those_that_the_documents_name() -> None:
    settings = project()["tool"]
    assert settings["scikit-build"]["wheel"]["py-api"] == "cp312"
    assert settings["cibuildwheel"]["build"] == "cp311-* cp312-*"


def built(folder: Path) -> Path:
    words = [sys.executable, "-c", "import sys, scikit_build_core.build as b; b.build_sdist(sys.argv[1])", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, env=environment, timeout=120)  # noqa: S603 (our own command)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.mark.slow  # half a minute
@needs_build_tools
def test_two_source_distributions_have_the_same_bytes_and_all_that_a_build_needs(tmp_path: Path) -> None:
    one, other = (built(tmp_path / name) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    with tarfile.open(one) as archive:
        names = {re.sub(r"^[^/]*/", "", name) for name in archive.getnames()}
    needed = {"CMakeLists.txt", "LICENSE", "README.md", "PKG-INFO", "native/bindings/kernels.cpp", "pyproject.toml"}
    assert (
        needed | {"src/forestcoll/__init__.py", "src/forestcoll/presentation/pages/report.css", "CITATION.cff"} <= names
    )
    assert not [name for name in names if name.endswith(".so") or name.startswith(("build/", ".ci"))]


@needs_cmake
@pytest.mark.skipif(os.name != "posix", reason="PATH and links of POSIX")
def test_without_a_compiler_the_build_says_what_to_install(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cmake", "ninja", "make", "uname", "sh"):
        if (found := shutil.which(name)) is not None:
            (tools / name).symlink_to(found)
    cmake = shutil.which("cmake")
    assert cmake is not None
    done = subprocess.run(  # noqa: S603 (our own command)
        [cmake, "-S", str(ROOT), "-B", str(tmp_path / "build")],
        env={"PATH": str(tools), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    for advice in (
        "needs a C++20 compiler",
        "apt install g++ python3-dev",
        "dnf install gcc-c++ python3-devel",
        "xcode-select --install",
    ):
        assert advice in done.stderr


@needs_cmake
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler is installed")
def test_without_the_headers_of_python_the_build_says_what_to_install(tmp_path: Path) -> None:
    cmake = shutil.which("cmake")
    assert cmake is not None
    words = ["-S", str(ROOT), "-B", str(tmp_path / "build"), f"-DPython_INCLUDE_DIR={tmp_path / 'none'}"]
    done = subprocess.run(  # noqa: S603 (our own command)
        [cmake, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    for advice in ("needs the header files of Python", "apt install python3-dev", "dnf install python3-devel"):
        assert advice in done.stderr


BINDINGS = ROOT / "native/bindings"


def test_the_bindings_use_no_private_function_of_python() -> None:
    """Python's stable ABI, for which the wheel of Python 3.12 and newer is built, does not declare them all."""
    texts = {path.name: path.read_text() for path in BINDINGS.iterdir()}
    assert {name: re.findall(r"\b_Py\w+", text) for name, text in texts.items()} == {name: [] for name in texts}


def headers_of_python() -> str:
    """Return the folder of the headers of a Python of version 3.12 or newer."""
    say = "import sysconfig; print(sysconfig.get_path('include'))"
    for minor in range(12, 16):
        found = shutil.which(f"python3.{minor}")
        run = found and subprocess.run([found, "-c", say], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
        if run and run.returncode == 0 and (Path(run.stdout.strip()) / "Python.h").is_file():
            return run.stdout.strip()
    pytest.skip("no Python 3.12 or newer with headers is installed")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler is installed")
@pytest.mark.parametrize("source", sorted(path.name for path in BINDINGS.glob("*.cpp")))
def test_the_bindings_compile_with_the_stable_interface_of_python(source: str) -> None:
    nanobind = pytest.importorskip("nanobind")
    includes = [f"-I{each}" for each in (ROOT / "native", headers_of_python(), nanobind.include_dir())]
    words = ["c++", "-std=c++20", "-fsyntax-only", "-DPy_LIMITED_API=0x030C0000", *includes, str(BINDINGS / source)]
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=250)  # noqa: S603
    assert run.returncode == 0, run.stderr
