"""Reading and writing of what the documents of several kinds share: collective, network, ranks, shards, claims."""

from collections.abc import Mapping
from fractions import Fraction

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import MAX_RESULT_DIGITS
from forestcoll.base.json_parts import name_of, numbers_below, object_of, rational_of, require
from forestcoll.demand.collective import SCHEDULED, Collective, known_collective, shards_of
from forestcoll.demand.ranks import require_reach
from forestcoll.schedule.proof import Bound, CutProof, proof_document, proof_from_document
from forestcoll.schedule.proof.reading import symmetry_of
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Symmetry, Topology, topology_from_document


def check_format(document: Mapping[str, object], format_: str, where: str) -> None:
    """Check that `document` has the format with this name."""
    if "format" not in document:
        raise InputError(f'{where}: has no "format"; expected {format_!r}')
    if document["format"] != format_:
        raise InputError(f"{where}: format is {shown(document['format'])}; expected {format_!r}")


def collective_in(document: Mapping[str, object], where: str, known: tuple[Collective, ...] = SCHEDULED) -> Collective:
    """Return the collective of a schedule, one of `known`; its name may have any of the usual spellings."""
    name = document.get("collective")
    found = known_collective(name)
    return name_of(name if found is None else found.value, known, f"{where}: collective")


def topology_in(
    document: Mapping[str, object], where: str, known: Topology | None = None, *, connected: bool | None = None
) -> Topology:
    """Return the network of a schedule.

    Args:
        document: the JSON object of the schedule.
        where: the text that begins error messages.
        known: the network, if the document has none.
        connected: whether all compute nodes must reach each other; if None, they must if all of them take part. It has
            no effect on a known network.
    """
    if known is not None:
        return known
    if connected is None:
        connected = document.get("ranks") is None
    require(document, ("topology",), f"{where}:")
    described = object_of(document.get("topology"), f"{where}: topology")
    return topology_from_document(described, where=f"{where}: topology", connected=connected)


def ranks_in(
    document: Mapping[str, object], topology: Topology, where: str, *, connected: bool = True
) -> tuple[int, ...] | None:
    """Return the numbers of the compute nodes that take part, or None if all take part.

    If `connected`, these nodes must reach each other.
    """
    members = compute_nodes_in(document, "ranks", topology, where)
    if members is None:
        return None
    if len(members) < 2:
        raise InputError(f"{where}: ranks: lists {len(members)}; a collective needs at least two")
    if connected:
        require_reach(topology, members)
    return members


def compute_nodes_in(
    document: Mapping[str, object], key: str, topology: Topology, where: str
) -> tuple[int, ...] | None:
    """Return the numbers of compute nodes that a key lists, in ascending order, or None if it lists none."""
    if document.get(key) is None:
        return None
    place = f"{where}: {key}"
    listed = numbers_below(document[key], len(topology.nodes), place)
    _check_compute(listed, topology, place)
    return tuple(sorted(listed))


def _check_compute(ranks: tuple[int, ...], topology: Topology, where: str) -> None:
    seen: set[int] = set()
    for place, node in enumerate(ranks):
        if not topology.nodes[node].is_compute:
            name = shown(topology.nodes[node].id)
            raise InputError(f"{where}[{place}] is the number of switch {name}; only compute nodes take part")
        if node in seen:
            raise InputError(f"{where}[{place}]: node {node} is named twice; name it once")
        seen.add(node)


def shards_in(
    document: Mapping[str, object], topology: Topology, ranks: tuple[int, ...] | None, where: str
) -> tuple[Fraction, ...] | None:
    """Return the shard of each compute node that takes part, or None if all are equal."""
    shards = document.get("shards")
    if shards is None:
        return None
    return shards_of(topology, shards, ranks=ranks, where=f"{where}: shards", digits=MAX_RESULT_DIGITS)


def shards_document(schedule: Schedule) -> dict[str, str] | None:
    """Return the shard of each compute node that takes part, by node id as text, or None if all are equal."""
    if schedule.shards is None:
        return None
    ids = schedule.topology.ids(schedule.members)
    return {str(id_): str(shard) for id_, shard in zip(ids, schedule.shards, strict=True)}


def symmetry_in(document: Mapping[str, object], topology: Topology, where: str) -> Symmetry | None:
    """Return the symmetry of a schedule, or None if all its parts are listed."""
    symmetry = document.get("symmetry")
    return None if symmetry is None else symmetry_of(symmetry, topology, f"{where}: symmetry")


def symmetry_document(symmetry: Symmetry | None) -> dict[str, object]:
    """Return the key `symmetry`, or no key if there is no symmetry."""
    if symmetry is None:
        return {}
    return {"symmetry": [{"order": each.order, "image": each.image.tolist()} for each in symmetry.shifts]}


def bound_in(document: Mapping[str, object], collective: Collective, topology: Topology, where: str) -> Bound | None:
    """Return the bound that a schedule claims under the keys `optimal_algbw` and `certificate`."""
    optimal, certificate = document.get("optimal_algbw"), document.get("certificate")
    if optimal is None and certificate is None:
        return None
    if optimal is None or certificate is None:
        missing = "optimal_algbw" if optimal is None else "certificate"
        raise InputError(f"{where}: {missing} is missing; give both optimal_algbw and certificate, or neither")
    place = f"{where}: certificate"
    listed = object_of(certificate, place, '{"cut": [...]} or {"proof": {"kind": ..., ...}}')
    if "proof" in listed:
        proof = proof_from_document(listed["proof"], topology, f"{place}.proof")
    else:
        require(listed, ("cut",), place)
        proof = CutProof.from_document(listed, topology, place)
    return Bound(collective, rational_of(optimal, f"{where}: optimal_algbw"), proof)


def bound_document(schedule: Schedule) -> dict[str, object]:
    """Return the keys `optimal_algbw` and `certificate`, or no keys if the schedule claims no bound."""
    bound = schedule.bound
    if bound is None:
        return {}
    proof = bound.proof
    certificate = proof.document(_number) if isinstance(proof, CutProof) else {"proof": proof_document(proof)}
    return {"optimal_algbw": str(bound.algbw), "certificate": certificate}


def _number(node: int) -> object:
    return node
