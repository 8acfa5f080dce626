"""Networks whose hosts are in another order, as those of a scheduler are."""

import random
from dataclasses import replace

from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.registry import load_topology


def shuffled(spec: str, seed: int = 0) -> Topology:
    """Return a network whose boxes have other places, with the same ids."""
    network = load_topology(spec)
    inside = box_numbers(network)
    places = list(range(len(set(inside.values()))))
    random.Random(seed).shuffle(places)  # noqa: S311 (not for secrets)
    of = {node: places[inside[node]] if node in inside else len(places) for node in range(len(network.nodes))}
    order = sorted(of, key=lambda node: (of[node], node))
    moved = {node: place for place, node in enumerate(order)}
    links = (replace(each, source=moved[each.source], target=moved[each.target]) for each in network.links)
    ordered = tuple(sorted(links, key=lambda each: (each.source, each.target)))
    return replace(network, nodes=tuple(network.nodes[node] for node in order), links=ordered)
