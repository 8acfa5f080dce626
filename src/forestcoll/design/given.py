"""A network of the user, with its allgather, as a base of expansions."""

import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from forestcoll.algorithms.direct_networks.stored import stored_allgather
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.design.bases import LARGEST_SEARCHED_MIRROR
from forestcoll.design.breadth_first import breadth_first_cost_of, breadth_first_sends
from forestcoll.design.constructions import Construction
from forestcoll.design.measure import Cost
from forestcoll.design.mirrors import find_mirror
from forestcoll.design.sends import Sends, sends_of
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.files import holds_schedule
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology
from forestcoll.verification import Report, verify
from forestcoll.verification.reading import read_verified

BaseLike = TopologyLike | Schedule | Construction
"""A network or a verified schedule of one, or the file of either, or an expression."""

_PLAIN_NAME = re.compile(r"[\w.-]+")
"""The names that need no brackets in an expression."""


@dataclass(frozen=True)
class Given(Construction):
    """A network of the user, with a schedule of the user or the best breadth-first one.

    Attributes:
        network: the wiring.
        schedule: the schedule, or None for the best breadth-first one.
        bandwidth: the bandwidth of an arc.
    """

    network: Wiring = field(repr=False)
    schedule: Sends | None = field(repr=False)
    bandwidth: Fraction = field(default=Fraction(1))

    @cached_property
    def wiring(self) -> Wiring:
        return self.network

    def sends(self) -> Sends:
        return breadth_first_sends(self.network) if self.schedule is None else self.schedule

    def mirror(self) -> IntArray | None:
        if self.is_bidirectional:
            return np.arange(self.nodes, dtype=np.int32)
        return find_mirror(self.network) if self.nodes <= LARGEST_SEARCHED_MIRROR else None

    def to_document(self) -> dict[str, object]:
        """Return the name and the links of the network as JSON. The document has no schedule, so it is not read."""
        return {"given": self.name, "targets": self.network.targets.tolist()}


def base_network(base: BaseLike) -> Construction:
    """Return a network of the user as a base of expansions.

    Args:
        base: a network (whatever `load_topology` takes) with its best known schedule, which is stored for some
            networks and else the best breadth-first one; or an allgather in steps, or the file of one, which is
            verified first.

    Returns:
        The base. Its cost is that of the schedule.

    Raises:
        InputError: the input is invalid, the network has switches, its nodes do not have equally many links, or the
            schedule is not an allgather of steps over links.

    Example:
        >>> base = base_network("torus:dims=3x3")
        >>> base.degree, base.cost.steps, str(base.cost.bandwidth_factor)
        (4, 2, '8/9')
    """
    if isinstance(base, Construction):
        return base
    if isinstance(base, Schedule):
        return _with_schedule(base, verify(base))
    path = _schedule_file(base)
    return _with_topology(load_topology(base)) if path is None else _with_schedule(*read_verified(path))


def _schedule_file(base: TopologyLike) -> Path | None:
    if not isinstance(base, str | Path):
        return None
    path = Path(base)
    return path if path.is_file() and holds_schedule(path) else None


def _with_topology(topology: Topology) -> Given:
    best = stored_allgather(topology)
    if best is not None:
        return _with_schedule(best, verify(best))
    wiring = Wiring.of_topology(topology)
    return _given(topology, wiring, breadth_first_cost_of(wiring), None)


def _with_schedule(schedule: Schedule, report: Report) -> Given:
    name = schedule.topology.name
    if report.fault is not None:
        raise InputError(f"{name}: the schedule is wrong: {report.fault.message}; generate it again")
    if not isinstance(schedule, StepSchedule) or schedule.collective is not Collective.ALLGATHER:
        raise InputError(
            f"{name}: the schedule is not an allgather of steps; give a network, or a schedule that "
            "`forestcoll generate --method bfb` made"
        )
    if schedule.phases[0].transfers.routes is not None:
        raise InputError(f"{name}: the schedule has routes over several links; give a schedule without routes")
    schedule = expanded_steps(schedule)
    wiring = Wiring.of_topology(schedule.topology)
    shape = step_shape(schedule)
    cost = Cost(shape.steps, shape.bandwidth_factor)
    return _given(schedule.topology, wiring, cost, sends_of(wiring, schedule))


def _given(topology: Topology, wiring: Wiring, cost: Cost, sends: Sends | None) -> Given:
    return Given(
        name=topology.name if _PLAIN_NAME.fullmatch(topology.name) else f"[{topology.name}]",
        nodes=wiring.nodes,
        degree=wiring.degree,
        cost=cost,
        is_bidirectional=wiring.is_bidirectional,
        is_breadth_first=sends is None,
        is_simple=wiring.is_simple,
        has_loops=wiring.has_loops,
        branches=wiring.branches,
        network=wiring,
        schedule=sends,
        bandwidth=min(link.bandwidth for link in topology.links),
    )
