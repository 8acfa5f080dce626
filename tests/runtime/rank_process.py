"""One rank of a group in a process of its own: runs allreduces until something fails, and prints what failed.

Arguments: the store's address, rank, number of ranks, timeout, and how many seconds to run.
"""

import sys
import time

import numpy as np

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import CommunicationError
from forestcoll.runtime import Communicator, TcpStore


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def main() -> None:
    address, rank, ranks, timeout, seconds = sys.argv[1], int(sys.argv[2]), *map(float, sys.argv[3:])
    store = TcpStore(address, rank=rank + 1)
    schedule = generate(f"ring:nodes={int(ranks)}", "allreduce")
    group = Communicator([schedule], rank=rank, store=store, timeout=timeout)
    end, data = time.monotonic() + seconds, np.ones(100_000, dtype=np.float32)
    group.allreduce(data).wait()
    store.set(f"running/{rank}", b"1")
    try:
        while time.monotonic() < end:
            total = group.allreduce(data).wait()
            if total is None or not (total == ranks).all():
                say("wrong data")
                return
        say("no fault")
    except CommunicationError as error:
        say(time.time(), error)
    before = time.monotonic()
    group.close()
    if time.monotonic() - before > 10:
        say("close took too long")


if __name__ == "__main__":
    main()
