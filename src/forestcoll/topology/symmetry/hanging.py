"""Orbits of the symmetries that keep hubs in place: some nodes without which the network is a forest.

A data centre with a few faults often has no symmetry that moves all nodes. But boxes that hang on the same leaves can
be exchanged, and so can GPUs of a box. If the hubs are fixed, such symmetries are those of a forest with labels: the
label of a node is its kind and its links to hubs. Colour refinement finds the orbits of a labelled forest exactly
(N. Immerman and E. Lander, *Describing Graphs*, 1990): nodes of the same final colour, and links with the same
bandwidths between nodes of the same colours. The colours are compared as numbers, not as hashes, so this is a proof.

The hubs are chosen greedily: while there is a cycle, the node with the most neighbours that are not pruned, where nodes
with at most one neighbour are pruned. The cost is proportional to the links for each round of the refinement.
"""

from heapq import heapify, heappop, heappush

from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.orbits import Orbits
from forestcoll.topology.symmetry.shifts import Symmetry


def hanging_orbits(topology: Topology) -> Orbits:
    """Return the orbits; the symmetries that prove them are not listed, so `symmetry` of the result is trivial."""
    kinds = dict(zip(topology.link_numbers, topology.bandwidth_classes[1], strict=True))
    labels: dict[tuple[int, int], int] = {}
    near: list[dict[int, int]] = [{} for _ in topology.nodes]
    for source, target in kinds:
        for one, other in ((source, target), (target, source)):
            both = kinds.get((one, other), -1), kinds.get((other, one), -1)
            near[one][other] = labels.setdefault(both, len(labels))
    colours = _refined(topology, near, _hubs([set(each) for each in near]))
    known: dict[tuple[int, int, int], int] = {}
    of_link = [
        known.setdefault((colours[source], colours[target], near[source][target]), len(known))
        for source, target in kinds
    ]
    return Orbits(Symmetry(()), tuple(colours), tuple(of_link))


def _hubs(near: list[set[int]]) -> set[int]:
    """Return nodes without which no cycle is left. `near` has the neighbours of each node, and is emptied."""
    hubs = set[int]()
    waiting = [(-len(each), node) for node, each in enumerate(near)]
    heapify(waiting)
    pruned = [node for node, each in enumerate(near) if len(each) == 1]
    while waiting or pruned:
        if pruned:
            node = pruned.pop()
        else:
            count, node = heappop(waiting)
            if -count != len(near[node]) or not count:
                continue
            hubs.add(node)
        for other in near[node]:
            near[other].remove(node)
            if len(near[other]) == 1:
                pruned.append(other)
            else:
                heappush(waiting, (-len(near[other]), other))
        near[node].clear()
    return hubs


def _refined(topology: Topology, near: list[dict[int, int]], hubs: set[int]) -> list[int]:
    """Return the final colour of each node, numbered in the order of the nodes, from one colour for each hub."""
    colours = [node + 2 if node in hubs else int(each.is_compute) for node, each in enumerate(topology.nodes)]
    count = 0
    while True:
        known: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        keys = (
            (colours[node], tuple(sorted((label, colours[other]) for other, label in each.items())))
            for node, each in enumerate(near)
        )
        colours = [known.setdefault(key, len(known)) for key in keys]
        if len(known) == count:
            return colours
        count = len(known)
