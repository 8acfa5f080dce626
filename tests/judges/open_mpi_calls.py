"""Runs as each rank of a job of Open MPI: makes the calls in a file, and prints which functions they would run.

A document is `{"recorder": path or null, "calls": [[collective, ranks, bytes of M], ...]}`. With a recorder, which
stands before the functions of the algorithms and only notes their names, each call is made on a communicator that
claims to have so many ranks; the answers are one line of JSON. Without one, the calls are made on all ranks.
"""

import ctypes
import json
import sys
from pathlib import Path

PLACE_OF_SIZE = 16
"""The place of the number of processes in a group, after the reference count of the object."""

FUNCTIONS = {
    "allgather": "MPI_Allgather",
    "allreduce": "MPI_Allreduce",
    "reduce-scatter": "MPI_Reduce_scatter_block",
    "all-to-all": "MPI_Alltoall",
}


def main() -> None:
    """Make the calls."""
    asked = json.loads(Path(sys.argv[1]).read_text())
    mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    mpi.MPI_Init(None, None)
    world, byte, total = (
        ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, f"ompi_mpi_{name}")))
        for name in ("comm_world", "byte", "op_bor")
    )
    group, rank = ctypes.c_void_p(), ctypes.c_int()
    mpi.MPI_Comm_group(world, ctypes.byref(group))
    mpi.MPI_Comm_rank(world, ctypes.byref(rank))
    size = ctypes.c_int.from_address((group.value or 0) + PLACE_OF_SIZE)
    real = size.value
    recorder = ctypes.CDLL(asked["recorder"]) if asked["recorder"] else None
    most = max(each[2] for each in asked["calls"]) if recorder is None else 1
    sent, received = ctypes.create_string_buffer(most), ctypes.create_string_buffer(most)
    answers = []
    for collective, ranks, data in asked["calls"]:
        count = data if collective == "allreduce" else data // ranks
        block = (count, byte)
        more = {"allreduce": total, "reduce-scatter": total}.get(collective)
        arguments = (sent, *block, received, *block) if more is None else (sent, received, *block, more)
        if recorder is not None:
            recorder.forget()
            recorder.recorded.restype = ctypes.c_char_p
            size.value = ranks
        if getattr(mpi, FUNCTIONS[collective])(*arguments, world):
            sys.exit(f"{collective} failed")
        size.value = real
        if recorder is not None:
            answers.append(recorder.recorded().decode())
    if rank.value == 0 and recorder is not None:
        print(json.dumps(answers))
    mpi.MPI_Finalize()


if __name__ == "__main__":
    main()
