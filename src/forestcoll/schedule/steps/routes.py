"""The links that the transfers of a step schedule cross, and the compute nodes that their routes pass through."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InputError
from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers
from forestcoll.topology import Topology


class Crossings(NamedTuple):
    """The links that transfers cross: one entry for each transfer and link.

    Attributes:
        transfers: the number of the transfer.
        links: the number of the link.
    """

    transfers: IntArray
    links: IntArray


def crossings_of(schedule: StepSchedule, sent: Transfers) -> Crossings:
    """Return the links that `sent`, transfers of `schedule`, cross.

    Raises:
        ValueError: a transfer or a route crosses no link.
    """
    if sent.routes is None:
        return Crossings(np.arange(len(sent)), link_numbers(schedule.topology, sent.sources, sent.targets))
    direct, routed = np.flatnonzero(sent.routes == NO_ROUTE), np.flatnonzero(sent.routes != NO_ROUTE)
    links = links_of_routes(schedule).take(sent.routes[routed])
    return Crossings(
        np.concatenate([direct, np.repeat(routed, np.diff(links.starts))]),
        np.concatenate([link_numbers(schedule.topology, sent.sources[direct], sent.targets[direct]), links.entries]),
    )


def links_of_routes(schedule: StepSchedule) -> Rows:
    """Return the numbers of the links of each route.

    Raises:
        ValueError: a route crosses no link.
    """
    routes = schedule.routes
    is_hop = np.ones(len(routes.entries), dtype=np.bool_)
    is_hop[routes.starts[1:] - 1] = False
    places = np.flatnonzero(is_hop)
    links = link_numbers(schedule.topology, routes.entries[places], routes.entries[places + 1])
    return Rows(routes.starts - np.arange(len(routes) + 1, dtype=routes.starts.dtype), links)


def link_numbers(topology: Topology, sources: IntArray, targets: IntArray) -> npt.NDArray[np.int64]:
    """Return the number of the link from each source to its target.

    Raises:
        ValueError: a link does not exist.
    """
    nodes = len(topology.nodes)
    codes = np.fromiter((link.source * nodes + link.target for link in topology.links), np.int64, len(topology.links))
    wanted = sources.astype(np.int64) * nodes + targets
    found = np.searchsorted(codes, wanted)
    if len(wanted) and (found.max() >= len(codes) or not np.array_equal(codes[found], wanted)):
        raise ValueError("a transfer crosses no link")
    return found


def passes_compute(schedule: StepSchedule) -> npt.NDArray[np.int64]:
    """Return, for each route, the number of compute nodes that it passes through, without its ends."""
    routes = schedule.routes
    is_compute = np.array([node.is_compute for node in schedule.topology.nodes])
    is_passed = is_compute[routes.entries]
    is_passed[routes.starts[:-1]] = False
    is_passed[routes.starts[1:] - 1] = False
    of_route = np.repeat(np.arange(len(routes)), np.diff(routes.starts))
    return np.bincount(of_route[is_passed], minlength=len(routes))


def require_no_relays(schedule: StepSchedule) -> None:
    """Check that no transfer passes through a compute node. A rank has no instruction that only passes data on.

    Raises:
        InputError: a transfer does.
    """
    for phase in schedule.phases:
        used = phase.transfers.routes
        if used is not None and passes_compute(schedule)[used[used != NO_ROUTE]].any():
            raise InputError(
                f"{schedule.topology.name}: a transfer passes through a compute node, and ranks cannot only pass data "
                "on; use a schedule whose routes pass through switches only"
            )
