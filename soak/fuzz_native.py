"""Fuzz the native code that reads schedules, verifies trees and finds cuts, with clang's libFuzzer.

Inputs that reach new lines are kept in build/fuzz-native, so that the next run continues with them.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

FUZZERS = sorted(path.stem for path in Path("native/fuzz").glob("*.cpp"))
FOLDER = Path("build/fuzz-native")
FLAGS = "-std=c++20 -O1 -g -Wall -Wextra -fno-sanitize-recover=undefined -Inative -fsanitize=fuzzer,address,undefined"
FIRST_INPUTS = {"rows": "[0, 16, 1], [0,17]"}


def fuzzed(compiler: str, name: str, seconds: int) -> bool:
    """Build a fuzzer, run it, print the end of its output, and return whether it found nothing."""
    inputs, program, log = FOLDER / "inputs" / name, FOLDER / name, FOLDER / f"{name}.log"
    inputs.mkdir(parents=True, exist_ok=True)
    (inputs / "first").write_text(FIRST_INPUTS.get(name, ""))
    print(f"== Fuzzing native/fuzz/{name}.cpp for {seconds} seconds", flush=True)
    subprocess.run([compiler, *FLAGS.split(), f"native/fuzz/{name}.cpp", "-o", str(program)], check=True)
    limits = [f"-max_total_time={seconds}", "-timeout=10", "-max_len=1024", "-print_final_stats=1"]
    with log.open("wb") as output:
        command = [str(program), *limits, f"-artifact_prefix={FOLDER / name}-", str(inputs)]
        status = subprocess.run(command, check=False, stdout=output, stderr=subprocess.STDOUT).returncode
    print("\n".join(log.read_text(errors="replace").splitlines()[-6 if status == 0 else -40 :]))
    return status == 0


def main() -> None:
    """Run the fuzzers one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuzzers", nargs="*", help=f"of {', '.join(FUZZERS)}; all by default")
    parser.add_argument("--seconds", type=int, default=60, help="the time for each")
    given = parser.parse_args()
    compiler = shutil.which("clang++")
    if compiler is None:
        sys.exit("needs clang with libFuzzer; on Debian 12: apt install clang libclang-rt-14-dev")
    sys.exit(0 if all(fuzzed(compiler, name, given.seconds) for name in given.fuzzers or FUZZERS) else 1)


if __name__ == "__main__":
    main()
