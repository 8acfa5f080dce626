"""Logs as nccl-tests and rccl-tests print them, made from figures."""

from collections.abc import Callable

HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"""

FACTORS: dict[str, Callable[[int], float]] = {
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "broadcast": lambda _: 1,
    "reduce": lambda _: 1,
    "sendrecv": lambda _: 1,
}
REDUCTIONS = {"all_reduce", "reduce_scatter", "reduce", "sendrecv"}
ROOTED = {"broadcast", "reduce"}


def row(test: str, size: int, algbw: float, ranks: int, *, wrong: str = "0", root: int = 0) -> str:
    """One row; both results have the same algbw in GB/s."""
    time = size / algbw / 1000
    result = f"{time:9.1f} {algbw:7.2f} {algbw * FACTORS[test](ranks):7.2f} {wrong:>6}"
    operation = "sum" if test in REDUCTIONS else "none"
    where = root if test in ROOTED else -1
    return f"{size:12} {size // 4:13} {'float':>9} {operation:>7} {where:7} {result} {result}"


def devices(ranks: int, *, group: bool = True) -> str:
    """The lines that list the devices, eight to a host."""
    part = " Group  0" if group else ""
    return "\n".join(
        f"#  Rank {each:2}{part} Pid {1000 + each:6} on  host{each // 8} device {each % 8:2} [0x{each:02x}] NVIDIA A100"
        for each in range(ranks)
    )


def log(test: str, figures: dict[int, float], ranks: int = 16, *, named: bool = True, listed: bool = True) -> str:
    """A log of one test, from its algbw by size."""
    lines = ["# nccl-tests version 2.17.1 nccl-headers=22705 nccl-library=22705"] if named else []
    lines += [f"# Collective test starting: {test}_perf"] if named else []
    lines += ["# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20", "#"]
    lines += ["# Using devices", *([devices(ranks)] if listed else []), "#", HEADER]
    lines += [row(test, size, algbw, ranks) for size, algbw in figures.items()]
    lines += ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 100.0", "#"]
    return "\n".join(lines) + "\n"
