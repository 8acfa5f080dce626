"""Proofs as JSON: `{"kind": "cut", …}`. To add a kind, add a class in a new file here, and list it in `KINDS`."""

from collections.abc import Mapping

from forestcoll.base.errors import InputError, shown
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.schedule.proof.lengths.lengths import LengthsProof
from forestcoll.schedule.proof.lengths.tree_distances import TreeDistancesProof
from forestcoll.schedule.proof.lengths.tree_lengths import TreeLengthsProof
from forestcoll.schedule.proof.partition import PartitionProof
from forestcoll.schedule.proof.prices import PricesProof
from forestcoll.schedule.proof.proof import Proof
from forestcoll.schedule.proof.receipt import ReceiptProof
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.topology import Topology

KINDS: Mapping[str, type[Proof]] = {
    each.kind: each
    for each in (
        CutProof,
        ReceiptProof,
        TreeDualProof,
        PartitionProof,
        TreeLengthsProof,
        GroupLengthsProof,
        TreeDistancesProof,
        LengthsProof,
        PricesProof,
    )
}


def proof_from_document(document: object, topology: Topology, where: str) -> Proof:
    """Return the proof that a JSON object with node numbers describes; `where` begins every error message.

    Raises:
        InputError: there is no such kind, or the object does not have the form of its kind.
    """
    if not isinstance(document, Mapping):
        raise InputError(f'{where} is {shown(document)}; expected {{"kind": ..., ...}}')
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(f"{where}.kind is {shown(kind)}; this version supports {', '.join(map(repr, KINDS))}")
    return KINDS[kind].from_document(document, topology, where)
