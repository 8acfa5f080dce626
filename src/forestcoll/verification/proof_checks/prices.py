"""Prices of ports bound a series of a collective (*Steady-state broadcasts*, the dual of SSB(G)).

The cost of a message is the time that it takes at each port times the price of the port. It is at least the sum of the
weights of all cuts, because the tree of the message enters each cut, and no path between compute nodes costs less than
the weights of the cuts that it enters. A unit of time at all ports costs the sum of the prices. So the throughput is at
most the sum of the prices / the sum of the weights.

An odd set S of half-duplex nodes can have a price, too. A link between two of its nodes costs its time times the price,
and at most (|S| - 1) / 2 such links are busy at the same time. A unit of the bandwidth that the links of a node share
is used for 1 / (that bandwidth) by each message.

An operation of another collective consists of several messages. In a scatter, a set is entered by a message for each of
its nodes, and in an allgather by one from each node outside. So its weight counts as often. In a gather, a reduce or a
reduce-scatter, messages leave the set instead.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import PricesProof
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.topology import Topology
from forestcoll.topology.graph.node_ports import PORT_OF, RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError, require_coarse
from forestcoll.verification.wording import node, number

_SENDS_ONE = frozenset({"one-port", "one-port-send"})
_RECEIVES_ONE = frozenset({"one-port", "one-port-receive"})
"""The port models in which a compute node sends to, or receives from, one neighbour at a time."""
_HALF_DUPLEX = "half-duplex"
_EXCLUSIVE = _SENDS_ONE | _RECEIVES_ONE | {_HALF_DUPLEX}

_CROSSINGS: Mapping[Collective, Callable[[int, int], int]] = {
    Collective.BROADCAST: lambda _inside, _outside: 1,
    Collective.REDUCE: lambda _inside, _outside: 1,
    Collective.SCATTER: lambda inside, _outside: inside,
    Collective.GATHER: lambda inside, _outside: inside,
    Collective.ALLGATHER: lambda _inside, outside: outside,
    Collective.REDUCE_SCATTER: lambda _inside, outside: outside,
}
"""How many messages of an operation cross a cut, by the numbers of compute nodes inside and outside."""
_INWARDS = frozenset({Collective.REDUCE, Collective.GATHER, Collective.REDUCE_SCATTER})
_WHOLE = frozenset({Collective.BROADCAST, Collective.REDUCE})
"""The collectives in which M is one message, not one for each compute node."""
_OF_ALL = frozenset({Collective.ALLGATHER, Collective.REDUCE_SCATTER})
"""The collectives without a root."""


def prices_bound(proof: PricesProof, question: BoundQuestion) -> Fraction:
    """Return the bound on algbw that the prices prove; a message has size 1."""
    collective, nodes = question.collective, len(question.topology.compute)
    if collective not in _CROSSINGS or (collective in _OF_ALL) != (question.root is None):
        raise UnprovenError(f"prices bound no series of {collective.with_article}")
    if any(price <= 0 for _, price in proof.prices) or any(weight <= 0 for weight, _ in proof.cuts):
        raise UnprovenError("a price or the weight of a cut is 0 or less")
    if len({port for port, _ in proof.prices}) < len(proof.prices):
        raise UnprovenError("a port has two prices")
    others = set(question.topology.compute) - {question.root}
    if not proof.cuts or not all(cut and others.issuperset(cut) for _, cut in proof.cuts):
        raise UnprovenError("there is no cut, or one is empty or contains the source or a switch")
    most = nodes - (question.root is None)
    if any(len(set(cut)) < len(cut) or len(cut) > most for _, cut in proof.cuts):
        raise UnprovenError("a cut has a node twice, or all compute nodes")
    require_coarse([price for price, _ in proof.odd_sets])
    require_coarse([*(price for _, price in proof.prices), *(weight for weight, _ in proof.cuts)])
    _require_odd_sets(proof, question.topology)
    _require_costs(proof, question.topology, leaving=collective in _INWARDS)
    paid = exact_sum(price for _, price in proof.prices)
    paid += exact_sum(price * Fraction(len(inside) - 1, 2) for price, inside in proof.odd_sets)
    crossed = _CROSSINGS[collective]
    needed = exact_sum(weight * crossed(len(cut), nodes - len(cut)) for weight, cut in proof.cuts)
    return paid / needed * (1 if collective in _WHOLE else nodes)


def _require_odd_sets(proof: PricesProof, topology: Topology) -> None:
    if proof.odd_sets and topology.port_model != _HALF_DUPLEX:
        raise UnprovenError("odd sets have prices only if nodes are half-duplex")
    for price, inside in proof.odd_sets:
        if price <= 0:
            raise UnprovenError("the price of an odd set is 0 or less")
        if len(inside) % 2 == 0 or len(set(inside)) < len(inside) or not set(topology.compute).issuperset(inside):
            raise UnprovenError("an odd set does not have an odd number of different compute nodes")


def _require_costs(proof: PricesProof, topology: Topology, *, leaving: bool) -> None:
    """Check that no path between compute nodes costs less than the weights of the cuts that it enters, or leaves."""
    entered: dict[int, dict[int, Fraction]] = {each: {} for each in topology.compute}
    for place, (weight, cut) in enumerate(proof.cuts):
        for each in cut:
            entered[each][place] = weight
    costs = _costs(proof, topology)
    for source in topology.compute:
        for target, cost in _path_costs(topology, costs, source):
            inner, outer = (source, target) if leaving else (target, source)
            due = exact_sum(each for place, each in entered[inner].items() if place not in entered[outer])
            if cost < due:
                path = f"{node(topology, source)} -> {node(topology, target)} costs {number(cost)} at the prices"
                verb = "leaves" if leaving else "enters"
                raise UnprovenError(f"{path}, less than {number(due)}, the weight of the cuts that it {verb}")


def _costs(proof: PricesProof, topology: Topology) -> dict[int, list[tuple[int, Fraction]]]:
    """Return, for each node, the targets of its links, each with the cost of a message over the link."""
    prices = dict(proof.prices)
    outgoing, incoming = shared_bandwidths(topology, SEND_LIMIT), shared_bandwidths(topology, RECEIVE_LIMIT)
    leaving: dict[int, list[tuple[int, Fraction]]] = {}
    for place, link in enumerate(topology.links):
        ports = list(occupied(topology, place))
        nodes = {port.number for port in ports if port.kind is PortKind.BOTH}
        paid = exact_sum(prices.get(port, Fraction(0)) for port in ports)
        if len(nodes) == 2:
            paid += exact_sum(price for price, inside in proof.odd_sets if nodes.issubset(inside))
        cost = paid / link.bandwidth
        if link.source in outgoing:
            cost += prices.get(Port(PortKind.OUTGOING, link.source), Fraction(0)) / outgoing[link.source]
        if link.target in incoming:
            cost += prices.get(Port(PortKind.INCOMING, link.target), Fraction(0)) / incoming[link.target]
        leaving.setdefault(link.source, []).append((link.target, cost))
    return leaving


def occupied(topology: Topology, link: int) -> Iterator[Port]:
    """Yield the ports that a busy link occupies: the link itself, and the ports of its ends in the port model."""
    yield Port(PortKind.LINK, link)
    if topology.port_model not in _EXCLUSIVE:
        return
    ends = topology.links[link]
    sender, receiver = _holder(topology, ends.source), _holder(topology, ends.target)
    if sender == receiver:  # a stage within a node, or a link between switches without ports
        sender, receiver = (sender, None) if topology.nodes[ends.source].is_compute else (None, receiver)
    if topology.port_model in _SENDS_ONE and sender is not None:
        yield Port(PortKind.SEND, sender)
    if topology.port_model in _RECEIVES_ONE and receiver is not None:
        yield Port(PortKind.RECEIVE, receiver)
    if topology.port_model == _HALF_DUPLEX:
        yield from (Port(PortKind.BOTH, end) for end in (sender, receiver) if end is not None)


def _holder(topology: Topology, node: int) -> int | None:
    """Return the compute node whose ports a link at `node` occupies: the node itself, or the one of its `port_of`."""
    if topology.nodes[node].is_compute:
        return node
    name = topology.nodes[node].attributes.get(PORT_OF)
    return next((each for each in topology.compute if topology.nodes[each].id == name), None)


def _path_costs(
    topology: Topology, leaving: dict[int, list[tuple[int, Fraction]]], start: int
) -> Iterator[tuple[int, Fraction]]:
    """Yield the compute nodes that `start` reaches over switches alone, with the least cost of each (Dijkstra)."""
    if not topology.switches:
        yield from leaving.get(start, [])
        return
    waiting = [(Fraction(0), start)]
    done: set[int] = set()
    while waiting:
        cost, here = heapq.heappop(waiting)
        if here in done:
            continue
        done.add(here)
        if here != start and topology.nodes[here].is_compute:
            yield here, cost
            continue
        for target, more in leaving.get(here, []):
            heapq.heappush(waiting, (cost + more, target))
