"""The kinds of files that commands read and write, and what a reader says of a file of another kind."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from forestcoll.base.errors import InputError


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of files.

    Attributes:
        name: what it is, with its article.
        use: how to use it.
    """

    name: str
    use: str


NETWORK = FileKind("a network", "give it as TOPOLOGY, as in 'forestcoll optimum FILE'")
SCHEDULE = FileKind("a schedule", "use it as in 'forestcoll verify FILE' or 'forestcoll export FILE'")
PROGRAM = FileKind("a program for a runtime", "use it as in 'forestcoll verify FILE'")
TUNING = FileKind("the manifest of a tuning", "name one of the schedules or programs that it lists")
FAILOVER = FileKind("the manifest of a failover set", "name one of the schedules that it lists")
PROFILE = FileKind("a profile of a model", "use it as in 'forestcoll train-time FILE TOPOLOGY'")
COSTS = FileKind("a file of costs", "use it as in 'forestcoll simulate SCHEDULE --costs FILE'")
MEASUREMENTS = FileKind("a file of measurements", "use it as in 'forestcoll import FILE -o NETWORK'")
CUDA_TABLE = FileKind("a table for CUDA tensors", "use it as in 'FORESTCOLL_CUDA=auto FORESTCOLL_CUDA_TABLE=FILE'")
LOG = FileKind("a log of NCCL or nccl-tests", "use it as in 'forestcoll explain TOPOLOGY --measured FILE'")
PIECES = FileKind("a file of pieces", "use it as in 'forestcoll generate TOPOLOGY --demand FILE'")

TE_CCL = FileKind("a schedule of TE-CCL", "use it as in 'forestcoll compare TOPOLOGY --against FILE'")

_BY_FORMAT = {
    "forestcoll.topology/1": NETWORK,
    "forestcoll.schedule/1": SCHEDULE,
    "forestcoll.steps/1": SCHEDULE,
    "forestcoll.flows/1": SCHEDULE,
    "forestcoll.broadcast-series/1": SCHEDULE,
    "forestcoll.bundle/1": SCHEDULE,
    "forestcoll.tuning/1": TUNING,
    "forestcoll.failover/1": FAILOVER,
    "forestcoll.profile/1": PROFILE,
    "forestcoll.costs/1": COSTS,
    "forestcoll.measurements/1": MEASUREMENTS,
    "forestcoll.demand/1": PIECES,
    "forestcoll.cuda/1": CUDA_TABLE,
}
"""The kinds of JSON files by their mark "format"."""

_TEXTS = (
    (re.compile(r"<algo\b"), PROGRAM),
    (re.compile(r"^num_ranks [0-9]", re.MULTILINE), PROGRAM),
    (re.compile(r'"gpus"\s*:\s*\['), PROGRAM),
    (re.compile(r"<(?:system|topology|graphml)\b"), NETWORK),
    (re.compile(r'^[\s#]*nThread \d+ nGpus \d| NCCL INFO |"busBw"\s*:', re.MULTILINE), LOG),
)
"""What the beginnings of texts hold: MSCCL XML, GOAL, plans of MSCCL++, networks in XML, and logs."""

_LOOKED_AT = 4096
"""The characters at the beginning of a text that tell its kind."""


def kind_of(document: Mapping[str, object]) -> FileKind | None:
    """Return the kind of a JSON object; None if it has no mark of a kind.

    Example:
        >>> kind_of({"format": "forestcoll.steps/1"}).name
        'a schedule'
    """
    graph = document.get("graph")
    marks = (document.get("format"), graph.get("format") if isinstance(graph, Mapping) else None)
    known = next((_BY_FORMAT[mark] for mark in marks if isinstance(mark, str) and mark in _BY_FORMAT), None)
    if known is None and "7-Flows" in document:
        return TE_CCL
    if known is None and "average_bus_bandwidth" in document:
        return LOG
    return PROGRAM if known is None and "gpus" in document else known


def kind_of_text(text: str) -> FileKind | None:
    """Return the kind of a text that is not one JSON object; None if it is not known.

    Example:
        >>> kind_of_text('<algo name="ring">').name
        'a program for a runtime'
    """
    start = text[:_LOOKED_AT]
    return next((kind for pattern, kind in _TEXTS if pattern.search(start)), None)


def check_kind(document: Mapping[str, object], wanted: FileKind, where: str) -> None:
    """Check that a JSON object is not of another kind than `wanted`.

    Args:
        document: the object.
        wanted: the kind that the caller reads.
        where: the file, for the message.

    Raises:
        InputError: it is; the message says what the file is, and how to use it.

    Example:
        >>> check_kind({"gpus": []}, SCHEDULE, "plan.json")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: plan.json: is a program for a runtime, not a schedule; use it as in \
'forestcoll verify FILE'
    """
    found = kind_of(document)
    if found is not None and found is not wanted:
        raise InputError(f"{where}: is {found.name}, not {wanted.name}; {found.use}")
