"""Random networks of any size that resemble real ones, for the soak test, the table of scale, and a test.

All links except those of `one_way` are full duplex, and a fault affects both directions equally, so every switch is
balanced. The same seed and size give the same network on every machine.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from types import MappingProxyType

from data_centres import leaf_spine, odd_pods, rails, two_generations
from forestcoll.base.errors import InputError
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology

SKEWED = (1, 3, 25, 400, 10**6)


def random_network(kind: str, seed: str, nodes: int) -> Topology:
    """Return the network of `kind` with about `nodes` compute nodes. The same arguments give the same network."""
    random = Random(f"{kind}/{seed}/{nodes}")  # noqa: S311 (not for security)
    return KINDS[kind](random, max(4, nodes))


def with_faults(topology: Topology, random: Random, *, broken: float, halved: float, name: str) -> Topology:
    """Return `topology` with a fraction of its full-duplex edges removed and another fraction halved.

    An edge is only removed if both of its ends keep another edge. If the network falls apart, no edge is removed.

    Raises:
        InputError: the result is not connected.
    """
    pairs = [link for link in topology.links if link.source < link.target]
    degrees = [0] * len(topology.nodes)
    for link in pairs:
        degrees[link.source] += 1
        degrees[link.target] += 1
    builder = TopologyBuilder(name, bandwidth_unit=topology.bandwidth_unit)
    for node in topology.nodes:
        (builder.add_compute if node.is_compute else builder.add_switch)(node.id)
    removed = []
    for link in pairs:
        fate = random.random()
        if fate < broken and min(degrees[link.source], degrees[link.target]) > 1:
            degrees[link.source] -= 1
            degrees[link.target] -= 1
            removed.append(link)
            continue
        part = Fraction(1, 2) if fate > 1 - halved else 1
        source, target = topology.ids([link.source, link.target])
        builder.add_duplex(source, target, link.bandwidth * part)
    try:
        return builder.build()
    except InputError:
        for link in removed:
            source, target = topology.ids([link.source, link.target])
            builder.add_duplex(source, target, link.bandwidth)
        return builder.build()


def faulty_boxes(random: Random, nodes: int) -> Topology:
    """Boxes of eight GPUs as in a DGX A100 cluster, with some links removed and some halved."""
    boxes = max(2, nodes // 8)
    whole = build_topology(f"dgx-a100:boxes={boxes},gpus={min(8, nodes // boxes)}")
    return with_faults(whole, random, broken=0.02, halved=0.03, name=f"A100 with faults, {boxes} boxes")


def switched(random: Random, nodes: int) -> Topology:
    """Compute nodes on one or two leaf switches each, which are joined at random over two more levels of switches."""
    builder = TopologyBuilder(f"random with switches, {nodes} nodes")
    computes = [builder.add_compute(f"node{number}") for number in range(nodes)]
    leaves = [builder.add_switch(f"leaf{number}") for number in range(max(2, nodes // 6))]
    upper = [builder.add_switch(f"upper{number}") for number in range(max(2, len(leaves) // 3))]
    top = [builder.add_switch(f"top{number}") for number in range(max(1, len(upper) // 4))]
    for place, node in enumerate(computes):
        for leaf in {place % len(leaves), random.randrange(len(leaves))}:
            builder.add_duplex(node, leaves[leaf], random.choice((25, 50, 100)))
    for lower, higher in ((leaves, upper), (upper, top)):
        for place, switch in enumerate(lower):
            for number in {place % len(higher), random.randrange(len(higher))}:
                builder.add_duplex(switch, higher[number], random.choice((100, 200, 400)))
    for switch in top[1:]:
        builder.add_duplex(top[0], switch, 800)
    for _ in range(nodes // 4):
        one, other = random.sample(computes, 2)
        builder.add_duplex(one, other, random.choice((10, 25)))
    return builder.build()


def hierarchy(random: Random, nodes: int) -> Topology:
    """Boxes in pods under a root, with three levels of switches and failed links: a box is the bottleneck, k is large.

    The links to the pods have faults or two different bandwidths. At least two links of a box have no fault. The links
    within a box have bandwidth to spare.
    """
    per_box = min(8, max(2, nodes // 4))
    boxes = max(2, nodes // per_box)
    pods = max(2, boxes // 8)
    builder = TopologyBuilder(f"three-level hierarchy, {boxes} boxes")
    root = builder.add_switch("root")
    switches = [builder.add_switch(f"pod{pod}") for pod in range(pods)]
    for switch in switches:
        builder.add_duplex(switch, root, random.choice((370, 410, 530)))
    for box in range(boxes):
        inner = builder.add_switch(f"box{box}")
        for gpu in range(per_box):
            node = builder.add_compute(f"box{box}/gpu{gpu}")
            builder.add_duplex(node, inner, random.choice((300, 600, 600, 600)))
            bandwidth = random.choice((20, 25))
            fate = random.random()
            if gpu < 2 or fate > 0.1:
                builder.add_duplex(node, switches[box % pods], bandwidth)
            elif fate > 0.05:
                builder.add_duplex(node, switches[box % pods], Fraction(bandwidth, 2))
    return builder.build()


def skewed(random: Random, nodes: int) -> Topology:
    """A random tree of compute nodes and switches, as many additional links, and very different capacities."""
    builder = TopologyBuilder(f"skewed, {nodes} nodes")
    names = [builder.add_compute(f"node{number}") for number in range(nodes)]
    names += [builder.add_switch(f"switch{number}") for number in range(nodes // 4)]
    random.shuffle(names)
    for place in range(1, len(names)):
        builder.add_duplex(names[place], names[random.randrange(place)], random.choice(SKEWED))
    for _ in names:
        one, other = random.sample(names, 2)
        builder.add_duplex(one, other, random.choice(SKEWED))
    return builder.build()


def one_way(random: Random, nodes: int) -> Topology:
    """A union of closed one-way walks through compute nodes and switches. Every node is balanced."""
    builder = TopologyBuilder(f"one way, {nodes} nodes")
    computes = [builder.add_compute(f"node{number}") for number in range(nodes)]
    names = [*computes, *(builder.add_switch(f"switch{number}") for number in range(max(1, nodes // 5)))]
    random.shuffle(computes)
    walks = [computes, *(random.sample(names, random.randint(2, min(7, len(names)))) for _ in range(nodes))]
    for walk in walks:
        bandwidth = random.randint(1, 6)
        for source, target in pairwise([*walk, walk[0]]):
            builder.add_link(source, target, bandwidth)
    return builder.build()


def faulty_grid(random: Random, nodes: int) -> Topology:
    """A torus with some links removed and some halved."""
    side = max(2, round(nodes**0.5))
    whole = build_topology(f"torus:dims={side}x{max(2, nodes // side)}")
    return with_faults(whole, random, broken=0.04, halved=0.06, name=f"torus with faults, {whole.name}")


def faulty_mesh_boxes(random: Random, nodes: int) -> Topology:
    """Boxes of four fully connected compute nodes on one fabric, with some links removed and some halved."""
    builder = TopologyBuilder("")
    fabric = builder.add_switch("fabric")
    for box in range(max(2, nodes // 4)):
        computes = [builder.add_compute(f"box{box}/gpu{gpu}") for gpu in range(4)]
        for one, other in combinations(computes, 2):
            builder.add_duplex(one, other, random.choice((50, 100, 200)))
        for node in computes:
            builder.add_duplex(node, fabric, 16)
    return with_faults(builder.build(), random, broken=0.03, halved=0.05, name=f"mesh boxes with faults, {nodes} nodes")


def faulty_dragonfly(random: Random, nodes: int) -> Topology:
    """A dragonfly of groups of up to eight routers with four nodes each, some links broken and some halved."""
    routers = min(8, max(2, nodes // 16))
    groups = max(2, round(nodes / (4 * routers)))
    spec = f"dragonfly:routers={routers},nodes=4,global_links={max(1, -(-(groups - 1) // routers))},groups={groups}"
    return with_faults(build_topology(spec), random, broken=0.02, halved=0.03, name=f"{spec} with faults")


def faulty_hyperx(random: Random, nodes: int) -> Topology:
    """Switches in a square grid with three to five nodes each, and a link for each pair in a row or column.

    Some links between switches have failed. The links of all nodes are equal, and all of their bandwidth is needed.
    """
    side = max(2, round((nodes / 4) ** 0.5))
    builder = TopologyBuilder(f"HyperX with faults, {side} x {side} switches")
    grid = [[builder.add_switch(f"switch{row}.{column}") for column in range(side)] for row in range(side)]
    for line in [*grid, *zip(*grid, strict=True)]:
        for one, other in combinations(line, 2):
            if random.random() > 0.03 or (one, other) in pairwise(line):
                builder.add_duplex(one, other, random.choice((10, 20)))
    for switch in (switch for line in grid for switch in line):
        for place in range(random.choice((3, 4, 5))):
            builder.add_duplex(builder.add_compute(f"{switch}/node{place}"), switch, 50)
    return builder.build()


KINDS: Mapping[str, Callable[[Random, int], Topology]] = MappingProxyType({
    "faulty-boxes": faulty_boxes,
    "switched": switched,
    "hierarchy": hierarchy,
    "skewed": skewed,
    "one-way": one_way,
    "faulty-grid": faulty_grid,
    "faulty-mesh-boxes": faulty_mesh_boxes,
    "faulty-dragonfly": faulty_dragonfly,
    "faulty-hyperx": faulty_hyperx,
    "leaf-spine": leaf_spine,
    "rails": rails,
    "two-generations": two_generations,
    "odd-pods": odd_pods,
})  # fmt: skip
"""The functions that make random networks, by name."""
