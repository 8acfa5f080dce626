"""`forestcoll.schedule/1`: a schedule of trees as a JSON document and as a file.

The reader checks types and ranges, so that every `TreeSchedule` is well formed. It does not check that the schedule is
correct; `verify` does.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import cast

import numpy as np

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import json_text
from forestcoll.base.json_parts import list_of, name_of, number_below, numbers_below, object_of, rational_of, require
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.document_parts import (
    bound_document,
    bound_in,
    check_format,
    collective_in,
    compute_nodes_in,
    ranks_in,
    shards_document,
    shards_in,
    symmetry_document,
    symmetry_in,
    topology_in,
)
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.rows_text import row_texts, single_row_texts
from forestcoll.schedule.trees.scanning import scanned_document
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Topology, topology_to_document

FORMAT = "forestcoll.schedule/1"

_TREE_KEYS = {"root", "share", "routes"}
_ENDS = ("sources", "targets")


def text_of(schedule: TreeSchedule, *, topology: bool = True) -> Iterator[str | bytes]:
    """Yield the pieces of the JSON text of `schedule`, without the network if not `topology`; bytes are UTF-8.

    Equal schedules give equal texts.
    """
    head: dict[str, object] = {"format": FORMAT, "collective": schedule.collective.value}
    if topology:
        head["topology"] = topology_to_document(schedule.topology)
    head |= {"algbw": str(schedule.algbw)} | bound_document(schedule)
    head |= {"trees_per_root": schedule.trees_per_root, "shards": shards_document(schedule)}
    if schedule.ranks is not None:
        head["ranks"] = list(schedule.ranks)
    head |= {key: list(nodes) for key in _ENDS if (nodes := getattr(schedule, key)) is not None}
    head |= symmetry_document(schedule.symmetry)
    yield json_text(head)[:-1]
    yield ',\n"routes": ['
    yield from row_texts(schedule.routes)
    yield '],\n"phases": ['
    for place, phase in enumerate(schedule.phases):
        yield f'{"," * (place > 0)}\n{{"op": "{phase.op.value}", "trees": [\n'
        yield from _tree_texts(phase)
        yield "]}"
    yield "]}\n"


def _tree_texts(phase: Phase) -> Iterator[str | bytes]:
    before = ""
    for root, share, routes in zip(phase.roots, phase.shares, single_row_texts(phase.routes), strict=True):
        yield f'{before}{{"root": {root}, "share": "{share}", "routes": '
        yield routes
        yield "}"
        before = ",\n"


def scanned(text: bytes | bytearray, where: str) -> TreeSchedule | None:
    """Return the schedule in `text`, the content of a file, read without an object for each integer; None if unsure.

    Raises:
        InputError: as in `from_document`.
    """
    document = scanned_document(text)
    return None if document is None or document.get("format") != FORMAT else from_document(document, where=where)


def from_document(document: Mapping[str, object], where: str, topology: Topology | None = None) -> TreeSchedule:
    """Return the schedule that a JSON object describes; `where` begins every error message.

    If `topology` is given, the object has none, and the schedule is for this network.

    Raises:
        InputError: the document breaks the format; the message names the place and the value.
    """
    check_format(document, FORMAT, where)
    require(document, ("collective", "routes", "phases", "algbw"), f"{where}:")
    collective = collective_in(document, where)
    is_whole = topology is None
    topology = topology_in(document, where, topology)
    ranks = ranks_in(document, topology, where, connected=is_whole)
    routes = _rows(document.get("routes"), len(topology.nodes), f"{where}: routes")
    phases = tuple(
        _phase(phase, len(topology.nodes), len(routes), f"{where}: phases[{place}]")
        for place, phase in enumerate(list_of(document.get("phases"), f"{where}: phases"))
    )
    return TreeSchedule(
        topology=topology,
        collective=collective,
        routes=routes,
        phases=phases,
        algbw=rational_of(document.get("algbw"), f"{where}: algbw"),
        bound=bound_in(document, collective, topology, where),
        trees_per_root=_tree_count(document.get("trees_per_root"), where),
        symmetry=symmetry_in(document, topology, where),
        shards=shards_in(document, topology, ranks, where),
        ranks=ranks,
        sources=compute_nodes_in(document, "sources", topology, where),
        targets=compute_nodes_in(document, "targets", topology, where),
    )


def _phase(phase: object, nodes: int, routes: int, where: str) -> Phase:
    listed_phase = object_of(phase, where, '{"op": ..., "trees": [...]}')
    require(listed_phase, ("op", "trees"), where)
    op = name_of(listed_phase.get("op"), PhaseOp, f"{where}.op")
    trees = list_of(listed_phase.get("trees"), f"{where}.trees")
    for place, tree in enumerate(trees):
        if not isinstance(tree, Mapping):
            raise InputError(f"{where}.trees[{place}] is {shown(tree)}; expected an object")
        if not tree.keys() >= _TREE_KEYS:
            require(tree, sorted(_TREE_KEYS), f"{where}.trees[{place}]")
    listed = cast("list[Mapping[str, object]]", trees)
    return Phase(
        op=op,
        roots=tuple(
            number_below(tree.get("root"), nodes, f"{where}.trees[{place}].root") for place, tree in enumerate(listed)
        ),
        shares=_shares(listed, where),
        routes=_rows([tree.get("routes") for tree in listed], routes, f"{where}.trees", ".routes"),
    )


def _shares(trees: Sequence[Mapping[str, object]], where: str) -> tuple[Fraction, ...]:
    """Read the share of each tree; each distinct text is parsed once."""
    known: dict[object, Fraction] = {}
    shares: list[Fraction] = []
    for place, tree in enumerate(trees):
        value = tree.get("share")
        if not isinstance(value, str) or value not in known:
            share = rational_of(value, f"{where}.trees[{place}].share")
            shares.append(share)
            if isinstance(value, str):
                known[value] = share
        else:
            shares.append(known[value])
    return tuple(shares)


def _tree_count(value: object, where: str) -> int | None:
    if value is None or (type(value) is int and value > 0):
        return value
    raise InputError(f"{where}: trees_per_root is {shown(value)}; expected a positive integer or null")


def _rows(value: object, bound: int, where: str, key: str = "") -> Rows:
    """Read a list of lists of integers from 0 to `bound` - 1.

    A fast check looks at all entries; if it fails, a slow one finds the wrong entry.
    """
    if isinstance(value, Rows):
        return _bounded(value, bound, where, key)
    rows = list_of(value, where)
    if rows and all(isinstance(row, np.ndarray) for row in rows):
        return _bounded(_rows_of_arrays(cast("list[IntArray]", rows)), bound, where, key)
    if not _all_within(rows, bound):
        for place, row in enumerate(rows):
            numbers_below(row.tolist() if isinstance(row, np.ndarray) else row, bound, f"{where}[{place}]{key}")
    return Rows.of(cast("list[list[int]]", rows))


def _rows_of_arrays(rows: Sequence[IntArray]) -> Rows:
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return Rows(row_starts(lengths), np.concatenate(rows))


def _bounded(rows: Rows, bound: int, where: str, key: str) -> Rows:
    """Return `rows`, whose entries are at least 0, if all entries are less than `bound`."""
    if rows.entries.max(initial=-1) >= bound:
        entry = int((rows.entries >= bound).argmax())
        row = int(np.searchsorted(rows.starts, entry, side="right")) - 1
        number_below(int(rows.entries[entry]), bound, f"{where}[{row}]{key}[{entry - int(rows.starts[row])}]")
    return rows


def _all_within(rows: Sequence[object], bound: int) -> bool:
    if not all(type(row) is list for row in rows):
        return False
    entries = list(chain.from_iterable(cast("Sequence[list[int]]", rows)))
    return set(map(type, entries)) <= {int} and min(entries, default=0) >= 0 and max(entries, default=-1) < bound
