"""Runs programs for MSCCL on GPUs with NCCL's interface, and compares every element with the result of the collective.

    python benchmarks/gpu/msccl_files.py --nccl libnccl.so PROGRAM.xml... [--sizes 64K,4M,32M] [--dtypes float32]

Needs cupy and a library of NCCL that loads all files in `MSCCL_ALGO_DIR`: Azure/msccl-executor-nccl or RCCL. Each
rank is a process. Rank r uses GPU r modulo the number of GPUs. If there are fewer GPUs than ranks, each rank has a
host name of its own (`NCCL_HOSTID`), and data goes through sockets: that shows whether a program is right, and its
times say nothing. A call counts as wrong if NCCL used an algorithm of its own; its log has a line for each such call.
Prints a row for each file, size and type, and exits with 1 if a row is wrong.
"""

import argparse
import ctypes
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from measuring import HEADER, Case, Ends, Outcome, check_usage, outcome, run, size_of

NAMES = {"reduce_scatter": "reducescatter"}
TYPES = {"int32": 2, "float16": 6, "float32": 7}  # ncclDataType_t
ELEMENT_BYTES = 4
SUM, ROOT = 0, 0


class UniqueId(ctypes.Structure):
    """`ncclUniqueId`."""

    _fields_ = (("internal", ctypes.c_byte * 128),)


def main() -> None:
    """Run each file in processes of its own: the library reads its folder once."""
    options = _options()
    print(HEADER)
    right = [_run(Path(path).absolute(), options) for path in options.programs]
    sys.exit(0 if all(right) else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", help="programs in MSCCL XML")
    parser.add_argument("--nccl", required=True, help="the shared object of NCCL, libnccl.so")
    parser.add_argument("--sizes", default="64K,4M,32M", help="bytes of the whole vector")
    parser.add_argument("--dtypes", default="float16,float32", help="types of elements: float16, float32, int32")
    parser.add_argument("--limit", type=float, default=60, help="seconds to wait for a rank")
    options = parser.parse_args()
    check_usage(parser, [*options.programs, options.nccl], "cupy")
    return options


def _run(path: Path, options: argparse.Namespace) -> bool:
    algorithm = ElementTree.parse(path).getroot()  # noqa: S314 (a file of the user)
    name, ranks = algorithm.get("coll", ""), int(algorithm.get("ngpus", "0"))
    chunks, least, most = (int(algorithm.get(key, "0")) for key in ("nchunksperloop", "minBytes", "maxBytes"))
    cases = [
        Case(str(path), NAMES.get(name, name), ranks, algorithm.get("outofplace") == "0", size, dtype)
        for size in map(size_of, options.sizes.split(","))
        if size % (chunks * ELEMENT_BYTES) == 0 and least <= size <= (most or size)
        for dtype in options.dtypes.split(",")
    ]
    if not cases:
        print(f"{path.name}: no size matches")
        return True
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / path.name).symlink_to(path)
        return run(ranks, cases, _rank, (folder, cases, options), options.limit)


def _rank(rank: int, ends: Ends, folder: str, cases: list[Case], options: argparse.Namespace) -> None:
    """Run the calls of a file as one rank."""
    import cupy

    gpus, ranks = cupy.cuda.runtime.getDeviceCount(), cases[0].ranks
    cupy.cuda.Device(rank % gpus).use()
    log = Path(f"{folder}.{rank}")
    os.environ.update(MSCCL_ALGO_DIR=folder, NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="COLL", NCCL_DEBUG_FILE=str(log))
    if gpus < ranks:
        os.environ.update(NCCL_HOSTID=f"rank{rank}", NCCL_SOCKET_IFNAME="lo", NCCL_NET="Socket", NCCL_SHM_DISABLE="1")
    nccl = ctypes.CDLL(options.nccl)
    nccl.ncclGetErrorString.restype = ctypes.c_char_p
    communicator = ctypes.c_void_p()
    unique = _address(nccl, rank, ends, ranks, options.limit)
    _check(nccl, nccl.ncclCommInitRank(ctypes.byref(communicator), ranks, unique, rank))
    most = max(case.size for case in cases)
    memory = [cupy.empty(most, dtype=cupy.uint8) for _ in range(2)]
    for case in cases:
        before = _own_calls(log)
        found = outcome(cupy, case, rank, memory, _Call(nccl, communicator, case, cupy.cuda.Stream(non_blocking=True)))
        is_other = _own_calls(log) > before
        other = Outcome(is_right=False, text="NCCL used an algorithm of its own")
        ends.outcomes.put((case, other if is_other else found))
    log.unlink(missing_ok=True)


def _address(nccl: Any, rank: int, ends: Ends, ranks: int, limit: float) -> UniqueId:
    """Return where the ranks find each other; rank 0 tells the others."""
    if rank:
        return UniqueId.from_buffer_copy(ends.address.get(timeout=limit))
    unique = UniqueId()
    _check(nccl, nccl.ncclGetUniqueId(ctypes.byref(unique)))
    for _ in range(ranks - 1):
        ends.address.put(bytes(unique))
    return unique


def _own_calls(log: Path) -> int:
    """Return how many calls NCCL has run with its own algorithms."""
    return log.read_text().count("opCount") if log.exists() else 0


@dataclass(frozen=True)
class _Call:
    """Calls NCCL, and waits for the end."""

    nccl: Any
    communicator: ctypes.c_void_p
    case: Case
    stream: Any

    def __call__(self, source: Any, target: Any) -> None:
        pointers = ctypes.c_void_p(source.data.ptr), ctypes.c_void_p(target.data.ptr)
        name = {
            "allgather": "ncclAllGather",
            "reducescatter": "ncclReduceScatter",
            "allreduce": "ncclAllReduce",
            "broadcast": "ncclBroadcast",
            "reduce": "ncclReduce",
            "alltoall": "ncclAllToAll",
        }[self.case.collective]
        in_parts = self.case.collective in {"allgather", "reducescatter", "alltoall"}
        count = ctypes.c_size_t(self.case.count // (self.case.ranks if in_parts else 1))
        operation = [SUM] if "reduce" in self.case.collective else []
        root = [ROOT] if self.case.collective in {"broadcast", "reduce"} else []
        rest = (count, TYPES[self.case.dtype], *operation, *root, self.communicator, ctypes.c_void_p(self.stream.ptr))
        _check(self.nccl, getattr(self.nccl, name)(*pointers, *rest))
        self.stream.synchronize()


def _check(nccl: Any, code: int) -> None:
    if code:
        raise RuntimeError(f"NCCL: {nccl.ncclGetErrorString(code).decode()}")


if __name__ == "__main__":
    main()
