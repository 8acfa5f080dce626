"""Recursive halving and doubling: at step k node i exchanges all its data with node i xor 2^k.

The partners of all steps must be neighbours, as in a hypercube whose nodes are numbered by their bits. T_L = log2 N is
the least possible. But each step uses only one link of each node, so T_B is log2 N times the optimum.

Source: R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective Communication Operations in MPICH"
(IJHPCA 2005).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.steps.limits import within_limits
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology


def halving_doubling_schedule(topology: Topology, collective: Collective) -> StepSchedule:
    """Return recursive doubling for an allgather, halving for a reduce-scatter, both for an allreduce.

    Raises:
        InputError: the number of nodes is not a power of two, two partners are not neighbours, or there is a switch.
    """
    require_direct(topology)
    return from_allgathers(topology, collective, _allgather)


def _allgather(topology: Topology) -> StepSchedule:
    nodes = len(topology.nodes)
    _check_partners(topology)
    shards, sources, targets, steps = [], [], [], []
    numbers = np.arange(nodes)
    for step in range(nodes.bit_length() - 1):
        block = numbers >> step << step  # the first node of those whose shards this node has
        held = (block[:, None] + np.arange(1 << step)[None, :]).ravel()
        senders = np.repeat(numbers, 1 << step)
        shards.append(held)
        sources.append(senders)
        targets.append(senders ^ (1 << step))
        steps.append(np.full(len(held), step))
    count = sum(map(len, shards))
    sent = Transfers.by_step(
        np.concatenate(steps),
        count=len(steps),
        shards=np.concatenate(shards),
        sources=np.concatenate(sources),
        targets=np.concatenate(targets),
        lows=np.zeros(count, dtype=np.int32),
        highs=np.ones(count, dtype=np.int32),
        points=[Fraction(0), Fraction(1)],
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, sent),))


def _check_partners(topology: Topology) -> None:
    nodes = len(topology.nodes)
    if nodes & (nodes - 1):
        raise InputError(f"{topology.name}: {nodes} nodes; recursive halving and doubling needs a power of two")
    links = topology.link_numbers
    for node in range(nodes):
        for step in range(nodes.bit_length() - 1):
            if (node, node ^ 1 << step) not in links:
                one, other = topology.ids([node, node ^ 1 << step])
                raise InputError(
                    f"{topology.name}: no link from {one!r} to {other!r}, partners at step {step}; recursive halving "
                    f"and doubling needs hypercube:dim={nodes.bit_length() - 1} or a network that contains it"
                )


@methods.add(
    "halving-doubling", summary="Recursive halving and doubling, on a hypercube.", by_size=["halving-doubling"]
)
@dataclass(frozen=True)
class HalvingDoubling(Method):
    """Recursive halving and doubling, on a hypercube."""

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        return within_limits(problem.topology, lambda network: halving_doubling_schedule(network, problem.collective))
