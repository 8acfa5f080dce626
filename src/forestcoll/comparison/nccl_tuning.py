"""Rules for the tuner of NCCL: from its own model with the bandwidth of a network, or from measurements."""

from collections.abc import Sequence
from math import inf

from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.texts import DemandLike
from forestcoll.nccl.algorithms import algbw_of
from forestcoll.nccl.choice.sources import nccl_table
from forestcoll.nccl.choice.table import Table
from forestcoll.nccl.tuner.measured import measured_times
from forestcoll.nccl.tuner.rules import NAMES, Times, TunerRules, rules_of, runs_of
from forestcoll.topology import TopologyLike

_USEFUL = {"LL": 1 / 2, "LL128": 120 / 128, "SIMPLE": 1}
"""The part of the bytes on a link that is data, with each protocol."""


def nccl_tuning(  # noqa: PLR0913 (five, and progress)
    topology: TopologyLike,
    demand: DemandLike,
    sizes: Sequence[int],
    *,
    measured: Sequence[PathLike] = (),
    nccl: PathLike | None = None,
    progress: Progress = SILENT,
) -> TunerRules:
    """Return rules for NCCL's tuner: the fastest algorithm and protocol for each size, of those that NCCL offers.

    Without measurements, the time of a setting is that which NCCL expects, but with no more bandwidth than the
    algorithm reaches on this network: NCCL knows hosts, and this network may have slow links between them.

    Args:
        topology: as for `optimum`.
        demand: a collective of NCCL, of all compute nodes.
        sizes: the sizes of M in bytes for which settings are compared.
        measured: logs of nccl-tests, one for each setting of NCCL_ALGO and NCCL_PROTO; `TunerRules.runs` has the
            commands.
        nccl: as for `compare`.
        progress: receives the stages of the work.

    Raises:
        InputError: an argument is not valid, or NCCL's table of the network is not known; a log is not valid, or has a
            setting that NCCL does not offer.

    Example:
        >>> found = nccl_tuning("dgx-h100:boxes=4", "allreduce", [2**14, 2**30], nccl="2.32")
        >>> [(rule.least, rule.algorithm, rule.protocol) for rule in found.rules]
        [(0, 'TREE', 'LL'), (1073741824, 'RING', 'SIMPLE')]
    """
    problem = problem_of(topology, demand, progress)
    name, collective = problem.topology.name, problem.collective
    if collective not in NAMES:
        raise InputError(f"NCCL has no tuner for {collective.with_article}; use {', '.join(NAMES)}")
    try:
        table = nccl_table(problem, nccl)
    except DoesNotApplyError as error:
        raise DoesNotApplyError(f"{name}: {error}") from None
    if measured:
        source = "the fastest settings in measurements"
        times = measured_times(measured, collective, table.ranks)
        _check_offered(table, problem, times)
    else:
        source = "the least times by NCCL's own model, with the bandwidth of this network; not measured"
        times = _expected(problem, table, sizes)
    rules = rules_of(table, collective, times)
    runs = runs_of(table, collective, sizes)
    return TunerRules(name, collective, table.hosts, table.ranks, source, table.source, rules, runs)


def _check_offered(table: Table, problem: Problem, times: Times) -> None:
    offered = [key[1:] for key in table.entries if key.collective is problem.collective]
    for setting in times:
        if setting is not None and setting not in offered:
            named, known = "/".join(setting), ", ".join("/".join(each) for each in offered)
            raise InputError(f"a log has the setting {named}, which NCCL does not offer here; there are {known}")


def _expected(problem: Problem, table: Table, sizes: Sequence[int]) -> Times:
    """Return the microseconds of each setting that NCCL offers, within the bandwidth of the network."""
    keys = [key for key in table.entries if key.collective is problem.collective]
    most = {name: _algbw(problem, name) for name in dict.fromkeys(key.algorithm for key in keys)}
    return {
        key[1:]: {size: table.microseconds(key, size, _USEFUL[key.protocol] * most[key.algorithm]) for size in sizes}
        for key in keys
    }


def _algbw(problem: Problem, algorithm: str) -> float:
    """Return the algbw of an algorithm on the network in GB/s; infinity if its schedule is not known."""
    algbw = algbw_of(problem.topology, problem.demand, algorithm)
    return inf if algbw is None else float(algbw * bytes_per_microsecond(problem.topology.bandwidth_unit) / 1000)
