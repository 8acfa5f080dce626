"""Runs as each rank of a job of MPICH: makes the calls in a file, and prints what each rank has sent.

A document is `{"recorder": path, "calls": [[collective, bytes of M], ...]}`; the answer has for each call and each rank
the number of messages and of bytes that the recorder counted.
"""

import ctypes
import json
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI


def main() -> None:
    """Make the calls."""
    asked = json.loads(Path(sys.argv[1]).read_text())
    recorder = ctypes.CDLL(asked["recorder"])
    recorder.bytes_sent.restype = ctypes.c_long
    world = MPI.COMM_WORLD
    answers = []
    for collective, data in asked["calls"]:
        count = data // 4
        each = count // world.size
        sent, received = np.zeros(count, dtype=np.float32), np.zeros(count, dtype=np.float32)
        world.Barrier()
        recorder.forget()
        if collective == "allgather":
            world.Allgather(sent[:each], received)
        elif collective == "reduce-scatter":
            world.Reduce_scatter_block(sent, received[:each])
        elif collective == "allreduce":
            world.Allreduce(sent, received)
        else:
            world.Alltoall(sent, received)
        answers.append(world.gather((recorder.messages_sent(), recorder.bytes_sent())))
    if world.rank == 0:
        print(json.dumps(answers))


if __name__ == "__main__":
    main()
