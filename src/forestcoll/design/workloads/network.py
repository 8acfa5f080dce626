"""The times of allreduces and all-to-alls on a network, as functions of the size.

An allreduce of M bytes takes s * alpha + M / algbw, where s is the number of steps of a step schedule, or the sum of
the heights of a schedule of trees. An all-to-all in which every node sends M bytes, M/N to each node, takes M/N divided
by the rate between two nodes.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from forestcoll.algorithms.bfb import Bfb
from forestcoll.algorithms.method import Problem
from forestcoll.base.errors import InputError
from forestcoll.base.files import read_document
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.realisation import predicted_cost
from forestcoll.schedule.files import FORMATS
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.shape_of import shape_of
from forestcoll.solver.flows.rates import ExchangeRate, exchange_rate_of
from forestcoll.topology.registry import load_topology
from forestcoll.verification.reading import read_verified


@dataclass(frozen=True)
class NetworkRates:
    """The parameters of the times of collectives on a network.

    Attributes:
        name: the name of the network.
        nodes: the number of compute nodes N.
        allreduce_latency_us: the time of an allreduce without data, in microseconds.
        allreduce_rate: M / time of large allreduces, in bytes per microsecond.
        pair_rate: the rate at which every node can send to every other node at the same time, in bytes per microsecond;
            0 if it was not computed.
        exchange: how the rate of all-to-alls was computed; None if it was not.
    """

    name: str
    nodes: int
    allreduce_latency_us: float
    allreduce_rate: float
    pair_rate: float
    exchange: ExchangeRate | None = None

    def faster(self, factor: Fraction) -> "NetworkRates":
        """Return the times if the bandwidth of all links is multiplied by `factor`."""
        rates = (self.allreduce_rate * float(factor), self.pair_rate * float(factor))
        return replace(self, allreduce_rate=rates[0], pair_rate=rates[1])

    def allreduce_us(self, size: int) -> float:
        """Return the time of an allreduce of `size` bytes, in microseconds."""
        return self.allreduce_latency_us + size / self.allreduce_rate

    def all_to_all_us(self, size: int) -> float:
        """Return the time of an all-to-all in which every node sends `size` bytes in total, in microseconds."""
        return size / self.nodes / self.pair_rate


def network_of_costs(construction: Construction, *, alpha_us: Fraction, node_bandwidth: Fraction) -> NetworkRates:
    """Return the times of collectives on a network of the finder, without making schedules.

    Args:
        construction: the network.
        alpha_us: the latency of a step, in microseconds.
        node_bandwidth: B, the total bandwidth of the links that leave a node, in GB/s.
    """
    cost = predicted_cost(construction, Collective.ALLREDUCE)
    node_rate = node_bandwidth * 1000  # in bytes per microsecond
    exchange = exchange_rate(construction)
    return NetworkRates(
        construction.name,
        construction.nodes,
        float(cost.steps * alpha_us),
        float(node_rate / cost.bandwidth_factor),
        float(node_rate / construction.degree * exchange.algbw) / construction.nodes,
        exchange,
    )


def network_of_file(
    text: str, *, alpha_us: Fraction, exchanges: bool = True, progress: Progress = SILENT
) -> NetworkRates:
    """Return the times of collectives on a topology, with a breadth-first allreduce, or with an allreduce schedule.

    Args:
        text: a builder's spec, or the name of a file with a topology or an allreduce schedule.
        alpha_us: the latency of a step, in microseconds.
        exchanges: whether all-to-alls are needed; if not, their rate is not computed and set to 0.
        progress: receives progress reports.

    Raises:
        InputError: there is no such topology or file, the file is not valid, the schedule is not an allreduce, or the
            topology has switches.
    """
    path = Path(text)
    if path.is_file() and _holds_schedule(path):
        schedule, report = read_verified(path, progress=progress)
        return _of_schedule(schedule, report.algbw, alpha_us, progress if exchanges else None)
    topology = load_topology(text)
    if topology.switches:
        raise InputError(
            f"{topology.name}: has switches, and a breadth-first allreduce needs a network without; give the file of "
            f"an allreduce: 'forestcoll generate {text} --collective allreduce -o FILE'"
        )
    allreduce = Bfb().schedule(Problem(topology, NodeDemand(Collective.ALLREDUCE), progress=progress))
    return _of_schedule(allreduce, shape_of(allreduce).algbw, alpha_us, progress if exchanges else None)


def _holds_schedule(path: Path) -> bool:
    kinds = tuple(f"{name.partition('/')[0]}/" for name in FORMATS)
    try:
        return str(read_document(path).get("format", "")).startswith(kinds)
    except InputError:  # no JSON: a network in another format, or nothing, which `load_topology` says
        return False


def _of_schedule(
    schedule: Schedule, algbw: Fraction | None, alpha_us: Fraction, exchanges: Progress | None
) -> NetworkRates:
    """Return the times of a schedule; all-to-alls only if `exchanges` is given, which receives progress."""
    topology = schedule.topology
    if schedule.collective is not Collective.ALLREDUCE or algbw is None:
        raise InputError(
            f"{topology.name}: training needs an allreduce, and this schedule is of {schedule.collective}; give the "
            "file of an allreduce"
        )
    unit, nodes = bytes_per_microsecond(topology.bandwidth_unit), len(topology.compute)
    exchange = None if exchanges is None else exchange_rate_of(topology, exchanges)
    return NetworkRates(
        topology.name,
        nodes,
        float(shape_of(schedule).hops * alpha_us),
        float(unit * algbw),
        0.0 if exchange is None else float(unit * exchange.algbw) / nodes,
        exchange,
    )
