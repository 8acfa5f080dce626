"""Bounds and their proofs as values and as JSON. A proof is checked by addition; each kind has one file."""

from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.documents import proof_document, proof_from_document
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.schedule.proof.lengths.lengths import LengthsProof
from forestcoll.schedule.proof.lengths.tree_distances import TreeDistancesProof
from forestcoll.schedule.proof.lengths.tree_lengths import TreeLengthsProof
from forestcoll.schedule.proof.partition import PartitionProof
from forestcoll.schedule.proof.prices import PricesProof
from forestcoll.schedule.proof.proof import Proof, ProofError
from forestcoll.schedule.proof.receipt import ReceiptProof
from forestcoll.schedule.proof.tree_dual import TreeDualProof, WeightedCut

__all__ = [
    "Bound",
    "CutProof",
    "GroupLengthsProof",
    "LengthsProof",
    "PartitionProof",
    "PricesProof",
    "Proof",
    "ProofError",
    "ReceiptProof",
    "TreeDistancesProof",
    "TreeDualProof",
    "TreeLengthsProof",
    "WeightedCut",
    "proof_document",
    "proof_from_document",
]
