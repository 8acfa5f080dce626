"""A bound: what no schedule of a collective beats, with the proof of it."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.proof.proof import Proof


@dataclass(frozen=True)
class Bound:
    """What no schedule of a collective on a network beats.

    Attributes:
        collective: the operation.
        algbw: the value, in the topology's unit.
        proof: why.
    """

    collective: Collective
    algbw: Fraction
    proof: Proof
