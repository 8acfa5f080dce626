"""Bounds and their proofs as values and as JSON. A proof is checked by addition; each kind has one file."""

from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.proof.documents import proof_document, proof_from_document
from forestcoll.proof.group_lengths import GroupLengthsProof
from forestcoll.proof.lengths import LengthsProof
from forestcoll.proof.partition import PartitionProof
from forestcoll.proof.prices import PricesProof
from forestcoll.proof.proof import Proof, ProofError
from forestcoll.proof.receipt import ReceiptProof
from forestcoll.proof.tree_distances import TreeDistancesProof
from forestcoll.proof.tree_dual import TreeDualProof, WeightedCut
from forestcoll.proof.tree_lengths import TreeLengthsProof

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
