"""Rules of a tuner: which algorithm and protocol NCCL uses for which sizes, and the runs that measure all of them.

A rule holds from its size up to the next rule; the first from 0 bytes, the last for all larger data. NCCL's own number
of channels is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from forestcoll.base.display import Displayed
from forestcoll.base.units import size_name
from forestcoll.demand.collective import Collective
from forestcoll.nccl.choice.table import Table
from forestcoll.nccl.results import COLLECTIVES

Setting: TypeAlias = tuple[str, str]
"""An algorithm and a protocol, as NCCL prints them."""

Times: TypeAlias = Mapping[Setting | None, Mapping[int, float]]
"""The microseconds of each setting by size; None stands for runs without a setting."""

NAMES = {
    Collective.BROADCAST: "broadcast",
    Collective.REDUCE: "reduce",
    Collective.ALLGATHER: "allgather",
    Collective.REDUCE_SCATTER: "reducescatter",
    Collective.ALLREDUCE: "allreduce",
}
"""NCCL's names of collectives."""

_PROGRAMS = {collective: program for program, collective in COLLECTIVES.items()}

_LARGEST = 2**64 - 1

_NEAR = 1.02
"""NCCL's own choice is kept if the best setting is faster by less than this factor."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A setting for a range of sizes.

    Attributes:
        least: the smallest M in bytes.
        most: the largest M in bytes.
        algorithm: the algorithm, as NCCL prints it.
        protocol: the protocol.
        is_nccls: whether NCCL chooses the same.
    """

    least: int
    most: int
    algorithm: str
    protocol: str
    is_nccls: bool


@dataclass(frozen=True, repr=False)
class TunerRules(Displayed):
    """The rules of a tuner for one collective on one network.

    Attributes:
        network: the name of the network.
        collective: the collective.
        hosts: the number of hosts.
        ranks: the number of ranks.
        source: what the rules come from, in words.
        table: where NCCL's table comes from, in words.
        rules: the rules, from small to large sizes. Sizes without a rule are left to NCCL.
        runs: the command of each run that measures a setting that NCCL offers; the first has no setting.
    """

    network: str
    collective: Collective
    hosts: int
    ranks: int
    source: str
    table: str
    rules: tuple[Rule, ...]
    runs: tuple[str, ...]


def rules_of(table: Table, collective: Collective, times: Times) -> tuple[Rule, ...]:
    """Return the rules that take the fastest setting for each size, or NCCL's own choice if that is nearly as fast.

    Args:
        table: NCCL's table.
        collective: the collective.
        times: the time of each setting. Where runs without a setting are as fast, there is no rule.
    """
    sizes = sorted({size for each in times.values() for size in each})
    picks = [_pick(table, collective, size, times) for size in sizes]
    groups = [(pick, next(each)[0]) for pick, each in groupby(zip(sizes, picks, strict=True), key=lambda pair: pair[1])]
    starts = [0, *(size for _, size in groups[1:]), _LARGEST + 1]
    return tuple(
        Rule(least, following - 1, *pick)
        for (pick, _), least, following in zip(groups, starts, starts[1:], strict=False)
        if pick is not None
    )


def _pick(table: Table, collective: Collective, size: int, times: Times) -> tuple[str, str, bool] | None:
    at_size = {setting: each[size] for setting, each in times.items() if size in each}
    best = min(at_size, key=lambda each: at_size[each])
    own = table.choice(collective, size)
    nccls = None if own is None else (own.algorithm, own.protocol)
    for kept in (None, nccls):
        if kept in at_size and at_size[kept] <= _NEAR * at_size[best]:
            best = kept
            break
    return None if best is None else (*best, best == nccls)


def runs_of(table: Table, collective: Collective, sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the commands that measure each setting that NCCL offers; the first without a setting.

    Only this collective is set, because `NCCL_ALGO=Tree` alone ends a job at its first allgather.
    """
    return tuple(_commands(table, collective, sizes))


def _commands(table: Table, collective: Collective, sizes: Sequence[int]) -> Iterator[str]:
    name = NAMES[collective]
    span = f"-b {size_name(sizes[0])} -e {size_name(sizes[-1])}".replace("iB", "")
    test = f"{_PROGRAMS[collective]} {span} -f 2 -g 1"
    debug = "-x NCCL_DEBUG=INFO -x NCCL_DEBUG_SUBSYS=ENV"
    yield f"mpirun -np {table.ranks} {debug} {test} > {name}.log"
    for key in table.entries:
        if key.collective is collective:
            setting = f"-x NCCL_ALGO={name}:{key.algorithm.lower()} -x NCCL_PROTO={key.protocol}"
            log = f"{name}-{key.algorithm}-{key.protocol}.log".lower()
            yield f"mpirun -np {table.ranks} {setting} {debug} {test} > {log}"
