"""Run a command that takes long, and say every few seconds what it does: `progress.py TITLE CPU_SECONDS COMMAND...`.

The output of the command goes to build/TITLE.log; it is printed if the command fails. CPU_SECONDS is what the command
usually takes on one core, so that the first line can say how long it will take on this machine.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

EVERY = 5
"""Seconds between two lines."""

STEP = re.compile(r"(\[\d+/\d+\]) Building .* (?:\S*native/|\S*/)(\S+)\.o$|(Downloading) ([\w.]+)-", re.MULTILINE)
"""What is shown of the output: the files that ninja has compiled, and what pip fetches."""


def main() -> int:
    """Run the command, and return its exit status."""
    title, seconds, *command = sys.argv[1:]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    print(f"== {title} (about {float(seconds) / min(cores, 4):.0f} s on a quiet machine)", flush=True)
    log = Path("build", title.replace(" ", "-").lower() + ".log")
    log.parent.mkdir(exist_ok=True)
    began = time.monotonic()
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        while True:
            try:
                status = process.wait(timeout=EVERY)
                break
            except subprocess.TimeoutExpired:
                steps = [" ".join(filter(None, each)) for each in STEP.findall(log.read_text(errors="replace"))]
                print(f"   {time.monotonic() - began:3.0f} s  {steps[-1] if steps else ''}".rstrip(), flush=True)
            except KeyboardInterrupt:
                process.terminate()
                return 130
    if status != 0:
        sys.stderr.write(log.read_text(errors="replace"))
    return status


if __name__ == "__main__":
    sys.exit(main())
