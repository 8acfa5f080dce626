"""The links that the transfers of a step schedule cross, and the compute nodes that their routes pass through."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.schedule.loads import link_numbers, links_of_routes
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers


class Carried(NamedTuple):
    """Data that crosses links: one entry for each step, path and link.

    Attributes:
        steps: the number of the step.
        links: the number of the link.
        amounts: the amount of data.
    """

    steps: IntArray
    links: IntArray
    amounts: npt.NDArray[Any]


def carried_by_links(schedule: StepSchedule, sent: Transfers, amounts: npt.NDArray[Any]) -> Carried:
    """Return the data that crosses links if the transfers `sent` of `schedule` send these amounts.

    Raises:
        ValueError: a transfer or a route crosses no link.
    """
    if sent.routes is None:
        return Carried(sent.step_of, link_numbers(schedule.topology, sent.sources, sent.targets), amounts)
    own, routed = np.flatnonzero(sent.routes == NO_ROUTE), np.flatnonzero(sent.routes != NO_ROUTE)
    # Transfers of a step along the same route are added up before the links of the route are listed.
    codes = sent.step_of[routed].astype(np.int64) * len(schedule.routes) + sent.routes[routed]
    codes, place_of = np.unique(codes, return_inverse=True)
    of_route = np.zeros(len(codes), dtype=amounts.dtype)
    np.add.at(of_route, place_of, amounts[routed])
    links = links_of_routes(schedule.topology, schedule.routes).take(codes % len(schedule.routes))
    lengths = np.diff(links.starts)
    direct = link_numbers(schedule.topology, sent.sources[own], sent.targets[own])
    return Carried(
        np.concatenate([sent.step_of[own], np.repeat(codes // len(schedule.routes), lengths)]),
        np.concatenate([direct, links.entries]),
        np.concatenate([amounts[own], np.repeat(of_route, lengths)]),
    )


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
