"""The plans of a group: one for each collective and root that it can run. All ranks must have the same."""

import hashlib
from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime.engine.plan import Plan, plan_of
from forestcoll.runtime.tuning import TuningTable
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology

GroupPlans = Mapping[tuple[Collective, int | None], Plan]
"""The plans of a group, by collective and root."""

SizedPlans = Mapping[Collective, Sequence[tuple[int, Plan]]]
"""For collectives with a tuning: the plans by size, each with the greatest size in bytes, in ascending order."""


def common_topology(schedules: Sequence[Schedule]) -> Topology:
    """Return the topology of `schedules`. Raises `InputError` if there are no schedules, or several topologies."""
    if not schedules:
        raise InputError(
            "schedules are empty; give one for each collective that the group is to run, or size=1 for a group of one"
        )
    first = schedules[0].topology
    for schedule in schedules:
        if schedule.topology != first:
            raise InputError(
                f"the schedules are for {first.name} and {schedule.topology.name}; give schedules for one topology"
            )
    return first


def plans_of(schedules: Sequence[Schedule]) -> GroupPlans:
    """Verify `schedules` and return their plans. Raises `InputError` if one is wrong, or is there twice."""
    plans: dict[tuple[Collective, int | None], Plan] = {}
    for schedule in schedules:
        plan = plan_of(schedule)
        key = plan.collective, plan.root
        if key in plans:
            raise InputError(
                f"there are two schedules for {plan.collective.value}; give one for each collective and root"
            )
        plans[key] = plan
    return plans


def plans_by_size(tables: Mapping[Collective, TuningTable], plans: GroupPlans) -> SizedPlans:
    """Return the plans of tunings. For sizes without a schedule, they are those of `plans`.

    Raises:
        InputError: a size has neither.
    """
    known: dict[int, Plan] = {}
    found: dict[Collective, list[tuple[int, Plan]]] = {}
    for collective, table in tables.items():
        for each in table.ranges:
            if each.schedule is None:
                plan = plans.get((collective, None))
            else:
                plan = known.get(id(each.schedule)) or known.setdefault(id(each.schedule), plan_of(each.schedule))
            if plan is None:
                raise InputError(
                    f"the tuning of {collective.value} has no schedule for some sizes up to {each.most} bytes; "
                    "also pass a schedule for them"
                )
            found.setdefault(collective, []).append((each.most, plan))
    return found


def plans_of_one() -> GroupPlans:
    """Return the plans of a group of one rank: every collective, and no data to be sent."""
    return {
        (each, 0 if each.has_root else None): Plan(
            collective=each,
            size=1,
            members=(0,),
            root=0 if each.has_root else None,
            parts={} if each.is_personalised else {0: Fraction(1)},
            flows=(),
            edges=(),
            algbw=Fraction(0),
            unit="GB/s",
            digest=each.value.encode(),
        )
        for each in Collective
    }


def digest_of(plans: GroupPlans, by_size: SizedPlans, *, pacing: bool) -> bytes:
    """Return a hash of everything that must be the same on all ranks."""
    hashed = hashlib.sha256(str(pacing).encode())
    for plan in plans.values():
        hashed.update(plan.digest)
    for collective in sorted(by_size):
        for most, plan in by_size[collective]:
            hashed.update(f"{collective.value} {most} ".encode() + plan.digest)
    return hashed.digest()
