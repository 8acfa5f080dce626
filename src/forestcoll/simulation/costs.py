"""The parameters of the cost model, and its result for one message size.

The default is an alpha-beta model: beta is the bandwidth of each link, which the network states, and nothing else costs
time. The other parameters describe an implementation. They have no effect by default, and `fit` finds them from
measured times. Sources of the parameters:

- launch_us: the constant ε of *Efficient Direct-Connect Topologies for Collective Communications*, appendix A.2.
- efficiency, nic_efficiency: NCCL 2.7.5 counts 0.92 of the bandwidth for its protocol LL128, in which 120 of 128 bytes
  are data, 0.9 for trees, and 20 of the 25 GB/s of an NVLink of an A100 (src/graph/tuning.cc, topo.h).
- rank_gbps: the same tuning.cc lets the channels of an A100 move at most 235 GB/s together.
- block_gbps: NCCL 2.28 counts at most 24 GB/s for each channel of an A100 with the protocol Simple in one box, and 38.7
  GB/s for an H100 (`perChMaxTreeBws` of the same file).
- receive_gbps, copy_gbps: fitted to measured programs (`program/measured_blocks.csv`).
- incast: the term max(w - w_t, 0)·B·ε of *Revisiting the Time Cost Model of AllReduce* (arXiv:2409.04202), with one
  sender as w_t.
- reduction_us_per_mb: the constant gamma of the direct-connect paper, appendix C.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Protocol

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.file_kinds import COSTS, check_kind
from forestcoll.base.files import PathLike, as_path, read_document
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import Collective
from forestcoll.topology import Topology

FORMAT = "forestcoll.costs/1"
"""The format of files with costs."""

_MOST_BYTES = 2**20
"""The longest file of costs that is read."""

_MOST = 10**9
"""The greatest value of a parameter without another limit."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a parameter may have.

    Attributes:
        unit: its unit, in words; "" for a part.
        greatest: the greatest value.
        above_zero: whether 0 is excluded.
    """

    unit: str
    greatest: float = _MOST
    above_zero: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        return 0 <= value <= self.greatest and not (self.above_zero and value == 0)

    @property
    def words(self) -> str:
        """The range in words, for an error message."""
        greatest = "10^9" if self.greatest == _MOST else f"{self.greatest:g}"
        span = f"more than 0 and at most {greatest}" if self.above_zero else f"between 0 and {greatest}"
        return f"{span} {self.unit}".strip()


RANGES: dict[str, Range] = {
    "alpha_us": Range("microseconds"),
    "overhead_us": Range("microseconds"),
    "launch_us": Range("microseconds"),
    "efficiency": Range("", 1, above_zero=True),
    "nic_efficiency": Range("", 1, above_zero=True),
    "rank_gbps": Range("GB/s", above_zero=True),
    "block_gbps": Range("GB/s", above_zero=True),
    "receive_gbps": Range("GB/s", above_zero=True),
    "copy_gbps": Range("GB/s", above_zero=True),
    "incast": Range("", 1000),
    "reduction_us_per_mb": Range("microseconds"),
}
"""The range of each parameter."""


@dataclass(frozen=True, slots=True)
class Costs:
    """The parameters of the cost model: an alpha-beta model and what an implementation loses.

    By default, data uses the whole bandwidth of each link, which the network states.

    Attributes:
        alpha_us: the time from the start of a send to the arrival of its first byte, in microseconds. The latency of
            links (`latency_us`), where the network states it, is added.
        overhead_us: the additional time of each chunk at each hop, in microseconds. Without it, the best chunks would
            be infinitely small.
        launch_us: the constant time of a collective, in microseconds, such as the launch of a kernel.
        efficiency: the part of the bandwidth of a link that data can use; the rest is the protocol's.
        nic_efficiency: the same for links that leave a box; None for the same part as other links.
        rank_gbps: the most that a rank sends, and the most that it receives, over all its links and channels together,
            in GB/s; None for no limit.
        block_gbps: the most that a thread block sends, in GB/s; None for no limit. Only the simulation of programs has
            blocks.
        receive_gbps: the most that a thread block takes out of the buffers of a channel without sending it on, in GB/s;
            None if that takes no time.
        copy_gbps: the most that a thread block copies or adds up in the memory of its GPU, in GB/s; None if that takes
            no time.
        incast: the part by which each sender to a rank, after the first, makes the last link to the rank slower.
        reduction_us_per_mb: the time to add up 1 MB (10^6 bytes) of received data, in microseconds. It does not overlap
            with the transfer of the same data.

    Raises:
        InputError: a value is not a number or is out of range.

    Example:
        >>> from forestcoll import generate, simulate
        >>> schedule = generate("ring:nodes=3")
        >>> [round(simulate(schedule, [1], Costs(alpha_us=alpha))[0].seconds * 1e6) for alpha in (1, 9)]
        [2, 10]
        >>> whole, half = (simulate(schedule, [2**40], Costs(efficiency=part))[0].algbw for part in (1, 0.5))
        >>> round(whole / half, 3)
        2.0
    """

    alpha_us: float = 5.0
    overhead_us: float = 1.0
    launch_us: float = 0.0
    efficiency: float = 1.0
    nic_efficiency: float | None = None
    rank_gbps: float | None = None
    block_gbps: float | None = None
    receive_gbps: float | None = None
    copy_gbps: float | None = None
    incast: float = 0.0
    reduction_us_per_mb: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.default is None:
                continue
            if value not in (span := RANGES[each.name]):
                raise InputError(f"{each.name} is {shown(value)}; it must be {span.words}")

    @property
    def efficiency_of_nics(self) -> float:
        """The efficiency of links that leave a box."""
        return self.efficiency if self.nic_efficiency is None else self.nic_efficiency

    def document(self) -> dict[str, object]:
        """Return the JSON of the costs."""
        return {"format": FORMAT} | {each.name: getattr(self, each.name) for each in fields(self)}


def read_costs(path: PathLike) -> Costs:
    """Return the costs in the file at `path`, which `forestcoll fit` wrote.

    Args:
        path: the file; `-` is standard input.

    Returns:
        The costs; parameters that the file does not name have their defaults.

    Raises:
        InputError: the file cannot be read, does not have the format of costs, or a value is not valid.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("costs.json").write_text('{"format": "forestcoll.costs/1", "alpha_us": 12, "efficiency": 0.8}')
        >>> costs = read_costs("costs.json")
        >>> costs.alpha_us, costs.overhead_us, costs.efficiency
        (12, 1.0, 0.8)
    """
    path = as_path(path)
    return costs_from_document(read_document(path, limit=_MOST_BYTES), str(path))


def costs_from_document(values: object, where: str) -> Costs:
    """Return the costs in a JSON document; parameters that it does not name have their defaults.

    Args:
        values: the document.
        where: the name of the document, which begins error messages.

    Raises:
        InputError: the document does not have the format of costs, or a value is not valid.
    """
    if isinstance(values, Mapping):
        check_kind(values, COSTS, where)
    if not isinstance(values, Mapping) or values.get("format") != FORMAT:
        raise InputError(f'{where}: is no file of costs; "format" must be "{FORMAT}", as forestcoll fit writes it')
    given = {name: value for name, value in values.items() if name != "format"}
    for name in given:
        if name not in RANGES:
            raise InputError(
                f"{where}: {shown(name)} is no parameter of the costs; {did_you_mean(name, RANGES)}remove it"
            )
    try:
        return Costs(**given)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


@dataclass(frozen=True, slots=True)
class Point:
    """The simulated time of a collective for one message size.

    Attributes:
        size: the total data M, in bytes.
        seconds: the time of the collective, in seconds.
        algbw: the algorithmic bandwidth M / time, in the network's unit.
        busbw: the bus bandwidth as nccl-tests defines it, in the same unit.
        pieces: the number of pieces that the data of each tree is cut into; they follow each other through the tree.
        chunk_bytes: the size of a piece of the tree with the greatest share, in bytes.

    Example:
        >>> from forestcoll import generate, simulate
        >>> point = simulate(generate("ring:nodes=3"), [2**30])[0]
        >>> point.size, point.algbw > point.busbw
        (1073741824, True)
    """

    size: int
    seconds: float
    algbw: float
    busbw: float
    pieces: int
    chunk_bytes: float


class OnNetwork(Protocol):
    """A collective on a network: a schedule, or the problem that it solves."""

    @property
    def topology(self) -> Topology:
        """The network."""

    @property
    def collective(self) -> Collective:
        """The collective."""

    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of the compute nodes that take part."""


def point_at(schedule: OnNetwork, *, size: int, seconds: float, pieces: int, part: float) -> Point:
    """Return the point for a simulated time of `schedule`.

    Args:
        schedule: the schedule, or the collective on its network.
        size: the total data M, in bytes.
        seconds: the simulated time.
        pieces: the number of pieces.
        part: the greatest part of M that is cut into these pieces.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    topology = schedule.topology
    algbw = size / seconds / float(bytes_per_microsecond(topology.bandwidth_unit) * 10**6)
    busbw = algbw * float(schedule.collective.busbw_factor(len(schedule.members)))
    return Point(size, seconds, algbw, busbw, pieces, size * part / pieces)
