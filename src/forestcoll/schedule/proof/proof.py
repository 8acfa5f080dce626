"""The interface of proofs: values from which a bound for a demand on a network is computed by addition.

A proof contains only numbers: a set of nodes, weights of sets, lengths of links or prices of ports. `Proof.algbw` adds
them up over the links of a network and returns the algorithmic bandwidth that they prove, or raises an error that names
the failed condition. A check needs no linear programming and no floating point. Each kind has one file.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from forestcoll.base.display import Displayed
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology

NodeName: TypeAlias = Callable[[int], object]
"""Maps a node number to its name in a document: files use the number itself, reports use the id."""


class ProofError(ValueError):
    """A proof is not valid for a network and a demand. The message names the condition that fails.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.demand import NodeDemand
        >>> from forestcoll.schedule.proof import CutProof, ProofError
        >>> try:
        ...     CutProof((0, 1, 2)).algbw(load_topology("ring:nodes=3"), NodeDemand())
        ... except ProofError as error:
        ...     print(error)
        no compute node that takes part is inside the cut, or none is outside
    """


class Proof(Displayed, ABC):
    """A proof that no schedule is faster than a bound. Each kind is a subclass, a frozen dataclass.

    Attributes:
        kind: the name of the kind in documents.
        trees_only: whether the bound holds only for schedules whose data moves along trees, not for all schedules.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("ring:nodes=3", "allreduce")
        >>> proof = best.bound.proof
        >>> proof.kind, proof.trees_only, str(proof.algbw(best.topology, best.demand))
        ('receipt', True, '3/2')
        >>> print(optimum("ring:nodes=3").bound.proof)  # doctest: +ELLIPSIS
        proof of kind cut, for all schedules
        All data that must leave a set of 2 nodes crosses the links out of it. So algbw is at most ...
    """

    kind: ClassVar[str]
    trees_only: ClassVar[bool] = False

    @abstractmethod
    def algbw(self, topology: Topology, demand: NodeDemand) -> Fraction:
        """Return the algbw that no schedule of `demand` on `topology` exceeds, in the unit of the topology.

        Args:
            topology: the network.
            demand: the collective and its parameters.

        Raises:
            ProofError: the proof is not valid for this network or this demand.
        """

    @abstractmethod
    def words(self) -> str:
        """Return what the proof says. `print(optimum)` says it with the names and links of its network."""

    @abstractmethod
    def document(self, name: NodeName) -> dict[str, object]:
        """Return the JSON object of the proof without its kind; `name` maps node numbers to names."""

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        """Return the proof that a JSON object with node numbers describes; `where` begins every error message.

        Raises:
            InputError: the object does not have the form of this kind.
        """


def proof_document(proof: Proof, name: NodeName = lambda number: number) -> dict[str, object]:
    """Return the JSON object of `proof`. `name` maps a node number to the name in the object, by default the number."""
    return {"kind": proof.kind, **proof.document(name)}
