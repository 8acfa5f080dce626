"""What healthy machines reach, from public measurements; `healthy.csv` has one line for each, and takes more.

| column | content |
| --- | --- |
| machine | a word in the name of the network, such as `h100` in `dgx-h100:boxes=1` |
| boxes | hosts and GPUs of each that took part, as `2x8` |
| collective | a collective, or `*` for all that use rings |
| algorithm | `rings`, `trees` or `NVLS` |
| low %, high % | the share of the bound that was measured with large messages |
| of which bound | of all `rings`; of `any` schedule; `NVLS`: of any with switches that add up |
| source | where it was published |
"""

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from importlib.resources import files

from forestcoll.demand.collective import Collective
from forestcoll.topology import Topology
from forestcoll.topology.gpus import gpu_of
from forestcoll.topology.graph.boxes import box_numbers

ANY, RINGS, TREES, NVLS = "any", "rings", "trees", "NVLS"
"""The names of algorithms and of bounds."""


@dataclass(frozen=True)
class Usual:
    """The share of a bound that is usual.

    Attributes:
        algorithm: what runs: `rings`, `trees`, `NVLS` or, if that is not known, `any`.
        low: the least usual share.
        high: the greatest usual share.
        bound: the bound of which it is a share: `rings`, `trees`, `NVLS` or `any`.
        source: where it was published; empty if it is a rule of thumb.
    """

    algorithm: str
    low: Fraction
    high: Fraction
    bound: str
    source: str = ""

    @property
    def least_normal(self) -> Fraction:
        """The least normal share: healthy machines differ, so it is 10 % below what was published."""
        return self.low * Fraction(9, 10) if self.source else self.low


def rule_of_thumb(algorithm: str) -> Usual:
    """Return the share that counts as usual where no measurement of the machine is known: 60 to 95 %."""
    return Usual(algorithm, Fraction(60, 100), Fraction(95, 100), algorithm)


def usual_shares(topology: Topology, members: Sequence[int], collective: Collective) -> list[Usual]:
    """Return what was measured on healthy machines of this kind.

    Args:
        topology: the network; its name tells the machine.
        members: the numbers of the compute nodes that take part.
        collective: the collective.

    Example:
        >>> from forestcoll import load_topology
        >>> box = load_topology("dgx-h100:boxes=1")
        >>> [(each.algorithm, float(each.high)) for each in usual_shares(box, range(8), Collective.ALLREDUCE)]
        [('rings', 0.8222), ('NVLS', 0.6095)]
    """
    numbers = box_numbers(topology)
    sizes = Counter(numbers.get(member, -1) for member in members).values()
    shape = f"{len(sizes)}x{max(sizes)}" if len(set(sizes)) == 1 else ""
    kinds = {collective.value, "*"} if collective in _BY_RINGS else {collective.value}
    return [
        usual
        for machine, at, kind, usual in _rows()
        if machine in topology.name.lower() and at == shape and kind in kinds
    ]


_BY_RINGS = {Collective.ALLREDUCE, Collective.ALLGATHER, Collective.REDUCE_SCATTER}


@cache
def _rows() -> tuple[tuple[str, str, str, Usual], ...]:
    text = files("forestcoll.nccl").joinpath("healthy.csv").read_text(encoding="utf-8")
    found = []
    for row in csv.DictReader(text.splitlines()):
        low, high = (Fraction(row[key]) / 100 for key in ("low %", "high %"))
        usual = Usual(row["algorithm"], low, high, row["of which bound"], row["source"])
        found.append((row["machine"], row["boxes"], row["collective"], usual))
    return tuple(found)


def with_nvls(topology: Topology, members: Sequence[int]) -> Topology | None:
    """Return the network with switches of boxes that add up and copy data; None if its machine has none.

    Builders leave this out unless `nvls=true` is given. A machine has NVLS if its GPU is known to have it.
    """
    gpu, numbers = gpu_of(topology), box_numbers(topology)
    if any(switch in numbers for switch in topology.able_switches):
        return topology
    if gpu is None or gpu.nvls_efficiency is None:
        return None
    inside: dict[int, list[int]] = {}
    for member in members:
        inside.setdefault(numbers.get(member, -1), []).append(member)
    joined = set()
    for switch in set(topology.switches) & numbers.keys():
        own = inside.get(numbers[switch], [])
        if len(own) > 1 and all({(each, switch), (switch, each)} <= topology.link_numbers.keys() for each in own):
            joined.add(switch)
    if not joined:
        return None
    nodes = (
        replace(node, multicast=True, aggregation=True) if number in joined else node
        for number, node in enumerate(topology.nodes)
    )
    return replace(topology, nodes=tuple(nodes))
