"""Questions to proofs: small networks, some proofs, and what the verifier and the proof itself answer."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import Proof, ProofError, TreeDualProof, WeightedCut
from forestcoll.topology import Link, Node, NodeKind, Shift, Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from networks import linked, with_abilities

ALLREDUCE = NodeDemand(Collective.ALLREDUCE)
EXCHANGE = NodeDemand(Collective.ALL_TO_ALL)
SERIES = NodeDemand(Collective.BROADCAST, root=0)
RING = build_topology("ring:nodes=4")
ONE_WAY = replace(RING, nodes=RING.nodes[:2], links=RING.links[:1])
"""Two nodes; node 1 does not reach node 0."""

UP, DOWN = PhaseOp.REDUCE, PhaseOp.BROADCAST


def question_of(topology: Topology, demand: NodeDemand) -> BoundQuestion:
    parts, ends = demand.parts(topology), (demand.sources, demand.targets)
    members = demand.members(topology)
    return BoundQuestion(Network(topology), demand.collective, members, parts, demand.root, demand.matrix, *ends)


def by_proof(proof: Proof, topology: Topology, demand: NodeDemand) -> Fraction | None:
    try:
        return proof.algbw(topology, demand)
    except ProofError:
        return None


def by_judge(proof: Proof, topology: Topology, demand: NodeDemand) -> Fraction | None:
    try:
        return proven(proof, question_of(topology, demand))
    except UnprovenError:
        return None


def line() -> Topology:
    """Return three nodes in a line, with another bandwidth of each link."""
    return linked("a b c", "a>b:3 b>a:5 b>c:2 c>b:7", name="line")


LINE = line()


def hub(*, multicast: bool = False, aggregation: bool = False) -> Topology:
    """Return three nodes at a switch, with another bandwidth of each link."""
    network = linked("a b c", "a>s:2 s>a:7 b>s:3 s>b:6 c>s:4 s>c:5", switches="s", name="hub")
    return with_abilities(network, [(multicast, aggregation)])


def with_switches(
    topology: Topology, names: str, *ends: tuple[int, int], bandwidth: int = 1, **abilities: Any
) -> Topology:
    """Return the network with more switches, and with more links of this bandwidth."""
    nodes = tuple(Node(name, NodeKind.SWITCH, **abilities) for name in names)
    links = tuple(Link(source, target, Fraction(bandwidth)) for source, target in ends)
    return replace(topology, nodes=(*topology.nodes, *nodes), links=(*topology.links, *links))


def one_link_slower() -> Topology:
    """Return the ring with one link slower than the opposite one."""
    return replace(RING, links=(replace(RING.links[0], bandwidth=Fraction(1, 2)), *RING.links[1:]))


def turn(order: int, image: Sequence[int] = (1, 2, 3, 0)) -> Symmetry:
    return Symmetry((Shift(order, np.array(image, dtype=np.int32)),))


Potentials = dict[PhaseOp, dict[int, Fraction]]
"""The potentials of nodes, by phase."""


def dual(
    *cuts: tuple[PhaseOp, tuple[int, ...], int],
    potentials: Potentials | None = None,
    symmetry: Symmetry | None = None,
    equal_roots: bool = False,
) -> TreeDualProof:
    """Return weights of sets, each with its phase."""
    weighted = tuple(WeightedCut(phase, inside, Fraction(weight)) for phase, inside, weight in cuts)
    return TreeDualProof(weighted, potentials or {}, symmetry or Symmetry(()), equal_roots=equal_roots)


def equal_roots() -> TreeDualProof:
    """Return a proof for the ring that uses equal roots: all data must leave each node, and enter it."""
    cuts = ((phase, (node,), 1) for phase in PhaseOp for node in range(4))
    return dual(*cuts, potentials={phase: {} for phase in PhaseOp}, equal_roots=True)
