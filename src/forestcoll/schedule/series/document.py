"""`forestcoll.broadcast-series/1`: a periodic schedule as a JSON document and as a file.

The document names nodes by their ids. The reader checks types and ranges, so that every `SeriesSchedule` is well
formed. It does not check that the schedule is correct; `verify` does.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import json_text
from forestcoll.base.json_parts import integer_of, list_of, object_of, rational_of
from forestcoll.demand.collective import SERIES, Collective
from forestcoll.schedule.document_parts import check_format
from forestcoll.schedule.proof import Bound, PricesProof, Proof
from forestcoll.schedule.proof.prices import Port, PortKind, crossings
from forestcoll.schedule.series.value import Round, SeriesSchedule, SeriesTree, Transfer
from forestcoll.topology import NodeId, Topology, topology_from_document, topology_to_document

FORMAT = "forestcoll.broadcast-series/1"

_NODE_KINDS = ("send", "receive", "both", "outgoing", "incoming")
_KNOWN_KINDS = f"{', '.join(map(repr, _NODE_KINDS[:-1]))} or {_NODE_KINDS[-1]!r}"


def text_of(schedule: SeriesSchedule) -> Iterator[str]:
    """Yield the pieces of the JSON text of `schedule`; equal schedules give equal texts."""
    document: dict[str, object] = {"format": FORMAT, "topology": topology_to_document(schedule.topology)}
    document |= series_document(schedule)
    rounds = cast("list[object]", document.pop("rounds"))
    yield json_text(document)[:-1]
    yield ',\n"rounds": ['
    for place, each in enumerate(rounds):
        yield f"{',' * (place > 0)}\n{json_text(each)}"
    yield "]}\n"


def series_document(schedule: SeriesSchedule) -> dict[str, object]:
    """Return the JSON keys that describe a schedule, without its topology."""
    ids = [node.id for node in schedule.topology.nodes]
    collective = schedule.collective
    named = {} if collective is Collective.BROADCAST else {"collective": collective.value}
    rooted = {} if schedule.source is None else {"source": ids[schedule.source]}
    document: dict[str, object] = {
        **named,
        **rooted,
        "throughput": str(schedule.throughput),
        "period": str(schedule.period),
        "messages_per_period": schedule.messages,
        "trees": [
            {"weight": str(tree.weight), "edges": [[ids[one], ids[other]] for one, other in tree.edges]}
            for tree in schedule.trees
        ],
        "rounds": [
            {
                "duration": str(each.duration),
                "transfers": [_transfer_document(schedule, ids, transfer) for transfer in each.transfers],
            }
            for each in schedule.rounds
        ],
    }
    if schedule.bandwidths is not None:
        document["bandwidths"] = [
            {"source": ids[link.source], "target": ids[link.target], "bandwidth": str(bandwidth)}
            for link, bandwidth in zip(schedule.topology.links, schedule.bandwidths, strict=True)
            if bandwidth != link.bandwidth
        ]
    if schedule.bound is not None:
        document["optimal_throughput"] = str(schedule.bound.algbw / schedule.parts)
        document["certificate"] = _certificate_document(schedule.topology, schedule.bound.proof)
    return document


def _transfer_document(schedule: SeriesSchedule, ids: Sequence[NodeId], transfer: Transfer) -> dict[str, object]:
    one, other = schedule.trees[transfer.tree].edges[transfer.edge]
    return {"source": ids[one], "target": ids[other], "tree": transfer.tree, "edge": transfer.edge}


def _certificate_document(topology: Topology, proof: Proof) -> dict[str, object]:
    """Return the certificate; it names nodes by their ids and links by the ids of their ends."""
    if not isinstance(proof, PricesProof):
        raise InputError(
            f"{topology.name}: the proof of the bound is of kind {proof.kind!r}; the file of a series needs 'prices'"
        )
    ids = [node.id for node in topology.nodes]
    prices: list[dict[str, object]] = []
    for port, price in proof.prices:
        if port.kind is PortKind.LINK:
            link = topology.links[port.number]
            prices.append({"source": ids[link.source], "target": ids[link.target], "price": str(price)})
        else:
            prices.append({"node": ids[port.number], "port": port.kind.value, "price": str(price)})
    cuts = [{"weight": str(weight), "nodes": topology.ids(cut)} for weight, cut in proof.cuts]
    odd = [{"price": str(price), "nodes": topology.ids(inside)} for price, inside in proof.odd_sets]
    return {"prices": prices, "cuts": cuts} | ({"odd_sets": odd} if odd else {})


def from_document(document: Mapping[str, object], where: str) -> SeriesSchedule:
    """Return the schedule that a JSON object describes; `where` begins every error message.

    Raises:
        InputError: the document breaks the format; the message names the place and the value.
    """
    check_format(document, FORMAT, where)
    described = document.get("topology")
    if not isinstance(described, Mapping):
        raise InputError(f'{where}: needs "topology": {{...}}, the network')
    topology = topology_from_document(described, where=f"{where}: topology")
    return _Reader(topology, where).schedule(document)


class _Reader:
    """Reads parts of the document as values; every message names the place."""

    def __init__(self, topology: Topology, where: str) -> None:
        self._topology, self._where = topology, where
        self._links = topology.link_numbers

    def schedule(self, document: Mapping[str, object]) -> SeriesSchedule:
        trees = tuple(
            self._tree(tree, f"trees[{place}]") for place, tree in enumerate(self._objects(document, "trees", ""))
        )
        if not trees:
            raise self._error('"trees" is empty; a series needs at least one tree')
        rounds = tuple(
            self._round(each, trees, f"rounds[{place}]")
            for place, each in enumerate(self._objects(document, "rounds", ""))
        )
        period = self._rational(document, "period", "")
        if period <= 0:
            raise self._error(f"period is {period}; it must be greater than 0")
        messages = self._integer(document, "messages_per_period", "", least=1)
        collective = self._collective(document)
        schedule = SeriesSchedule(
            topology=self._topology,
            collective=collective,
            source=self._node(document.get("source"), "source") if collective.has_root else None,
            period=period,
            messages=messages,
            trees=trees,
            rounds=rounds,
            bound=self._bound(document, collective),
            bandwidths=self._bandwidths(document),
        )
        claimed = self._rational(document, "throughput", "")
        if claimed != schedule.throughput:
            found = shown(str(schedule.throughput))
            raise self._error(f"throughput is {shown(str(claimed))}, but messages_per_period / period is {found}")
        return schedule

    def _collective(self, document: Mapping[str, object]) -> Collective:
        name = document.get("collective", Collective.BROADCAST.value)
        if name not in {each.value for each in SERIES}:
            known = ", ".join(repr(each.value) for each in SERIES)
            raise self._error(f"collective is {shown(name)}; expected one of {known}")
        collective = Collective(str(name))
        if collective.has_root and "source" not in document:
            raise self._error(f'needs "source": the id of the root of {collective.with_article}')
        if not collective.has_root and "source" in document:
            raise self._error(f"{collective.with_article} has no source; leave it out")
        return collective

    def _tree(self, tree: Mapping[str, object], place: str) -> SeriesTree:
        routes: list[tuple[int, ...]] = []
        route: tuple[int, ...] = ()
        for number, (one, other) in enumerate(self._edges(tree, place)):
            if route and route[-1] != one:
                raise self._error(f"{place}.edges[{number}] must start on the switch that the previous edge enters")
            route = (*route, other) if route else (one, other)
            if self._topology.nodes[other].is_compute:
                routes.append(route)
                route = ()
        if route:
            raise self._error(f"{place}: the last edge ends on a switch; continue to a compute node")
        return SeriesTree(self._rational(tree, "weight", f"{place}."), tuple(routes))

    def _edges(self, tree: Mapping[str, object], place: str) -> Iterator[tuple[int, int]]:
        for number, edge in enumerate(list_of(tree.get("edges"), f"{self._where}: {place}.edges")):
            if not isinstance(edge, list) or len(edge) != 2:
                raise self._error(f"{place}.edges[{number}] is {shown(edge)}; expected [source, target]")
            yield self._node(edge[0], f"{place}.edges[{number}]"), self._node(edge[1], f"{place}.edges[{number}]")

    def _round(self, each: Mapping[str, object], trees: Sequence[SeriesTree], place: str) -> Round:
        transfers = tuple(
            self._transfer(transfer, trees, f"{place}.transfers[{number}]")
            for number, transfer in enumerate(self._objects(each, "transfers", f"{place}."))
        )
        return Round(self._rational(each, "duration", f"{place}."), transfers)

    def _transfer(self, transfer: Mapping[str, object], trees: Sequence[SeriesTree], place: str) -> Transfer:
        tree = self._integer(transfer, "tree", f"{place}.", least=0)
        if tree >= len(trees):
            raise self._error(f"{place}.tree is {tree}; there are {len(trees)} trees")
        ends = self._node(transfer.get("source"), place), self._node(transfer.get("target"), place)
        there = [number for number, edge in enumerate(trees[tree].edges) if edge == ends]
        one, other = (shown(each) for each in self._topology.ids(ends))
        if not there:
            raise self._error(f"{place}: tree {tree} has no edge {one} -> {other}")
        if "edge" not in transfer and len(there) == 1:
            return Transfer(tree, there[0])
        edge = self._integer(transfer, "edge", f"{place}.", least=0)
        if edge not in there:
            raise self._error(f"{place}.edge is {edge}, which is not an edge {one} -> {other} of tree {tree}")
        return Transfer(tree, edge)

    def _bandwidths(self, document: Mapping[str, object]) -> tuple[Fraction, ...] | None:
        """Return the bandwidth of each link; a link that is not listed has its own bandwidth."""
        if "bandwidths" not in document:
            return None
        bandwidths = [link.bandwidth for link in self._topology.links]
        for number, each in enumerate(self._objects(document, "bandwidths", "")):
            place = f"bandwidths[{number}]"
            bandwidths[self._link(each, place)] = self._rational(each, "bandwidth", f"{place}.")
        return tuple(bandwidths)

    def _link(self, described: Mapping[str, object], place: str) -> int:
        ends = self._node(described.get("source"), place), self._node(described.get("target"), place)
        if ends not in self._links:
            one, other = (shown(each) for each in self._topology.ids(ends))
            raise self._error(f"{place}: there is no link {one} -> {other}")
        return self._links[ends]

    def _bound(self, document: Mapping[str, object], collective: Collective) -> Bound | None:
        certificate = document.get("certificate")
        if certificate is None and document.get("optimal_throughput") is None:
            return None
        if certificate is None:
            raise self._error("optimal_throughput has no certificate; give both or neither")
        proof = self._certificate(object_of(certificate, f"{self._where}: certificate"))
        nodes = len(self._topology.compute)
        if document.get("optimal_throughput") is not None:
            claimed = self._rational(document, "optimal_throughput", "")
        elif sum(weight * crossings(collective, nodes, len(cut)) for weight, cut in proof.cuts):
            claimed = proof.operations(collective, nodes)
        else:
            raise self._error("certificate.cuts: the weights add up to 0; expected more than 0")
        return Bound(collective, claimed * (nodes if collective.has_shards else 1), proof)

    def _certificate(self, certificate: Mapping[str, object]) -> PricesProof:
        prices = tuple(
            self._price(price, f"certificate.prices[{place}]")
            for place, price in enumerate(self._objects(certificate, "prices", "certificate."))
        )
        cuts = tuple(self._sets(certificate, "cuts", "weight"))
        odd_sets = tuple(self._sets(certificate, "odd_sets", "price")) if "odd_sets" in certificate else ()
        return PricesProof(prices, cuts, odd_sets)

    def _sets(
        self, certificate: Mapping[str, object], key: str, value: str
    ) -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        """Yield the sets of nodes under `key`, each after its number under `value`."""
        for place, described in enumerate(self._objects(certificate, key, "certificate.")):
            where = f"certificate.{key}[{place}]"
            nodes = list_of(described.get("nodes"), f"{self._where}: {where}.nodes")
            members = tuple(self._node(node, f"{where}.nodes") for node in nodes)
            yield self._rational(described, value, f"{where}."), members

    def _price(self, price: Mapping[str, object], place: str) -> tuple[Port, Fraction]:
        value = self._rational(price, "price", f"{place}.")
        if "node" in price:
            kind = price.get("port")
            if kind not in _NODE_KINDS:
                raise self._error(f"{place}.port is {shown(kind)}; expected {_KNOWN_KINDS}")
            return Port(PortKind(str(kind)), self._node(price["node"], place)), value
        return Port(PortKind.LINK, self._link(price, place)), value

    def _objects(self, document: Mapping[str, object], key: str, place: str) -> list[Mapping[str, object]]:
        where = f"{self._where}: {place}{key}"
        return [object_of(each, f"{where}[{number}]") for number, each in enumerate(list_of(document.get(key), where))]

    def _node(self, node: object, place: str) -> int:
        if isinstance(node, bool) or not isinstance(node, int | str):
            raise self._error(f"{place}: {shown(node)} is not the id of a node; write a string or an integer")
        try:
            return self._topology.number(node)
        except InputError:
            raise self._error(f"{place}: there is no node {shown(node)}") from None

    def _rational(self, document: Mapping[str, object], key: str, place: str) -> Fraction:
        return rational_of(document.get(key), f"{self._where}: {place}{key}")

    def _integer(self, document: Mapping[str, object], key: str, place: str, *, least: int) -> int:
        return integer_of(document.get(key), f"{self._where}: {place}{key}", least=least)

    def _error(self, message: str) -> InputError:
        return InputError(f"{self._where}: {message}")
