"""Odd hardware that a network shows: slow and missing links where others have them, GPUs that are not at their NIC."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from forestcoll.base.errors import plural
from forestcoll.topology import Topology
from forestcoll.topology.changes import link_name
from forestcoll.topology.graph.boxes import box_numbers, named_boxes
from forestcoll.topology.graph.walks import reached
from forestcoll.topology.link_classes import LinkClass, is_nic, link_classes, nic_name

_MOST_NAMED = 3
"""The most links of one kind that a sentence names."""


def oddities(network: Topology) -> list[str]:
    """Return what is odd about the links of a network, in sentences without a period.

    Odd is what differs from at least three quarters of the links of one kind, or of the compute nodes.

    Example:
        >>> from forestcoll import load_topology
        >>> oddities(load_topology("dgx-a100:boxes=2").degraded("b0/gpu0--ib", to="12.5"))
        ['1 of 16 links between GPU and switch has 12.5 GB/s, not 25 GB/s: b0/gpu0--ib']
    """
    return [*_slow(network), *_missing(network), *_apart_from_nics(network)]


def _slow(network: Topology) -> Iterator[str]:
    kinds: dict[tuple[str, str], list[LinkClass]] = defaultdict(list)
    for each in link_classes(network):
        kinds[each.sorts].append(each)
    unit = network.bandwidth_unit
    for (one, other), classes in kinds.items():
        total = sum(len(each.links) for each in classes)
        usual = max(classes, key=lambda each: len(each.links))
        for each in classes:
            if each.bandwidth < usual.bandwidth and 4 * len(usual.links) >= 3 * total:
                count, names = len(each.links), [link_name(network, ends) for ends in each.links[:_MOST_NAMED]]
                named = ", ".join([*names, "…"] if count > _MOST_NAMED else names)
                figures = f"{float(each.bandwidth):g} {unit}, not {float(usual.bandwidth):g} {unit}"
                has = "has" if count == 1 else "have"
                yield f"{count} of {total} links between {one} and {other} {has} {figures}: {named}"


def _missing(network: Topology) -> Iterator[str]:
    """Yield the compute nodes that have fewer links inside their box, or to the outside, than almost all others."""
    inside = box_numbers(network)
    for where, is_inner in (("inside its box", True), ("out of its box", False)):
        counts = {
            node: sum(
                (inside.get(node) == inside.get(end)) is is_inner
                for end in network.targets[node]
                if not is_nic(network.nodes[end])
            )
            for node in network.compute
            if node in inside
        }
        usual, _ = Counter(counts.values()).most_common(1)[0] if counts else (0, 0)
        odd = [node for node, count in counts.items() if count < usual]
        if 4 * len(odd) <= len(counts):
            for node in odd[:_MOST_NAMED]:
                name = network.nodes[node].id
                yield f"{name} has {plural(counts[node], 'link')} {where}, and the others have {usual}"


def _apart_from_nics(network: Topology) -> Iterator[str]:
    """Yield the GPUs that share no PCIe switch with a NIC where others do, and NICs in another order than the GPUs."""
    hosts: dict[str, list[str]] = defaultdict(list)
    for box, nodes in named_boxes(network).items():
        for sentence in _of_host(network, nodes):
            hosts[sentence].append(box)
    for sentence, boxes in hosts.items():
        more = f" and {plural(len(boxes) - 1, 'more host')}" if len(boxes) > 1 else ""
        yield f"{boxes[0]}{more}: {sentence}"


def _of_host(network: Topology, nodes: Sequence[int]) -> Iterator[str]:
    def onwards(node: int) -> Sequence[int]:
        is_way = network.nodes[node].is_compute or network.nodes[node].attributes.get("device") == "pcie switch"
        return [end for end in network.targets[node] if not network.nodes[end].is_compute] if is_way else ()

    near = {
        gpu: sorted(node for node in reached([gpu], onwards) if is_nic(network.nodes[node]))
        for gpu in nodes
        if network.nodes[gpu].is_compute
    }
    ids = {node: nic_name(each) if is_nic(each := network.nodes[node]) else each.id for node in nodes}
    names = {node: str(name).rpartition("/")[2] for node, name in ids.items()}
    alone = [names[gpu] for gpu, nics in near.items() if not nics]
    if alone and 2 * len(alone) <= len(near):
        verb = "shares" if len(alone) == 1 else "share"
        yield f"{', '.join(alone)} {verb} no PCIe switch with a NIC, as others do"
    first = {tuple(nics): gpu for gpu, nics in reversed(near.items()) if nics}
    in_turn = [(gpu, nics) for nics, gpu in reversed(first.items())]
    if [nics for _, nics in in_turn] != sorted(nics for _, nics in in_turn):
        pairs = ", ".join(f"{names[gpu]} is at {names[nics[0]]}" for gpu, nics in in_turn[:_MOST_NAMED])
        yield f"the NICs have another order than the GPUs: {pairs}; do not pair them by number"
