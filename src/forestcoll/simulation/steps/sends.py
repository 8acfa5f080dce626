"""The sends of one shard over time: each step has its own interval, because it ends with a barrier."""

from collections.abc import Iterator
from itertools import accumulate

from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.sends import RootSends, Send
from forestcoll.simulation.steps.times import StepWork


def sends_of_shard(schedule: StepSchedule, size: int, costs: Costs) -> RootSends:
    """Return the sends of the shard of the first compute node.

    Args:
        schedule: a schedule that `verify` accepts.
        size: M in bytes.
        costs: the latency and the overhead.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    schedule = expanded_steps(schedule)
    root = schedule.members[0]
    return RootSends(root, schedule.shard_sizes[root], tuple(_sends(schedule, root, _ends(schedule, size, costs))))


def _ends(schedule: StepSchedule, size: int, costs: Costs) -> list[float]:
    """Return the time at which each step begins, in seconds, and the end of the last one; latencies are averaged."""
    work = StepWork.of(schedule)
    latency = work.model(costs).latency / schedule.steps
    return list(accumulate((latency + size * seconds for seconds in work.seconds_by_step(costs)), initial=0.0))


def _sends(schedule: StepSchedule, root: int, ends: list[float]) -> Iterator[Send]:
    steps = (step for phase in schedule.phases for step in phase.transfers)
    for number, step in enumerate(steps):
        pairs = {(each.source, each.target): None for each in step if each.shard == root}
        for source, target in pairs:
            yield Send(source, target, ends[number], ends[number + 1])
