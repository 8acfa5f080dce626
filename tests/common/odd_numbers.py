"""Random networks with odd numbers: links far slower than others, bandwidths of many digits, links in one direction.

Each check raises an `AssertionError` if a promise is broken. The tests try some seeds, and the soak as many as it can.
"""

from collections.abc import Collection
from contextlib import suppress
from fractions import Fraction
from random import Random

import pytest

from forestcoll import Demand, InputError, NoSolutionError, Topology, generate, optimum, verify
from forestcoll.algorithms.trees import Trees
from forestcoll.demand.groups.groups import Groups
from networks import built

Links = dict[tuple[str, str], Fraction | int]

DIGITS = (9, 10, 12, 20, 30, 60)
UNROOTED = ("allgather", "reduce-scatter", "allreduce", "all-to-all")
ROOTED = ("broadcast", "reduce", "gather", "scatter")


def network(nodes: Collection[str], links: Links, *, in_network: bool = False) -> Topology:
    """Return a network; nodes whose names begin with "s" are switches."""
    switches = [node for node in nodes if node.startswith("s")]
    one_way = [(*ends, bandwidth) for ends, bandwidth in links.items()]
    return built(nodes, one_way=one_way, switches=switches, able=in_network, name="odd numbers")


def drawn_nodes(random: Random, most: int = 6) -> list[str]:
    """Return three compute nodes or more, and up to two switches."""
    computes = [f"c{place}" for place in range(random.randint(3, most))]
    return computes + [f"s{place}" for place in range(random.choice([0, 0, 1, 2]))]


def drawn_pairs(random: Random, nodes: list[str], more: int) -> list[tuple[str, str]]:
    """Return pairs of nodes that join all nodes in a circle, and up to `more` others."""
    circle = random.sample(nodes, len(nodes))
    others = [random.sample(nodes, 2) for _ in range(random.randint(0, more))]
    return [(circle[place - 1], node) for place, node in enumerate(circle)] + [(one, other) for one, other in others]


def check_slow_links(random: Random) -> None:
    """Links of 1e-3 to 1e-15 do not make an allreduce slower, and where all nodes take part, its bound is reached."""
    nodes = drawn_nodes(random)
    most, fast, slow = 10 ** random.randint(1, 9), Links(), Links()
    for one, other in drawn_pairs(random, nodes, 3):
        fast[one, other] = fast[other, one] = random.randint(1, most)
    for _ in range(random.randint(1, 3)):
        one, other = random.sample(nodes, 2)
        bandwidth = Fraction(random.randint(1, 9), 10 ** random.randint(3, 15))
        ends = ((one, other), (other, one))[: random.choice([1, 2, 2, 2])]
        slow |= {pair: bandwidth for pair in ends if pair not in fast}
    computes = [node for node in nodes if node.startswith("c")]
    ranks = random.sample(computes, random.randint(2, len(computes))) if random.random() < 0.4 else None
    in_network = random.random() < 0.3
    without, whole = (
        optimum(network(nodes, links, in_network=in_network), Demand("allreduce", ranks=ranks))
        for links in (fast, fast | slow)
    )
    assert whole.algbw >= without.algbw
    assert whole.is_optimal or ranks is not None or in_network


def check_many_digits(random: Random, digits: int | None = None) -> None:
    """With bandwidths of many digits, optima are reached by schedules, and groups reach their bound."""
    digits = digits or random.choice(DIGITS)
    nodes, least, most = drawn_nodes(random, 5), 10 ** (digits - 1), 10**digits - 1
    of_fractions, links = random.random() < 0.5, Links()
    for one, other in drawn_pairs(random, nodes, 2):
        for ends in ((one, other), (other, one)):
            links[ends] = Fraction(random.randint(least, most), random.randint(least, most) if of_fractions else 1)
    topology = network(nodes, links)
    for collective in ("allgather", "allreduce"):
        best, report = optimum(topology, collective), verify(generate(topology, collective))
        assert report.fault is None
        assert report.algbw == best.algbw <= best.bound.algbw
    for collective in UNROOTED:
        found = optimum(topology, Groups("0,1;1,2", collective))
        assert found.algbw == found.bound.algbw
    if not topology.switches:
        assert verify(generate(topology, "all-to-all", "steps")).ok


def check_rounded_down(random: Random) -> None:
    """Bandwidths of many digits are worth what shorter and smaller ones are, up to 1e-8 where plans are rounded."""
    nodes, digits = drawn_nodes(random, 5), random.choice(DIGITS)
    of_fractions, links, less = random.random() < 0.8, Links(), Links()
    least, most = 10 ** (digits - 1), 10**digits - 1
    for one, other in drawn_pairs(random, nodes, 3):
        for ends in ((one, other), (other, one)):
            links[ends] = Fraction(random.randint(least, most), random.randint(least, most) if of_fractions else 1)
    unit = Fraction(10) ** (len(str(int(max(links.values())))) - 6)
    for ends, bandwidth in links.items():
        less[ends] = bandwidth // unit * unit
    whole, rounded = (optimum(network(nodes, each), "allreduce") for each in (links, less))
    assert whole.algbw >= rounded.algbw * (1 - Fraction(1, 10**8))


def drawn_groups(random: Random, computes: list[str]) -> list[Demand]:
    """Return up to three groups with any collectives."""
    groups = []
    for _ in range(random.randint(1, 3)):
        members = random.sample(computes, random.randint(2, min(4, len(computes))))
        collective = random.choice(UNROOTED + ROOTED)
        groups.append(Demand(collective, members, random.choice(members) if collective in ROOTED else None))
    return groups


def reached(links: Collection[tuple[str, str]], start: str, members: Collection[str]) -> set[str]:
    """Return the nodes that data of `start` reaches over members and switches."""
    found, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        ends = {target for source, target in links if source == node and (target in members or target.startswith("s"))}
        waiting += ends - found
        found |= ends
    return found


def is_connected(links: Collection[tuple[str, str]], group: Demand) -> bool:
    """Return whether the data of a group reaches where it must without passing other compute nodes."""
    members, root = [str(each) for each in group.ranks or ()], str(group.root)
    if group.collective in {"broadcast", "scatter"}:
        return reached(links, root, members).issuperset(members)
    if group.collective in {"reduce", "gather"}:
        return all(root in reached(links, each, members) for each in members)
    return all(reached(links, each, members).issuperset(members) for each in members)


def check_one_way_groups(random: Random) -> None:
    """Groups on one-way links are solved, and without relays refused exactly if one of them is not connected."""
    nodes = drawn_nodes(random)
    bandwidths: list[Fraction | int] = [1, 2, 3, 7, Fraction(1, 3)]
    links: Links = {ends: random.choice(bandwidths) for ends in drawn_pairs(random, nodes, 6)}
    topology, groups = network(nodes, links), drawn_groups(random, [node for node in nodes if node.startswith("c")])
    assert verify(generate(topology, Groups(groups))).ok
    if all(is_connected(links, group) for group in groups):
        assert verify(generate(topology, Groups(groups, relays=False))).ok
    else:
        with pytest.raises(InputError, match="is not connected without relays; allow relays"):
            generate(topology, Groups(groups, relays=False))


def check_numbers_of_trees(random: Random) -> None:
    """The best of at most K trees is the best of each number up to K, and no number of trees beats the optimum."""
    nodes, links = drawn_nodes(random, 5), Links()
    both_ways = random.random() < 0.6
    for one, other in drawn_pairs(random, nodes, 4):
        links[one, other] = random.choice([1, 2, 3, 4, 7, 10])
        links |= {(other, one): links[one, other]} if both_ways else {}
    topology = network(nodes, links, in_network=random.random() < 0.3)
    collective, most, each = random.choice(["allreduce", "allgather"]), random.randint(1, 5), []
    for trees in range(1, most + 1):
        with suppress(NoSolutionError):
            each.append(optimum(topology, collective, Trees(k=trees)).algbw)
    if each:
        assert optimum(topology, collective, Trees(most=most)).algbw == max(each)
        assert max(each) <= optimum(topology, collective).algbw


CHECKS = {
    "slow links": check_slow_links,
    "many digits": check_many_digits,
    "rounded down": check_rounded_down,
    "one-way groups": check_one_way_groups,
    "numbers of trees": check_numbers_of_trees,
}
"""The checks by what they are about."""
