"""`forestcoll.steps/1`: a step schedule as a JSON document and as a file.

The document lists the steps in order. The optional key `phases` says what an allreduce does at each step:
`[{"op": "reduce", "steps": 3}, {"op": "broadcast", "steps": 3}]`. Without this key, an allreduce reduces in the first
half of its steps. If shards are not equal, `shards` gives the part of the data of each node. In an all-to-all, the
shard of a node is its whole buffer. If a transfer crosses more than one link, its key `route` is an index in the
table `routes`. The reader checks types and ranges. It does not check that the schedule is correct; `verify` does.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import cast

import numpy as np

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.base.exact import MAX_RESULT_DIGITS, WrittenFloat, json_text, to_fraction
from forestcoll.base.json_parts import integer_of, list_of, name_of, numbers_below, object_of, rational_of, require
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.schedule.document_parts import (
    bound_document,
    bound_in,
    check_format,
    collective_in,
    ranks_in,
    shards_document,
    shards_in,
    symmetry_document,
    symmetry_in,
    topology_in,
)
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.rows_text import row_texts
from forestcoll.schedule.steps.scanning import scanned_steps
from forestcoll.schedule.steps.value import NO_ROUTE, StepPhase, StepSchedule, Transfers
from forestcoll.topology import topology_to_document

FORMAT = "forestcoll.steps/1"

BLOCK_TRANSFERS = 2**14
"""The number of transfers that are converted to text at a time."""

_KEYS = ("shard", "interval", "source", "target")


def text_of(schedule: StepSchedule) -> Iterator[str]:
    """Yield the pieces of the JSON text of `schedule`, one line for each transfer; equal schedules give equal texts."""
    head: dict[str, object] = {
        "format": FORMAT,
        "collective": schedule.collective.value,
        "topology": topology_to_document(schedule.topology),
    }
    if schedule.algbw is not None:
        head["algbw"] = str(schedule.algbw)
    head |= bound_document(schedule)
    if schedule.shards is not None:
        head["shards"] = shards_document(schedule)
    if schedule.ranks is not None:
        head["ranks"] = list(schedule.ranks)
    head |= symmetry_document(schedule.symmetry)
    if len(schedule.phases) > 1:
        head["phases"] = [{"op": each.op.value, "steps": each.transfers.steps} for each in schedule.phases]
    yield json_text(head)[:-1]
    if len(schedule.routes):
        yield ',\n"routes": ['
        for text in row_texts(schedule.routes):
            yield text.decode()
        yield "]"
    yield ',\n"steps": ['
    before = "\n[\n"
    for phase in schedule.phases:
        points = [f'"{point}"' for point in phase.transfers.points]
        for begin, end in pairwise(phase.transfers.starts.tolist()):
            yield before
            yield from _step_texts(phase.transfers, points, begin, end)
            yield "]"
            before = ",\n[\n"
    yield "\n]}\n"


def _step_texts(sent: Transfers, points: Sequence[str], begin: int, end: int) -> Iterator[str]:
    for first in range(begin, end, BLOCK_TRANSFERS):
        rows = slice(first, min(first + BLOCK_TRANSFERS, end))
        columns = (sent.shards, sent.lows, sent.highs, sent.sources)
        lines = [
            f'{{"shard": {shard}, "interval": [{points[low]}, {points[high]}], "source": {source}, "target": {rest}'
            for shard, low, high, source, rest in zip(
                *(each[rows].tolist() for each in columns), _endings(sent, rows), strict=True
            )
        ]
        yield ",\n".join(lines) + (",\n" if rows.stop < end else "")


def _endings(sent: Transfers, rows: slice) -> list[str]:
    """Return the text of each transfer from its target on."""
    targets = sent.targets[rows].tolist()
    if sent.routes is None:
        return [f"{target}}}" for target in targets]
    pairs = zip(targets, sent.routes[rows].tolist(), strict=True)
    return [f"{target}}}" if route == NO_ROUTE else f'{target}, "route": {route}}}' for target, route in pairs]


def scanned(text: bytes | bytearray, where: str) -> StepSchedule | None:
    """Return the step schedule in `text`, the content of a file, if `text_of` writes exactly the same bytes; else None.

    This takes a fraction of the time and the memory of `from_document`.
    """
    found = scanned_steps(text)
    if found is None:
        return None
    try:
        head = json.loads(found.head, parse_float=WrittenFloat, parse_constant=WrittenFloat)
    except (ValueError, RecursionError):
        return None
    sent = found.transfers
    if not isinstance(head, dict) or head.get("format") != FORMAT or "steps" in head:
        return None
    try:
        schedule = _schedule(head, sent.steps, lambda some, *_: sent.only(some), where)
    except InputError:  # or there are steps without transfers, which are not seen here: `from_document` decides
        return None
    nodes = len(schedule.topology.nodes)
    is_outside = any(column.max(initial=0) >= nodes for column in (sent.shards, sent.sources, sent.targets))
    if is_outside or (sent.routes is not None and sent.routes.max() >= len(schedule.routes)):
        return None
    return schedule if _is_text_of(schedule, text) else None


def _is_text_of(schedule: StepSchedule, text: bytes | bytearray) -> bool:
    """Return whether `text` is what `text_of` writes for `schedule`."""
    place = 0
    for piece in text_of(schedule):
        data = piece.encode()
        if text[place : place + len(data)] != data:
            return False
        place += len(data)
    return place == len(text)


def from_document(document: Mapping[str, object], where: str) -> StepSchedule:
    """Return the step schedule that a JSON object describes; `where` begins every error message.

    Raises:
        InputError: the document breaks the format; the message names the place and the value.
    """
    check_format(document, FORMAT, where)
    require(document, ("steps",), f"{where}:", "a step schedule")
    steps = document["steps"]
    if not isinstance(steps, list):
        raise InputError(f"{where}: steps is {shown(steps)}; expected a list of steps")
    return _schedule(
        document,
        len(steps),
        lambda some, nodes, routes: _transfers(
            steps[some.start : some.stop], nodes, routes, f"{where}: steps", some.start
        ),
        where,
    )


def _schedule(
    document: Mapping[str, object], steps: int, transfers: Callable[[range, int, int], Transfers], where: str
) -> StepSchedule:
    """Return the schedule that a JSON object describes.

    Args:
        document: the object; its steps are not read here.
        steps: the number of steps.
        transfers: returns the transfers of a range of steps, for the numbers of nodes and of routes.
        where: begins every error message.
    """
    require(document, ("collective", "topology"), f"{where}:", "a step schedule")
    collective = collective_in(document, where, (*SCHEDULED, Collective.ALL_TO_ALL))
    topology = topology_in(document, where, connected=document.get("ranks") is None)
    ranks = ranks_in(document, topology, where)
    algbw = document.get("algbw")
    phases = _phases(document.get("phases"), collective, steps, where)
    nodes, routes = len(topology.nodes), _routes(document.get("routes"), len(topology.nodes), f"{where}: routes")
    ends = accumulate((count for _, count in phases), initial=0)
    return StepSchedule(
        topology,
        collective,
        tuple(
            StepPhase(op, transfers(range(begin, end), nodes, len(routes)))
            for (op, _), (begin, end) in zip(phases, pairwise(ends), strict=True)
        ),
        algbw=None if algbw is None else rational_of(algbw, f"{where}: algbw"),
        bound=bound_in(document, collective, topology, where),
        shards=shards_in(document, topology, ranks, where),
        ranks=ranks,
        routes=routes,
        symmetry=symmetry_in(document, topology, where),
    )


def _routes(value: object, nodes: int, where: str) -> Rows:
    """Return the paths of a list of lists of node numbers; no paths if there is no list."""
    rows = [] if value is None else list_of(value, where)
    return Rows.of([numbers_below(row, nodes, f"{where}[{place}]") for place, row in enumerate(rows)])


def _phases(value: object, collective: Collective, steps: int, where: str) -> list[tuple[PhaseOp, int]]:
    """Return the operation and the number of steps of each phase."""
    if value is None:
        return _usual_phases(collective, steps, where)
    if not isinstance(value, list):
        raise InputError(f'{where}: phases is {shown(value)}; expected [{{"op": ..., "steps": ...}}, ...]')
    phases = [_phase(each, f"{where}: phases[{place}]") for place, each in enumerate(value)]
    total = sum(count for _, count in phases)
    if total != steps:
        raise InputError(
            f"{where}: phases have {plural(total, 'step')} in total, and the list has {steps}; make the two equal"
        )
    return phases


def _usual_phases(collective: Collective, steps: int, where: str) -> list[tuple[PhaseOp, int]]:
    if collective is not Collective.ALLREDUCE:
        return [(PhaseOp.REDUCE if collective.only_reduces else PhaseOp.BROADCAST, steps)]
    if steps % 2:
        raise InputError(
            f"{where}: an allreduce of {plural(steps, 'step')}, an odd number, cannot reduce in half of them; add "
            '"phases": [{"op": "reduce", "steps": ...}, {"op": "broadcast", "steps": ...}]'
        )
    return [(PhaseOp.REDUCE, steps // 2), (PhaseOp.BROADCAST, steps // 2)]


def _phase(value: object, where: str) -> tuple[PhaseOp, int]:
    phase = object_of(value, where, '{"op": ..., "steps": ...}')
    op = name_of(phase.get("op"), PhaseOp, f"{where}.op")
    return op, integer_of(phase.get("steps"), f"{where}.steps", least=0)


def _transfers(steps: Sequence[object], nodes: int, routes: int, where: str, first: int) -> Transfers:
    """Read `steps` for these numbers of nodes and routes; the first of them is step number `first` of the file."""
    flat: list[Mapping[str, object]] = []
    lengths = []
    for number, step in enumerate(steps, start=first):
        if not isinstance(step, list):
            raise InputError(f"{where}[{number}] is {shown(step)}; expected a list of transfers")
        for place, transfer in enumerate(step):
            if not isinstance(transfer, Mapping) or not transfer.keys() >= set(_KEYS):
                raise _no_transfer(transfer, f"{where}[{number}][{place}]")
        lengths.append(len(step))
        flat.extend(step)
    starts = row_starts(np.array(lengths, dtype=np.int64))
    reader = _Columns(flat, starts, where, first)
    shards, sources, targets = (reader.numbers(key, nodes) for key in ("shard", "source", "target"))
    points, lows, highs = reader.parts()
    return Transfers(starts, shards, sources, targets, lows, highs, points, reader.routes(routes))


def _no_transfer(value: object, where: str) -> InputError:
    if isinstance(value, Mapping):
        missing = next(key for key in _KEYS if key not in value)
        return InputError(f'{where} has no "{missing}"; a transfer needs {", ".join(_KEYS)}')
    return InputError(f'{where} is {shown(value)}; expected {{"shard": ..., "interval": [...], ...}}')


class _Columns:
    """Reads the columns of transfers: a fast check of all, then, if it fails, a slow search for the wrong one."""

    def __init__(self, transfers: Sequence[Mapping[str, object]], starts: IntArray, where: str, first: int) -> None:
        self._transfers, self._starts, self._where, self._first = transfers, starts, where, first

    def _place(self, transfer: int) -> str:
        step = int(np.searchsorted(self._starts, transfer, side="right")) - 1
        return f"{self._where}[{self._first + step}][{transfer - int(self._starts[step])}]"

    def routes(self, bound: int) -> IntArray | None:
        """Return the numbers of the routes, from 0 to `bound` - 1 or `NO_ROUTE`; None if no transfer has a route."""
        routed = [place for place, transfer in enumerate(self._transfers) if "route" in transfer]
        if not routed:
            return None
        if not bound:
            raise InputError(f"{self._place(routed[0])} has a route, but the file has no table of routes; add one")
        found = np.full(len(self._transfers), NO_ROUTE, dtype=np.int32)
        found[routed] = self.numbers("route", bound, routed)
        return found

    def numbers(self, key: str, bound: int, places: Sequence[int] | None = None) -> IntArray:
        """Return the numbers under `key`, from 0 to `bound` - 1, of all transfers or of those at `places`."""
        chosen = range(len(self._transfers)) if places is None else places
        values = [self._transfers[place][key] for place in chosen]
        numbers = cast("list[int]", values)
        if not set(map(type, values)) <= {int} or min(numbers, default=0) < 0 or max(numbers, default=0) >= bound:
            place = next(p for p, value in enumerate(values) if type(value) is not int or not 0 <= value < bound)
            where = f"{self._place(chosen[place])}.{key}"
            raise InputError(f"{where} is {shown(values[place])}; expected an integer from 0 to {bound - 1}")
        return np.array(numbers, dtype=np.int32)

    def parts(self) -> tuple[tuple[Fraction, ...], IntArray, IntArray]:
        """Return the distinct ends of parts in ascending order, and for each part the indices of its two ends."""
        ends = self._ends()
        values: dict[object, Fraction] = {}
        for place, end in enumerate(ends):
            if end not in values:
                values[end] = self._value(end, place // 2)
        points = tuple(sorted(set(values.values())))
        place_of = {point: place for place, point in enumerate(points)}
        codes = {end: place_of[value] for end, value in values.items()}
        places = np.fromiter(map(codes.__getitem__, ends), dtype=np.int32, count=len(ends))
        return points, places[0::2].copy(), places[1::2].copy()

    def _ends(self) -> list[str]:
        """Return the text of both ends of every part; for a JSON number, the text in the file."""
        ends: list[str] = []
        for place, transfer in enumerate(self._transfers):
            interval = transfer["interval"]
            if not isinstance(interval, list) or len(interval) != 2:
                where = f"{self._place(place)}.interval"
                raise InputError(f'{where} is {shown(interval)}; expected two rationals, such as ["0", "2/3"]')
            ends += (end if type(end) is str else shown(end) for end in interval)
        return ends

    def _value(self, text: str, place: int) -> Fraction:
        try:
            return to_fraction(text, digits=MAX_RESULT_DIGITS)
        except ValueError as error:
            where = f"{self._place(place)}.interval"
            raise InputError(f"{where} contains {shown(text)}, which {error}; write a rational such as '2/3'") from None
