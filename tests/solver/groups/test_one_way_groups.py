"""Groups on networks of one-way links: without relays, each is solved or refused, whatever its collective."""

from collections.abc import Collection
from fractions import Fraction
from random import Random

import pytest

from forestcoll import Demand, InputError, Topology, TopologyBuilder, generate_groups, groups_optimum, verify

COLLECTIVES = (
    *("allgather", "reduce-scatter", "allreduce", "all-to-all"),
    *("broadcast", "reduce", "gather", "scatter"),
)
BANDWIDTHS = (1, 2, 3, 7, Fraction(1, 3))


def one_way_network(random: Random) -> Topology:
    """Return a random network in which every node reaches every other one, over one-way links."""
    builder = TopologyBuilder("one-way")
    nodes = [builder.add_compute(f"c{place}") for place in range(random.randint(3, 6))]
    nodes += [builder.add_switch(f"s{place}") for place in range(random.randint(0, 2))]
    circle = random.sample(nodes, len(nodes))
    links = {(one, circle[place - 1]) for place, one in enumerate(circle)}
    extra = (random.sample(nodes, 2) for _ in range(random.randint(0, 6)))
    links |= {(source, target) for source, target in extra}
    for source, target in sorted(links, key=str):
        builder.add_link(source, target, random.choice(BANDWIDTHS))
    return builder.build()


def drawn_groups(topology: Topology, random: Random) -> list[Demand]:
    """Return up to three groups with any collectives."""
    names = [topology.nodes[node].id for node in topology.compute]
    groups = []
    for _ in range(random.randint(1, 3)):
        members = random.sample(names, random.randint(2, min(4, len(names))))
        collective = random.choice(COLLECTIVES)
        root = random.choice(members) if collective in COLLECTIVES[4:] else None
        groups.append(Demand(collective, members, root))
    return groups


def reached(topology: Topology, start: object, members: Collection[object]) -> set[object]:
    """Return the nodes that data of `start` reaches over members and switches."""
    ids = [node.id for node in topology.nodes]
    found, waiting = {start}, [start]
    while waiting:
        source = waiting.pop()
        for link in topology.links:
            target = ids[link.target]
            passes = target in members or not topology.nodes[link.target].is_compute
            if ids[link.source] == source and target not in found and passes:
                found.add(target)
                waiting.append(target)
    return found


def is_connected(topology: Topology, group: Demand) -> bool:
    """Return whether the data of a group can reach where it must without passing other compute nodes."""
    members = set(group.ranks)  # type: ignore[arg-type]  # a list of ids
    if group.collective in {"broadcast", "scatter"}:
        return members <= reached(topology, group.root, members)
    if group.collective in {"reduce", "gather"}:
        return all(group.root in reached(topology, each, members) for each in members)
    return all(members <= reached(topology, each, members) for each in members)


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(each, marks=pytest.mark.slow) for each in range(30, 600))])
def test_groups_without_relays_are_solved_or_refused(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a test)
    topology = one_way_network(random)
    groups = drawn_groups(topology, random)
    assert verify(generate_groups(topology, groups)).ok
    if all(is_connected(topology, group) for group in groups):
        assert verify(generate_groups(topology, groups, relays=False)).ok
    else:
        with pytest.raises(InputError, match=r"^one-way: group \d is not connected without relays; allow relays$"):
            generate_groups(topology, groups, relays=False)


def test_an_allreduce_needs_one_root_that_both_phases_reach() -> None:
    builder = TopologyBuilder("one-way ring")
    for node in "abc":
        builder.add_compute(node)
    for source, target in ("ab", "bc", "ca"):
        builder.add_link(source, target, 1)
    with pytest.raises(InputError, match=r"^one-way ring: group 0 is not connected without relays; allow relays$"):
        groups_optimum(builder.build(), "0,1", "allreduce", relays=False)
