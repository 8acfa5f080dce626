"""`forestcoll.schedule/1`: a schedule of trees as a JSON document and as a file.

Reading checks types and ranges, so that a `TreeSchedule` is well formed whoever wrote it; whether it is *right* is for
`verify` to say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from forestcoll.collective import SCHEDULED, PhaseOp, shards_of
from forestcoll.errors import InputError, shown
from forestcoll.exact import MAX_RESULT_DIGITS, json_text, to_fraction
from forestcoll.files import parse_document, read_bytes, write_text
from forestcoll.ranks import require_reach
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.rows_text import row_texts
from forestcoll.schedule.trees.scanning import scanned_document
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Shift, Symmetry, Topology, topology_from_document, topology_to_document

FORMAT = "forestcoll.schedule/1"

_TREE_KEYS = {"root", "share", "routes"}

Name = TypeVar("Name", bound=StrEnum)


def write_schedule(schedule: TreeSchedule, path: Path) -> None:
    """Write `schedule` to `path`, whole or not at all; gzip if its name ends in `.gz`.

    Raises:
        InputError: the file cannot be written.
    """
    write_text(path, schedule_text(schedule))


def schedule_text(schedule: TreeSchedule) -> Iterator[str]:
    """Yield the pieces of the JSON text of `schedule`: the same schedule gives the same characters."""
    head: dict[str, object] = {
        "format": FORMAT,
        "collective": schedule.collective.value,
        "topology": topology_to_document(schedule.topology),
        "algbw": str(schedule.algbw),
    }
    if schedule.optimal_algbw is not None and schedule.cut is not None:
        head |= {"optimal_algbw": str(schedule.optimal_algbw), "certificate": {"cut": list(schedule.cut)}}
    head |= {"trees_per_root": schedule.trees_per_root, "shards": _shards_document(schedule)}
    if schedule.ranks is not None:
        head["ranks"] = list(schedule.ranks)
    if schedule.symmetry is not None:
        head["symmetry"] = [{"order": each.order, "image": each.image.tolist()} for each in schedule.symmetry.shifts]
    yield json_text(head)[:-1]
    yield ',\n"routes": ['
    yield from _joined(row_texts(schedule.routes))
    yield '],\n"phases": ['
    for place, phase in enumerate(schedule.phases):
        yield f'{"," * (place > 0)}\n{{"op": "{phase.op.value}", "trees": [\n'
        yield from _joined(_tree_texts(phase), separator=",\n")
        yield "]}"
    yield "]}\n"


def _shards_document(schedule: TreeSchedule) -> dict[str, str] | None:
    if schedule.shards is None:
        return None
    ids = schedule.topology.ids(schedule.members)
    return {str(id_): str(shard) for id_, shard in zip(ids, schedule.shards, strict=True)}


def _tree_texts(phase: Phase) -> Iterator[str]:
    lists = (routes for text in row_texts(phase.routes) for routes in text[1:-1].split("],["))
    for root, share, routes in zip(phase.roots, phase.shares, lists, strict=True):
        yield f'{{"root": {root}, "share": "{share}", "routes": [{routes}]}}'


def _joined(texts: Iterable[str], separator: str = ",") -> Iterator[str]:
    before = ""
    for text in texts:
        yield before + text
        before = separator


def read_schedule(path: Path) -> TreeSchedule:
    """Return the schedule in the file at `path`, well formed but not verified.

    Raises:
        InputError: the file cannot be read or breaks the format; the message names the file, the place and the
            value.
    """
    text = read_bytes(path)
    document = scanned_document(text)
    if document is None:
        document = parse_document(text, path)
    del text  # as large as all that is made of it
    return schedule_from_document(document, where=str(path))


def schedule_from_document(document: Mapping[str, object], *, where: str) -> TreeSchedule:
    """Return the schedule that a JSON object describes; `where` begins every error message.

    Raises:
        InputError: as `read_schedule` does.
    """
    if "format" not in document:
        raise InputError(f'{where}: has no "format"; expected {FORMAT!r}')
    if document["format"] != FORMAT:
        raise InputError(f"{where}: format is {shown(document['format'])}; expected {FORMAT!r}")
    _require(document, ("collective", "topology", "routes", "phases", "algbw"), f"{where}:")
    collective = _name(document.get("collective"), SCHEDULED, f"{where}: collective")
    topology = topology_from_document(
        _object(document, "topology", where), where=f"{where}: topology", connected=document.get("ranks") is None
    )
    ranks = _ranks(document.get("ranks"), topology, f"{where}: ranks")
    shards = document.get("shards")
    routes = _rows(document.get("routes"), len(topology.nodes), f"{where}: routes")
    phases = tuple(
        _phase(phase, len(topology.nodes), len(routes), f"{where}: phases[{place}]")
        for place, phase in enumerate(_list(document.get("phases"), f"{where}: phases"))
    )
    optimal, cut = _certificate(document, len(topology.nodes), where)
    return TreeSchedule(
        topology=topology,
        collective=collective,
        routes=routes,
        phases=phases,
        algbw=_rational(document.get("algbw"), f"{where}: algbw"),
        optimal_algbw=optimal,
        cut=cut,
        trees_per_root=_tree_count(document.get("trees_per_root"), where),
        symmetry=_symmetry(document.get("symmetry"), len(topology.nodes), f"{where}: symmetry"),
        shards=None
        if shards is None
        else shards_of(topology, shards, ranks=ranks, where=f"{where}: shards", digits=MAX_RESULT_DIGITS),
        ranks=ranks,
    )


def _ranks(value: object, topology: Topology, where: str) -> tuple[int, ...] | None:
    if value is None:
        return None
    ranks = _numbers(value, len(topology.nodes), where)
    seen: set[int] = set()
    for place, node in enumerate(ranks):
        if not topology.nodes[node].is_compute:
            name = shown(topology.nodes[node].id)
            raise InputError(f"{where}[{place}] is the number of switch {name}; only compute nodes take part")
        if node in seen:
            raise InputError(f"{where}[{place}] is {node} again; name each node once")
        seen.add(node)
    if len(ranks) < 2:
        raise InputError(f"{where}: {len(ranks)} named; a collective needs two at least")
    members = tuple(sorted(ranks))
    require_reach(topology, members)
    return members


def _require(document: Mapping[str, object], keys: Iterable[str], where: str) -> None:
    for key in keys:
        if key not in document:
            raise InputError(f'{where} has no "{key}"; a schedule needs it')


def _symmetry(value: object, nodes: int, where: str) -> Symmetry | None:
    if value is None:
        return None
    return Symmetry(tuple(_shift(shift, nodes, f"{where}[{place}]") for place, shift in enumerate(_list(value, where))))


def _shift(value: object, nodes: int, where: str) -> Shift:
    if not isinstance(value, Mapping):
        raise InputError(f'{where} is {shown(value)}; expected {{"order": ..., "image": [...]}}')
    _require(value, ("order", "image"), where)
    order = value.get("order")
    if type(order) is not int or order < 2:
        raise InputError(f"{where}.order is {shown(order)}; expected an integer of 2 or more")
    image = _numbers(value.get("image"), nodes, f"{where}.image")
    if len(image) != nodes:
        raise InputError(f"{where}.image has {len(image)} entries; expected one for each of the {nodes} nodes")
    return Shift(order, np.array(image, dtype=np.int32))


def _phase(phase: object, nodes: int, routes: int, where: str) -> Phase:
    if not isinstance(phase, Mapping):
        raise InputError(f'{where} is {shown(phase)}; expected {{"op": ..., "trees": [...]}}')
    _require(phase, ("op", "trees"), where)
    op = _name(phase.get("op"), PhaseOp, f"{where}.op")
    trees = _list(phase.get("trees"), f"{where}.trees")
    for place, tree in enumerate(trees):
        if not isinstance(tree, Mapping):
            raise InputError(f"{where}.trees[{place}] is {shown(tree)}; expected an object")
        if not tree.keys() >= _TREE_KEYS:
            _require(tree, sorted(_TREE_KEYS), f"{where}.trees[{place}]")
    listed = cast("list[Mapping[str, object]]", trees)
    return Phase(
        op=op,
        roots=tuple(
            _number(tree.get("root"), nodes, f"{where}.trees[{place}].root") for place, tree in enumerate(listed)
        ),
        shares=_shares(listed, where),
        routes=_rows([tree.get("routes") for tree in listed], routes, f"{where}.trees", ".routes"),
    )


def _shares(trees: Sequence[Mapping[str, object]], where: str) -> tuple[Fraction, ...]:
    """Read the share of each tree; the few distinct ones are parsed once."""
    known: dict[object, Fraction] = {}
    shares: list[Fraction] = []
    for place, tree in enumerate(trees):
        value = tree.get("share")
        if not isinstance(value, str) or value not in known:
            share = _rational(value, f"{where}.trees[{place}].share")
            shares.append(share)
            if isinstance(value, str):
                known[value] = share
        else:
            shares.append(known[value])
    return tuple(shares)


def _certificate(
    document: Mapping[str, object], nodes: int, where: str
) -> tuple[Fraction | None, tuple[int, ...] | None]:
    optimal, certificate = document.get("optimal_algbw"), document.get("certificate")
    if optimal is None and certificate is None:
        return None, None
    if optimal is None or certificate is None:
        missing = "optimal_algbw" if optimal is None else "certificate"
        raise InputError(f"{where}: {missing} is missing; optimal_algbw and certificate stand together or not at all")
    if not isinstance(certificate, Mapping):
        raise InputError(f'{where}: certificate is {shown(certificate)}; expected {{"cut": [...]}}')
    _require(certificate, ("cut",), f"{where}: certificate")
    cut = _numbers(certificate.get("cut"), nodes, f"{where}: certificate.cut")
    return _rational(optimal, f"{where}: optimal_algbw"), cut


def _tree_count(value: object, where: str) -> int | None:
    if value is None or (type(value) is int and value > 0):
        return value
    raise InputError(f"{where}: trees_per_root is {shown(value)}; expected a positive integer or null")


def _object(document: Mapping[str, object], key: str, where: str) -> Mapping[str, object]:
    value = document.get(key)
    if not isinstance(value, Mapping):
        raise InputError(f"{where}: {key} is {shown(value)}; expected an object")
    return cast("Mapping[str, object]", value)


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise InputError(f"{where} is {shown(value)}; expected a list")
    return value


def _rational(value: object, where: str) -> Fraction:
    try:
        return to_fraction(value, digits=MAX_RESULT_DIGITS)
    except ValueError as error:
        raise InputError(f"{where} {shown(value)} {error}; write a rational such as '1/48'") from None


def _name(value: object, names: Iterable[Name], where: str) -> Name:
    known = {name.value: name for name in names}
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise InputError(f"{where} is {shown(value)}; this version knows {listed}")
    return known[value]


def _number(value: object, bound: int, where: str) -> int:
    if type(value) is not int or not 0 <= value < bound:
        raise InputError(f"{where} is {shown(value)}; expected an integer from 0 to {bound - 1}")
    return value


def _rows(value: object, bound: int, where: str, key: str = "") -> Rows:
    """Read a list of lists of integers from 0 to `bound` - 1: a quick look at all, a slow one to name the culprit."""
    if isinstance(value, Rows):
        return _bounded(value, bound, where, key)
    rows = _list(value, where)
    if rows and all(isinstance(row, np.ndarray) for row in rows):
        return _bounded(_rows_of_arrays(cast("list[IntArray]", rows)), bound, where, key)
    if not _all_within(rows, bound):
        for place, row in enumerate(rows):
            _numbers(row.tolist() if isinstance(row, np.ndarray) else row, bound, f"{where}[{place}]{key}")
    return Rows.of(cast("list[list[int]]", rows))


def _rows_of_arrays(rows: Sequence[IntArray]) -> Rows:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return Rows(row_starts(lengths), np.concatenate(rows))


def _bounded(rows: Rows, bound: int, where: str, key: str) -> Rows:
    """Return `rows`, whose entries are 0 or more, if they are less than `bound`."""
    if rows.entries.max(initial=-1) >= bound:
        entry = int((rows.entries >= bound).argmax())
        row = int(np.searchsorted(rows.starts, entry, side="right")) - 1
        _number(int(rows.entries[entry]), bound, f"{where}[{row}]{key}[{entry - int(rows.starts[row])}]")
    return rows


def _all_within(rows: Sequence[object], bound: int) -> bool:
    if not all(type(row) is list for row in rows):
        return False
    entries = list(chain.from_iterable(cast("Sequence[list[int]]", rows)))
    return set(map(type, entries)) <= {int} and min(entries, default=0) >= 0 and max(entries, default=-1) < bound


def _numbers(value: object, bound: int, where: str) -> tuple[int, ...]:
    return tuple(_number(entry, bound, f"{where}[{place}]") for place, entry in enumerate(_list(value, where)))
