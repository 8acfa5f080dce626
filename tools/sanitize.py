"""Run the tests of the native code with builds for the sanitizers of gcc: `make sanitize`.

AddressSanitizer comes with UndefinedBehaviorSanitizer. Python is not instrumented, so their libraries are preloaded,
and leaks of Python itself are not reported.
"""

import argparse
import os
import subprocess
import sys
from typing import NamedTuple

from native_builds import CORE_TESTS, RUNTIME_TESTS, SCHEDULE_TESTS, build, test


class Part(NamedTuple):
    """A module, the sanitizers, the file that is preloaded, and the tests."""

    module: str
    flags: str
    preloaded: str
    suite: tuple[str, ...]


PARTS = {
    "kernels": Part("_native", "address,undefined", "libasan.so", ("kernels",)),
    "core": Part("_native", "address,undefined", "libasan.so", CORE_TESTS),
    "schedules": Part("_schedules", "address,undefined", "libasan.so", SCHEDULE_TESTS),
    "runtime": Part("_runtime", "address,undefined", "libasan.so", RUNTIME_TESTS),
    "threads": Part("_runtime", "thread", "libtsan.so", RUNTIME_TESTS),
}


def of_compiler(name: str) -> str:
    """Return the path of a file that comes with the compiler."""
    command = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Build and test each part; --capture=sys lets the reports of the sanitizers through."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = [name for name in PARTS if name != "kernels"]
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default (core has kernels)")
    failed = False
    for name in parser.parse_args().parts or every:
        part = PARTS[name]
        folder = f"sanitize-{part.module}-{part.flags.partition(',')[0]}"
        variables = build(
            folder, "-DCMAKE_BUILD_TYPE=Release", f"-DFORESTCOLL_SANITIZE={part.flags}", modules=[part.module]
        )
        variables |= {
            "ASAN_OPTIONS": "detect_leaks=0",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "TSAN_OPTIONS": "exitcode=66",
            "LD_PRELOAD": f"{of_compiler(part.preloaded)} {of_compiler('libstdc++.so')}",
        }
        failed |= test(part.suite, variables, "--capture=sys", "--ignore=tests/runtime/emulation") != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
