"""`forestcoll.bundle/1`: schedules of groups that run at the same time, as a JSON document and as a file.

A member is a document of its own format without the network. The reader checks types and ranges, so that every
`BundleSchedule` is well formed. It does not check that the schedules are correct; `verify` does.
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import json_text
from forestcoll.base.json_parts import list_of, object_of, rational_of, require
from forestcoll.base.json_parts import text_of as id_of
from forestcoll.demand.groups.value import MOST_GROUPS, size_of
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule, MemberSchedule
from forestcoll.schedule.document_parts import bound_document, bound_in, check_format, topology_in
from forestcoll.schedule.flows import document as flows
from forestcoll.schedule.trees import document as trees
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology, topology_to_document

FORMAT = "forestcoll.bundle/1"

_READERS: Mapping[str, Callable[[Mapping[str, object], str, Topology], Any]] = {
    trees.FORMAT: trees.from_document,
    flows.FORMAT: flows.from_document,
}
"""The formats of members."""


def text_of(schedule: BundleSchedule) -> Iterator[str | bytes]:
    """Yield the pieces of the JSON text of `schedule`; equal schedules give equal texts. Bytes are UTF-8."""
    head: dict[str, object] = {
        "format": FORMAT,
        "topology": topology_to_document(schedule.topology),
        "algbw": str(schedule.algbw),
    }
    yield json_text(head | bound_document(schedule))[:-1]
    yield ',\n"members": ['
    for place, member in enumerate(schedule.bundled):
        pieces = [{"id": name, "size": str(size)} for name, size in member.pieces]
        listed = f'"pieces": {json_text(pieces)}, ' if pieces else ""
        yield f'{"," * (place > 0)}\n{{"size": "{member.size}", {listed}"schedule": '
        if isinstance(member.schedule, TreeSchedule):
            yield from trees.text_of(member.schedule, topology=False)
        else:
            yield from flows.text_of(member.schedule, topology=False)
        yield "}"
    yield "]}\n"


def from_document(document: Mapping[str, object], where: str) -> BundleSchedule:
    """Return the bundle that a JSON object describes; `where` begins every error message.

    Raises:
        InputError: the document breaks the format; the message names the place and the value.
    """
    check_format(document, FORMAT, where)
    require(document, ("topology", "algbw", "members"), f"{where}:", "a bundle")
    topology = topology_in(document, where, connected=False)
    listed = list_of(document["members"], f"{where}: members")
    if not 0 < len(listed) <= MOST_GROUPS:
        raise InputError(f"{where}: members has {len(listed)} entries; expected 1 to {MOST_GROUPS}")
    members = tuple(_member(each, topology, f"{where}: members[{place}]") for place, each in enumerate(listed))
    return BundleSchedule(
        topology=topology,
        bundled=members,
        algbw=rational_of(document["algbw"], f"{where}: algbw"),
        bound=bound_in(document, members[0].schedule.collective, topology, where),
    )


def _member(value: object, topology: Topology, where: str) -> BundleMember:
    member = object_of(value, where, '{"size": ..., "schedule": {...}}')
    require(member, ("size", "schedule"), where, "a member")
    size = size_of(member["size"], f"{where}.size")
    schedule = _schedule(object_of(member["schedule"], f"{where}.schedule"), topology, where)
    return BundleMember(size, schedule, _pieces(member.get("pieces"), f"{where}.pieces"))


def _pieces(value: object, where: str) -> tuple[tuple[str, Fraction], ...]:
    """Return the id and the size of each piece of a member; nothing if it has no pieces."""
    found = []
    for place, each in enumerate(() if value is None else list_of(value, where)):
        piece = object_of(each, f"{where}[{place}]", '{"id": ..., "size": ...}')
        require(piece, ("id", "size"), f"{where}[{place}]", "a piece")
        found.append((id_of(piece["id"], f"{where}[{place}].id"), size_of(piece["size"], f"{where}[{place}].size")))
    return tuple(found)


def _schedule(document: Mapping[str, object], topology: Topology, where: str) -> MemberSchedule:
    place = f"{where}.schedule"
    name = document.get("format")
    if not isinstance(name, str) or name not in _READERS:
        raise InputError(f"{place}.format is {shown(name)}; expected {' or '.join(map(repr, _READERS))}")
    if "topology" in document:
        raise InputError(f"{place} has a topology of its own; remove it, as the network of the bundle is that of all")
    found: MemberSchedule = _READERS[name](document, place, topology)
    return found
