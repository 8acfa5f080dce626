"""Which way each operation took: through the engine, in slots, or through an inner group, and why."""

import logging
from collections import Counter
from dataclasses import dataclass
from threading import Lock

log = logging.getLogger("forestcoll.torch")

ENGINE = "forestcoll"
"""The path of operations that a schedule carries out."""


@dataclass(frozen=True, slots=True, order=True)
class PathCount:
    """How many operations of one kind took one path for one reason.

    Attributes:
        group: the name of the process group; `0` is the default group.
        operation: what was called, such as `all_reduce`.
        path: `forestcoll` for the engine, `two-level` or `slots` for CUDA tensors, or the inner group: `gloo`, `nccl`.
        reason: why an inner group was used; else the name of the schedule.
        count: how often.
    """

    group: str
    operation: str
    path: str
    reason: str
    count: int


class PathCounter:
    """Counts the operations of one group by path, and writes a debug line for each."""

    def __init__(self, group: str) -> None:
        self._group, self._counts, self._lock = group, Counter[tuple[str, str, str]](), Lock()

    def add(self, operation: str, path: str, reason: str, size: int) -> None:
        """Count one operation on data of `size` bytes."""
        with self._lock:
            self._counts[operation, path, reason] += 1
        log.debug("group %s: %s of %d bytes by %s: %s", self._group, operation, size, path, reason)

    def counts(self) -> tuple[PathCount, ...]:
        """Return all counts, sorted."""
        with self._lock:
            return tuple(PathCount(self._group, *key, count) for key, count in sorted(self._counts.items()))
