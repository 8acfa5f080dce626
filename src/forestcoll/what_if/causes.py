"""Causes of a low bandwidth: changes of the network and settings of NCCL under which a measured figure would be normal.

Tried are failures of one and of two links or NICs, of a rail and of a switch of the fabric, links that have lost a part
of their width, one NIC in use, no GPUDirect RDMA, no NVLS, and the order of the hosts: that of the network, or one that
alternates between the switches of the fabric. After each, the algorithm of NCCL that fits the figure has another limit,
and its usual share of the limit is what a machine with this fault reaches. Symmetric changes are tried once, as in
`failures`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import zip_longest
from math import log

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.change import demand_after
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.algorithms import algbw_of
from forestcoll.nccl.comparison import Cause, LogComparison, TestComparison, Verdict
from forestcoll.nccl.healthy import ANY, NVLS, RINGS
from forestcoll.nccl.limits import Limit, bound_by
from forestcoll.nccl.order.rank_order import best_order
from forestcoll.solver.flows.search import flow_search
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change, change_named
from forestcoll.topology.failures import PartKind, parts_of
from forestcoll.topology.gpus import gpu_of
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.graph.walks import unreachable_pair
from forestcoll.topology.link_classes import Ends, link_classes
from forestcoll.what_if.classes import Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.value import Evaluator

MOST_CAUSES = 5
"""The most causes that are listed."""

_MOST_PAIRS = 300
"""The most parts of which pairs are tried."""

_MOST_TRIED = 400
"""The most changes that are tried: the first of each class of symmetric ones."""

_MOST_NODES = 100
"""The most nodes of a network for whose all-to-all causes are looked for: each change is a linear program."""

_NEAR = 0.05
"""Causes whose expected figures differ from the measured one by about this ratio are equally good."""


@dataclass(frozen=True)
class _Suspect:
    """A change that may be the cause.

    Attributes:
        text: the options or the setting that make it.
        test: the command that tests it.
        change: the change of the network.
        parts: how many parts must have failed.
    """

    text: str
    test: str
    change: Change
    parts: int = 1


def with_causes(found: LogComparison, progress: Progress = SILENT) -> LogComparison:
    """Return a comparison with the causes of each test whose verdict is low, and of each that NVLS could speed up.

    Example:
        >>> from forestcoll.nccl.comparison import judge_busbw
        >>> from forestcoll.what_if.causes import with_causes
        >>> (test,) = with_causes(judge_busbw("dgx-h100:boxes=4", 230, "allgather")).tests
        >>> test.causes[0].change, float(test.causes[0].busbw)
        ('--without b0/gpu0--ib,b0/gpu1--ib', 232.5)
    """
    network = found.topology
    if network is None:
        return found
    tests = (replace(test, causes=tuple(_causes(network, test, progress))) for test in found.tests)
    return replace(found, tests=tuple(tests))


def _causes(network: Topology, test: TestComparison, progress: Progress) -> list[Cause]:
    if test.demand is None or test.limit is None:
        return []
    found = list(_without_nvls(network, test))
    if test.verdict in (Verdict.LOW, Verdict.VERY_LOW):
        progress.begin("looking for causes")
        is_exchange = test.demand.collective.is_personalised
        found += [] if is_exchange and len(network.nodes) > _MOST_NODES else _Search(network, test, progress).causes()
    return sorted(found, key=lambda each: each.rank)[:MOST_CAUSES]


def _without_nvls(network: Topology, test: TestComparison) -> Iterator[Cause]:
    """Yield that NVLS did not run, if the machine is known for it, and the figure is usual for rings."""
    best, *others = test.limits
    if any(each.usual.algorithm == NVLS and each.usual.source for each in others):
        suspect = _Suspect("NCCL_NVLS_ENABLE=0", f"{_DEBUG},NVLS", Change(""))
        yield from _cause(network, test, best, suspect)


def _cause(network: Topology, test: TestComparison, limit: Limit, suspect: _Suspect) -> Iterator[Cause]:
    """Yield the suspect as a cause if the measured algbw is normal for a limit."""
    measured, usual, demand = test.best[1] / test.gbps, limit.usual, test.demand or NodeDemand()
    if usual.least_normal <= measured / limit.algbw <= min(Fraction(1), usual.high * Fraction(11, 10)):
        expected = limit.algbw * (usual.low + usual.high) / 2
        factor = demand.collective.busbw_factor(len(demand.members(network))) * test.gbps
        distance = abs(log(measured / expected))
        rank = (int(distance / _NEAR), suspect.parts, distance)
        yield Cause(suspect.text, expected * factor, suspect.test, rank)


class _Search:
    """Tries changes of one network."""

    def __init__(self, network: Topology, test: TestComparison, progress: Progress) -> None:
        self._network, self._test, self._progress = network, test, progress
        self._demand = test.demand or NodeDemand()
        self._limit = test.limits[0]
        self._is_exchange = self._demand.collective.is_personalised
        self._before = None if self._is_exchange else bound_by(self._limit.usual.algorithm, network, self._demand)
        self._evaluator = Evaluator(network, self._demand)

    def causes(self) -> Iterator[Cause]:
        """Yield the changes under which the figure is normal. Of equal effects, that of the fewest parts counts."""
        suspects = list(_suspects(self._network, self._demand))[:_MOST_TRIED]
        fewest: dict[Fraction, int] = {}
        seen: set[tuple[Fraction, str]] = set()
        for place, each in enumerate(suspects):
            self._progress.advance(place, len(suspects))
            algbw = self._after(each.change)
            if algbw and fewest.setdefault(algbw, each.parts) == each.parts and (algbw, each.test) not in seen:
                seen.add((algbw, each.test))
                yield from _cause(self._network, self._test, replace(self._limit, algbw=algbw), each)
        if self._limit.usual.algorithm == RINGS:
            yield from self._order()

    def _order(self) -> Iterator[Cause]:
        """Yield the order of the hosts: that of the network if another one is better, else an alternating one."""
        orders = (None, best_order(self._network), _alternating(self._network))
        given, best, mixed = (algbw_of(self._network, self._demand, "RING", each) or Fraction(0) for each in orders)
        found = given if given < best else mixed
        if 0 < found < best:
            test = "forestcoll rank-order TOPOLOGY --to hostfile -o hosts; mpirun --hostfile hosts"
            limit = replace(self._limit, algbw=self._limit.algbw * found / best)
            yield from _cause(self._network, self._test, limit, _Suspect("the order of the hosts", test, Change("")))

    def _after(self, change: Change) -> Fraction | None:
        """Return the limit after a change; None if there is none. It falls with what the algorithm itself can reach."""
        name = self._limit.usual.algorithm
        if name == ANY and not self._is_exchange:
            return self._evaluator.value(change).algbw
        network, demand = change.network(self._network), demand_after(change, self._network, self._demand)
        if demand is None or unreachable_pair(network, demand.members(network)) is not None:
            return None
        if self._is_exchange:
            return flow_search(network, demand, SILENT, paths=False).bound.algbw
        if not self._before:
            return None
        after = bound_by(name, network, demand)
        return None if after is None else self._limit.algbw * after / self._before


def _suspects(network: Topology, demand: NodeDemand) -> Iterator[_Suspect]:
    seen = set()
    for each in (
        *_failures(network, demand, 1),
        *_narrow(network),
        *_rails(network),
        *([] if demand.collective.is_personalised else _failures(network, demand, 2)),
    ):
        key = (each.change.links, each.change.nodes, each.change.bandwidths)
        if key not in seen:
            seen.add(key)
            yield each


def _failures(network: Topology, demand: NodeDemand, at_once: int) -> Iterator[_Suspect]:
    """Yield the first of each class of failures of `at_once` links, NICs or switches outside boxes."""
    inside = box_numbers(network)
    outside = [] if at_once > 1 else [each for each in network.switches if each not in inside]
    kinds = [_parts(network, PartKind.NICS), _parts(network, PartKind.LINKS)]
    kinds.append([each for each in _parts(network, PartKind.SWITCHES) if set(each.nodes) <= set(outside)])
    symmetries = Symmetries.of(network, demand)
    for parts in kinds:
        if len(parts) < at_once or (at_once > 1 and len(parts) > _MOST_PAIRS):
            continue
        images = images_of_items(symmetries, [frozenset((*each.links, *each.nodes)) for each in parts])
        for found in classes_of_sets(len(parts), at_once, images):
            chosen = [parts[place] for place in found.first]
            change = chosen[0] if at_once == 1 else chosen[0].together(chosen[1])
            yield _Suspect(
                f"--without {','.join(each.name for each in chosen)}", _test_of(network, change), change, at_once
            )


def _parts(network: Topology, part: PartKind) -> list[Change]:
    try:
        return parts_of(network, part)
    except InputError:  # the network has none
        return []


def _narrow(network: Topology) -> Iterator[_Suspect]:
    """Yield links that have lost a part of their width: one of each class, and all NICs, as without GPUDirect RDMA."""
    inside = box_numbers(network)
    for each in link_classes(network):
        one, other = (str(network.nodes[node].id) for node in each.links[0])
        is_nic = len(set(each.links[0]) & inside.keys()) == 1
        for left in (75, 50, 25):
            text = f"{one}--{other}={left}%"
            change = change_named(network, degrade=[text])
            test = _PCIE if is_nic else _test_of(network, Change("", links=each.links[:1]))
            yield _Suspect(f"--degrade {text}", test, change)
    nics = {ends for each in _parts(network, PartKind.NICS) for ends in each.links}
    if nics:
        halves = {way: value / 2 for way, value in network.bandwidths.items() if (min(way), max(way)) in nics}
        change = Change("", bandwidths=tuple((*way, value) for way, value in sorted(halves.items())))
        yield _Suspect("NCCL_NET_GDR_LEVEL=LOC", f"{_DEBUG},NET | grep GDRDMA", change)


def _alternating(network: Topology) -> tuple[int, ...]:
    """Return an order of boxes in which neighbours have different switches, where there are several."""
    inside = box_numbers(network)
    switches: dict[int, set[int]] = {box: set() for node in network.compute if (box := inside.get(node)) is not None}
    for link in network.links:
        if inside.get(link.source) in switches and link.target not in inside:
            switches[inside[link.source]].add(link.target)
    groups: dict[frozenset[int], list[int]] = {}
    for place, its in enumerate(switches.values()):
        groups.setdefault(frozenset(its), []).append(place)
    return tuple(each for row in zip_longest(*groups.values()) for each in row if each is not None)


def _rails(network: Topology) -> Iterator[_Suspect]:
    """Yield the failure of the NICs at the same place of all boxes, and that only the first NIC of each box is used."""
    by_box: dict[int, list[Change]] = {}
    inside = box_numbers(network)
    for nic in _parts(network, PartKind.NICS):
        boxes = {inside[node] for ends in nic.links for node in ends if node in inside}
        by_box.setdefault(min(boxes), []).append(nic)
    if len(by_box) < 2 or len({len(nics) for nics in by_box.values()}) > 1:
        return
    rail = [nics[0] for nics in by_box.values()]
    change = Change("", links=_links_of(rail))
    yield _Suspect(f"--without {','.join(each.name for each in rail)}", _test_of(network, change), change, 2)
    others = [nic for nics in by_box.values() for nic in nics[1:]]
    if len(others) > len(rail):
        yield _Suspect(
            "NCCL_IB_HCA=mlx5_0", f"{_DEBUG},NET | grep 'NET/IB : Using'", Change("", links=_links_of(others))
        )


def _links_of(parts: Sequence[Change]) -> tuple[Ends, ...]:
    return tuple(sorted(ends for each in parts for ends in each.links))


_DEBUG = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT"
"""What makes NCCL say what it found."""

_PCIE = "lspci -vv | grep LnkSta:"
"""What shows the width and the speed of each PCIe link."""

_ON_PCIE = ("nic", "pcie switch", "cpu")
"""The devices of a box that GPUs reach over PCIe."""


def _test_of(network: Topology, change: Change) -> str:
    """Return the command that tests whether links or switches have failed."""
    inside = box_numbers(network)
    ends = {node for each in change.links for node in each}
    if change.nodes or not ends & inside.keys():
        return "iblinkinfo --switches-only; ibdiagnet"
    if not ends <= inside.keys():
        return "ibstatus; rdma link show"
    if any(network.nodes[node].attributes.get("device") in _ON_PCIE for node in ends):
        return _PCIE
    gpu = gpu_of(network)
    return "amd-smi xgmi" if gpu is not None and gpu.name.startswith("mi") else "nvidia-smi nvlink --status"
