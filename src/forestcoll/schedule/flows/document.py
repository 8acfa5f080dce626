"""`forestcoll.flows/1`: a schedule of flows as a JSON document and as a file.

The reader checks types and ranges, so that every `FlowSchedule` is well formed. It does not check that the schedule is
correct; `verify` does.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

import numpy as np

from forestcoll.base.exact import MAX_RESULT_DIGITS, json_text
from forestcoll.base.json_parts import list_of, number_below, numbers_below, object_of, rational_of, require
from forestcoll.demand.collective import PERSONALISED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.matrix import Matrix, matrix_of
from forestcoll.schedule.document_parts import (
    bound_document,
    bound_in,
    check_format,
    collective_in,
    ranks_in,
    symmetry_document,
    symmetry_in,
    topology_in,
)
from forestcoll.schedule.flows.value import FlowList, FlowSchedule
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.rows_text import row_texts
from forestcoll.topology import Topology, topology_to_document

FORMAT = "forestcoll.flows/1"

_BLOCK = 2**14
"""The number of flows that are converted to text at a time."""

_KEYS = ("source", "target", "share", "routes")


def text_of(schedule: FlowSchedule, *, topology: bool = True) -> Iterator[str]:
    """Yield the pieces of the JSON text of `schedule`, one line for each flow, without the network if not `topology`.

    Equal schedules give equal texts.
    """
    head: dict[str, object] = {"format": FORMAT, "collective": schedule.collective.value}
    if topology:
        head["topology"] = topology_to_document(schedule.topology)
    head |= {"algbw": str(schedule.algbw)} | bound_document(schedule)
    head["demand"] = None if schedule.matrix is None else [[str(each) for each in row] for row in schedule.matrix]
    if schedule.ranks is not None:
        head["ranks"] = list(schedule.ranks)
    head |= symmetry_document(schedule.symmetry)
    yield json_text(head)[:-1]
    yield ',\n"routes": ['
    for text in row_texts(schedule.routes):
        yield text.decode()
    yield '],\n"flows": [\n'
    yield from _flow_texts(schedule.flows)
    yield "]}\n"


def _flow_texts(flows: FlowList) -> Iterator[str]:
    lines: list[str] = []
    for place, each in enumerate(flows, start=1):
        lines.append(
            f'{{"source": {each.source}, "target": {each.target}, "share": "{each.share}", '
            f'"routes": {list(each.routes)}}}'
        )
        if place % _BLOCK == 0 or place == len(flows):
            yield ",\n".join(lines) + (",\n" if place < len(flows) else "")
            lines = []


def from_document(document: Mapping[str, object], where: str, topology: Topology | None = None) -> FlowSchedule:
    """Return the schedule that a JSON object describes; `where` begins every error message.

    If `topology` is given, the object has none, and the schedule is for this network.

    Raises:
        InputError: the document breaks the format; the message names the place and the value.
    """
    check_format(document, FORMAT, where)
    require(document, ("collective", "algbw", "routes", "flows"), f"{where}:", "a schedule of flows")
    collective = collective_in(document, where, PERSONALISED)
    is_whole = topology is None
    topology = topology_in(document, where, topology)
    ranks = ranks_in(document, topology, where, connected=is_whole)
    routes = _rows(document.get("routes"), len(topology.nodes), f"{where}: routes")
    flows = _flows(list_of(document.get("flows"), f"{where}: flows"), len(topology.nodes), len(routes), where)
    return FlowSchedule(
        topology=topology,
        collective=collective,
        routes=routes,
        flows=flows,
        algbw=rational_of(document.get("algbw"), f"{where}: algbw"),
        bound=bound_in(document, collective, topology, where),
        symmetry=symmetry_in(document, topology, where),
        ranks=ranks,
        matrix=_matrix(document.get("demand"), collective, topology, ranks, where),
    )


def _matrix(
    value: object, collective: Collective, topology: Topology, ranks: tuple[int, ...] | None, where: str
) -> Matrix | None:
    """Return the demand matrix under the key `demand`; None if all parts are 1/N."""
    if value is None:
        return None
    place = f"{where}: demand"
    rows = [list_of(row, f"{place}[{number}]") for number, row in enumerate(list_of(value, place))]
    matrix = matrix_of(topology, rows, ranks=ranks, where=place, digits=MAX_RESULT_DIGITS)
    if collective is not Collective.ALL_TO_ALL:
        return matrix
    return NodeDemand(collective, None, None, ranks).with_matrix(topology, matrix, place).matrix


def _flows(listed: list[object], nodes: int, routes: int, where: str) -> FlowList:
    for place, flow in enumerate(listed):
        if not isinstance(flow, Mapping) or not flow.keys() >= set(_KEYS):
            each = object_of(flow, f"{where}: flows[{place}]", '{"source": ..., "target": ..., ...}')
            require(each, _KEYS, f"{where}: flows[{place}]", "a flow")
    flows = cast("list[Mapping[str, object]]", listed)
    return FlowList(
        sources=_column(flows, "source", nodes, where),
        targets=_column(flows, "target", nodes, where),
        shares=_shares(flows, where),
        routes=_rows([flow["routes"] for flow in flows], routes, f"{where}: flows", ".routes"),
    )


def _column(
    flows: Sequence[Mapping[str, object]], key: str, nodes: int, where: str
) -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    numbers = (number_below(flow[key], nodes, f"{where}: flows[{place}].{key}") for place, flow in enumerate(flows))
    return np.fromiter(numbers, dtype=np.int32, count=len(flows))


def _shares(flows: Sequence[Mapping[str, object]], where: str) -> tuple[Fraction, ...]:
    """Read the share of each flow; each distinct text is parsed once."""
    known: dict[str, Fraction] = {}
    shares: list[Fraction] = []
    for place, flow in enumerate(flows):
        value = flow["share"]
        share = known.get(value) if isinstance(value, str) else None
        if share is None:
            share = rational_of(value, f"{where}: flows[{place}].share")
            if isinstance(value, str):
                known[value] = share
        shares.append(share)
    return tuple(shares)


def _rows(value: object, bound: int, where: str, key: str = "") -> Rows:
    """Read a list of lists of integers from 0 to `bound` - 1."""
    listed = list_of(value, where)
    return Rows.of([numbers_below(row, bound, f"{where}[{place}]{key}") for place, row in enumerate(listed)])
