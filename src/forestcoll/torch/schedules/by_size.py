"""The best schedule for each size, as `generate --size` makes it: a table for the engine, from rank 0 to the others."""

import json
from collections.abc import Mapping
from functools import partial

from forestcoll.algorithms.by_size import BySize
from forestcoll.algorithms.generate import problem_of
from forestcoll.base.errors import InputError
from forestcoll.base.units import has_known_size
from forestcoll.demand.collective import Collective
from forestcoll.runtime.engine.plan import plan_of
from forestcoll.runtime.tuning import ScheduleRange, TuningTable
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.torch.schedules.agreement import Agreement
from forestcoll.torch.schedules.cache import from_bytes, to_bytes
from forestcoll.verification import certified, verify

SIZES = tuple(4**power for power in range(5, 17))
"""The sizes of M in bytes between which tables have ranges: 1 KiB to 4 GiB."""

MOST_RANKS = 32
"""The most ranks of a group with such tables: making them for more takes several seconds."""


def best_table(topology: Topology, collective: Collective, agreement: Agreement) -> TuningTable | None:
    """Return the table of the best schedules of a collective, the same on all ranks; rank 0 makes it.

    There is none for many ranks, for a network whose bandwidths have no known unit, and if one schedule is the best for
    all sizes: then the optimum is.

    Args:
        topology: of the group.
        collective: an allgather, a reduce-scatter or an allreduce.
        agreement: with the other ranks.
    """
    if len(topology.compute) > MOST_RANKS or not has_known_size(topology.bandwidth_unit):
        return None
    made: dict[str, Schedule] = {}

    def make() -> bytes:
        ranges = BySize(problem_of(topology, collective), accept=_can_be_run).ranges(SIZES)
        made.update((each.best.method, each.best.schedule) for each in ranges)
        return json.dumps([[each.most, each.best.method] for each in ranges]).encode()

    key = f"best/{collective.value}"
    listed = json.loads(agreement.share(key, make))
    names = dict.fromkeys(name for _, name in listed)
    if list(names) == ["trees"]:
        return None
    texts = {name: agreement.share(f"{key}/{name}", partial(_text, made, name)) for name in names}
    schedules = {name: from_bytes(text, topology) for name, text in texts.items()}
    return TuningTable(collective, tuple(ScheduleRange(most, schedules[name]) for most, name in listed))


def _can_be_run(schedule: Schedule) -> bool:
    try:
        plan_of(schedule)
    except InputError:
        return False
    return True


def _text(made: Mapping[str, Schedule], name: str) -> bytes:
    certified(verify(made[name]))
    return to_bytes(made[name])
