"""What a proof is: a value that turns a network and a demand into a bandwidth that no schedule beats, by addition.

A proof holds numbers only: a set of nodes, weights of sets, lengths of links, prices of ports. `Proof.algbw` adds them
up over the links of a network and returns the algorithmic bandwidth that they prove, or says which condition fails.
No search, no linear programming and no floating point is needed to check one. One file holds one kind.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar, Self, TypeAlias

from forestcoll.request import Demand
from forestcoll.topology import Topology

NodeName: TypeAlias = Callable[[int], object]
"""How a document names a node, by its number: files use the number itself, reports use the id."""


class ProofError(ValueError):
    """A proof proves nothing on this network; the message says which condition fails."""


class Proof(ABC):
    """Why no schedule is faster. Subclasses are frozen dataclasses, one a kind.

    Attributes:
        kind: the name of the kind in documents.
        trees_only: whether only schedules whose data moves along trees are bounded; else all schedules are.
    """

    kind: ClassVar[str]
    trees_only: ClassVar[bool] = False

    @abstractmethod
    def algbw(self, topology: Topology, demand: Demand) -> Fraction:
        """Return the algbw that no schedule of `demand` on `topology` beats, in the topology's unit.

        Raises:
            ProofError: the numbers prove nothing here.
        """

    @abstractmethod
    def document(self, name: NodeName) -> dict[str, object]:
        """Return the JSON object of the proof, all but its kind; `name` says how nodes are named."""

    @classmethod
    @abstractmethod
    def from_document(cls, document: Mapping[str, object], topology: Topology, where: str) -> Self:
        """Return the proof that a JSON object describes, its nodes being numbers; `where` begins every error message.

        Raises:
            InputError: the object is not of this kind's form.
        """
