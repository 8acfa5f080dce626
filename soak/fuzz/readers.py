"""Every reader of files, called in this process: whatever a file holds, it is read or refused in one line."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

from forestcoll import InputError, load_topology, verify
from forestcoll.base.errors import InternalError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.pieces import groups_of_pieces, read_pieces
from forestcoll.demand.matrix import read_matrix
from forestcoll.design.workloads.profile import read_profile
from forestcoll.measurement.fit.tables import read_records
from forestcoll.nccl.job.explained import explain_job
from forestcoll.nccl.reading import read_log
from forestcoll.programs.formats.judging import judge_file
from forestcoll.schedule.files import holds_schedule, read_schedule
from forestcoll.simulation.costs import read_costs
from forestcoll.topology.importers.reading import import_topology
from fuzz.running import MOST_CHARACTERS

_RING = load_topology("ring:nodes=3")
_SPEEDS: dict[str, Any] = dict.fromkeys(("nvlink", "xgmi", "pcie", "nic", "link_bandwidth"), Fraction(25))


def _verified(path: Path) -> None:
    if holds_schedule(path):
        verify(read_schedule(path))


READERS: dict[str, Callable[[Path], object]] = {
    "topology": load_topology,
    "import": lambda path: import_topology(path, **_SPEEDS),
    "schedule": read_schedule,
    "verify": _verified,
    "program": judge_file,
    "log": read_log,
    "job": lambda path: explain_job(path, None),
    "times": lambda path: read_records(path, Collective.ALLREDUCE),
    "demand": lambda path: read_matrix(path, _RING),
    "pieces": lambda path: groups_of_pieces(_RING, read_pieces(path)),
    "costs": read_costs,
    "profile": read_profile,
}
"""The function that reads a file of each kind."""


class TooSlowError(BaseException):
    """A reader did not end within its time limit."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` in the block after a time of the CPU."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def fault_of(reader: str, path: Path, *, seconds: float = 20.0) -> tuple[str | None, bool]:
    """Return what is wrong with a reader on a file, or None, and whether the file was accepted."""
    try:
        with limited(seconds):
            READERS[reader](path)
    except InternalError as error:
        return str(error), False
    except (InputError, NoSolutionError) as error:
        message = str(error)
        bad = "\n" in message or len(message) > MOST_CHARACTERS or not message
        return (f"the message is not one short line: {message[:200]!r}" if bad else None), False
    except TooSlowError:
        return f"no end after {seconds:g} s of CPU time", False
    except Exception as error:  # noqa: BLE001 (every other exception is a fault)
        return f"{type(error).__name__}: {error}", False
    return None, True
