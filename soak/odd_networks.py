"""Check networks with odd numbers for a given time: far slower links, many digits, one-way groups, numbers of trees.

    python soak/odd_networks.py [--minutes 1] [--seed 1]

Goal: no failure. A failure is printed with the words that repeat it: `check NAME SEED`.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from odd_numbers import CHECKS


def fuzz(*, seconds: float, most: int, seed: int) -> tuple[Counter[str], int]:
    """Run each check in turn; return how often each ran, and how many failed.

    Args:
        seconds: the time.
        most: the most checks.
        seed: the seed.
    """
    ends, counts, failures = time.monotonic() + seconds, Counter[str](), 0
    names = list(CHECKS)
    for number in range(most):
        if time.monotonic() > ends:
            break
        name = names[number % len(names)]
        if (problem := problem_of(name, f"{seed}/{number}")) is not None:
            failures += 1
            print(f"check {name!r} {seed}/{number}: {problem}", flush=True)
        counts[name] += 1
    return counts, failures


def problem_of(name: str, seed: str) -> str | None:
    """Return what is wrong in one check, or None."""
    try:
        CHECKS[name](Random(seed))  # noqa: S311 (not for security)
    except Exception as error:  # noqa: BLE001 (any exception is a failure)
        return f"{type(error).__name__} {error}"
    return None


def main() -> None:
    """Run the checks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="duration in minutes")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed; by default the present time")
    given = parser.parse_args()
    counts, failures = fuzz(seconds=given.minutes * 60, most=10**9, seed=given.seed)
    print(", ".join(f"{name}: {count:,}" for name, count in counts.items()), f"failures: {failures}", sep="; ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
