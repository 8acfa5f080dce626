"""Seeded networks as data centres have them: irregular, oversubscribed and with faults, in any size.

A box is eight GPUs on a switch of its own, each with a network interface (NIC). All links are full duplex, so that
every switch is balanced. Bandwidths are in GB/s.
"""

from random import Random

from forestcoll.topology import Topology, TopologyBuilder

GPUS = 8
"""Of a box."""


def _add_box(builder: TopologyBuilder, box: int, gpus: int, bandwidth: int) -> list[str]:
    """Add a box of `gpus` GPUs, each joined to the box's switch with `bandwidth`; return the GPUs."""
    inner = builder.add_switch(f"box{box}")
    computes = [f"box{box}/gpu{gpu}" for gpu in range(gpus)]
    for node in computes:
        builder.add_duplex(builder.add_compute(node), inner, bandwidth)
    return computes


def _nic(random: Random, bandwidth: int, *, dead: float, halved: float = 0.0) -> int:
    """Return what a NIC of `bandwidth` carries: nothing or half of it in so many cases."""
    fate = random.random()
    if fate < dead:
        return 0
    return bandwidth // 2 if fate < dead + halved else bandwidth


def _groups(boxes: int, most: int) -> list[range]:
    """Return the boxes in groups of about the same size, `most` boxes at most, two groups at least."""
    count = max(2, -(-boxes // most))
    return [range(boxes * group // count, boxes * (group + 1) // count) for group in range(count)]


def leaf_spine(random: Random, nodes: int) -> Topology:
    """Two planes: a pod has a leaf in each, a leaf two spines. Uplinks are uneven, a few NICs dead or halved.

    NIC g of a box leads to the leaf of plane g mod 2. The uplinks of a pod carry a half to a quarter of its NICs.
    """
    boxes = max(2, nodes // GPUS)
    builder = TopologyBuilder(f"leaf/spine with faults, {boxes} boxes")
    spines = [[builder.add_switch(f"plane{plane}/spine{spine}") for spine in range(2)] for plane in range(2)]
    for pod, members in enumerate(_groups(boxes, 16)):
        leaves = [builder.add_switch(f"pod{pod}/leaf{plane}") for plane in range(2)]
        below = 50 * len(members) * GPUS // 2
        for plane, leaf in enumerate(leaves):
            for spine in spines[plane]:
                builder.add_duplex(leaf, spine, max(25, below // random.choice((4, 5, 6, 8))))
        for box in members:
            for gpu, node in enumerate(_add_box(builder, box, min(GPUS, max(2, nodes // boxes)), 450)):
                # A box keeps its first two NICs, so that no box is cut off.
                bandwidth = _nic(random, 50, dead=0.01 if gpu > 1 else 0.0, halved=0.02)
                if bandwidth > 0:
                    builder.add_duplex(node, leaves[gpu % 2], bandwidth)
    return builder.build()


def rails(random: Random, nodes: int) -> Topology:
    """GPU g of each box hangs on rail leaf g of its group of 16 boxes, leaves on 8 spines: 2:1, with failed links.

    One in a hundred NICs and three in a hundred uplinks are dead.
    """
    boxes = max(2, nodes // GPUS)
    gpus = min(GPUS, max(2, nodes // boxes))
    builder = TopologyBuilder(f"rails with faults, {boxes} boxes")
    spines = [builder.add_switch(f"spine{spine}") for spine in range(8)]
    for group, members in enumerate(_groups(boxes, 16)):
        leaves = [builder.add_switch(f"group{group}/rail{gpu}") for gpu in range(gpus)]
        for leaf in leaves:
            for place, spine in enumerate(spines):
                if place == 0 or random.random() >= 0.03:
                    builder.add_duplex(leaf, spine, max(1, 50 * len(members) // 16))
        for box in members:
            for gpu, node in enumerate(_add_box(builder, box, gpus, 450)):
                if gpu == 0 or random.random() >= 0.01:
                    builder.add_duplex(node, leaves[gpu], 50)
    return builder.build()


def two_generations(random: Random, nodes: int) -> Topology:
    """Half of the boxes as in a DGX A100, half as in a DGX H100, a tenth of them one GPU short, on one fabric."""
    boxes = max(2, nodes // GPUS)
    builder = TopologyBuilder(f"A100 and H100, {boxes} boxes")
    fabric = builder.add_switch("fabric")
    for box in range(boxes):
        inside, outside = ((300, 25), (450, 50))[box % 2]
        gpus = min(GPUS, max(2, nodes // boxes))
        for node in _add_box(builder, box, gpus - (gpus > 2 and random.random() < 0.1), inside):
            builder.add_duplex(node, fabric, outside)
    return builder.build()


def odd_pods(random: Random, nodes: int) -> Topology:
    """Boxes in pods of odd bandwidths under one core switch: k is large, as no number divides many others."""
    boxes = max(2, nodes // GPUS)
    builder = TopologyBuilder(f"odd pods, {boxes} boxes")
    core = builder.add_switch("core")
    for pod, members in enumerate(_groups(boxes, 16)):
        switch = builder.add_switch(f"pod{pod}")
        builder.add_duplex(switch, core, random.choice((31, 37, 41)) * len(members))
        for box in members:
            gpus = min(GPUS, max(2, nodes // boxes))
            for gpu, node in enumerate(_add_box(builder, box, gpus, random.choice((270, 300)))):
                if gpu < 2 or random.random() >= 0.03:
                    builder.add_duplex(node, switch, random.choice((11, 12, 13)))
    return builder.build()
