"""What is measured, in which order: steps, each with measurements that are made at the same time.

The measurements tell apart what the templates of the importer can express:

- `pair`: one rank to one other of its host, alone on the host. It gives the bandwidth of a direct link or a port.
- `disjoint-pairs`: all ranks of a host in disjoint pairs, both ways. It shows whether pairs share something.
- `one-to-all`, `all-to-one`: one rank to or from all others of its host. A rank with direct links reaches the sum of
  its pairs, a port of a switch only the bandwidth of the port.
- `host-pair`: one rank to one rank of another host. It gives the bandwidth of the path of one rank.
- `two-ranks`: two ranks of a host to another host at the same time. Together they are slower if they share a NIC.
- `all-ranks`: all ranks of a host to another host. It shows what all ranks of a host share.
- `inside-and-outside`: a rank to one of its host and to another host at the same time. It shows whether one port
  carries both.
- `all-hosts`: all ranks of each host to the host that is k further on. It shows uplinks that are smaller than the sum
  of the NICs below them.

Links inside of a host are not shared with other hosts, so all hosts measure them at the same time. The measurements of
`pair` need g(g - 1) steps for g ranks on a host. Above `MOST_ALONE` ranks, only pairs of neighbours are measured alone,
and `disjoint-pairs` measures all pairs in g - 1 steps. Between hosts, each host sends to the next one. Pairs of hosts
without a common host measure at the same time: a rank alone uses a small part of the uplinks that the pairs may share.
So the number of steps does not depend on the number of hosts, except that `all-hosts` has up to `MOST_SHIFTS` steps.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

MOST_ALONE = 16
"""The most ranks of a host whose pairs are all measured alone."""

MOST_PAIRED = 8
"""The most ranks of a host of which each two are measured for a shared NIC."""

MOST_SHIFTS = 16
"""The most hosts for which each shift of `all-hosts` is measured; for more, the shifts by powers of two."""

INSIDE_AND_OUTSIDE = "inside-and-outside"


@dataclass(frozen=True)
class SendPattern:
    """Sends of one measurement.

    Attributes:
        kind: the kind of the measurement.
        pairs: source and target of each send.
    """

    kind: str
    pairs: tuple[tuple[int, int], ...]

    @cached_property
    def fan(self) -> int:
        """The greatest number of sends from one rank or to one rank."""
        ends = (Counter(source for source, _ in self.pairs), Counter(target for _, target in self.pairs))
        return max(max(each.values()) for each in ends)


Step = tuple[SendPattern, ...]
Hosts = Sequence[Sequence[int]]


def steps_of(hosts: Hosts) -> list[Step]:
    """Return what is measured on hosts with these ranks, step by step.

    Example:
        >>> [step[0].kind for step in steps_of([[0, 1]])]
        ['pair', 'pair']
    """
    inside = [step for kind in (_pairs, _disjoint_pairs, _fans) for step in kind(hosts)]
    return inside + _between(hosts) + _shifts(hosts)


def _together(kind: str, hosts: Hosts, places: Sequence[tuple[int, int]]) -> Step:
    """Return one step: on each host, the sends between these places, where it has both."""
    found = []
    for ranks in hosts:
        pairs = tuple((ranks[one], ranks[other]) for one, other in places if max(one, other) < len(ranks))
        if pairs:
            found.append(SendPattern(kind, pairs))
    return tuple(found)


def _most(hosts: Hosts) -> int:
    return max(map(len, hosts))


def _pairs(hosts: Hosts) -> Iterator[Step]:
    count = _most(hosts)
    if count <= MOST_ALONE:
        places = list(permutations(range(count), 2))
    else:
        places = [(place, (place + 1) % count) for place in range(count)]
    for each in places:
        yield _together("pair", hosts, [each])


def _disjoint_pairs(hosts: Hosts) -> Iterator[Step]:
    """Yield the rounds of a tournament: in each, every rank of a host but at most one has a partner."""
    count = _most(hosts)
    if count < 4:
        return
    for pairs in tournament(count):
        yield _together("disjoint-pairs", hosts, [way for one, other in pairs for way in ((one, other), (other, one))])


def tournament(count: int) -> list[list[tuple[int, int]]]:
    """Return rounds of disjoint pairs in which each two of `count` meet once.

    Example:
        >>> tournament(4)
        [[(0, 3), (1, 2)], [(1, 3), (0, 2)], [(2, 3), (0, 1)]]
    """
    even = count + count % 2
    rounds = []
    for turn in range(even - 1):
        pairs = [(turn, even - 1)]
        pairs += [((turn + step) % (even - 1), (turn - step) % (even - 1)) for step in range(1, even // 2)]
        rounds.append([(min(pair), max(pair)) for pair in pairs if max(pair) < count])
    return rounds


def _fans(hosts: Hosts) -> Iterator[Step]:
    count = _most(hosts)
    if count < 3:
        return
    for kind, place in (("one-to-all", 0), ("all-to-one", 1)):
        for one in range(count):
            pairs = [(one, other) if place == 0 else (other, one) for other in range(count) if other != one]
            yield _together(kind, hosts, pairs)


def _between(hosts: Hosts) -> list[Step]:
    count = _most(hosts)
    if len(hosts) < 2:
        return []
    groups = [("host-pair", [place]) for place in range(count)]
    two = combinations(range(count), 2) if count <= MOST_PAIRED else zip(range(count - 1), range(1, count), strict=True)
    groups += [("two-ranks", list(each)) for each in two]
    if count > 2:
        groups.append(("all-ranks", list(range(count))))
    found = [
        tuple(_to_next(hosts, edge, kind, places) for edge in edges)
        for kind, places in groups
        for edges in _next_hosts(len(hosts))
    ]
    beside = [tuple(_beside(hosts, edge) for edge in edges) for edges in _next_hosts(len(hosts))]
    steps = [tuple(each for each in step if each.pairs) for step in found + (beside if count > 1 else [])]
    return [step for step in steps if step]


def _next_hosts(count: int) -> list[list[tuple[int, int]]]:
    """Return each host with the next one, in steps in which no host is twice."""
    edges = [(place, (place + 1) % count) for place in range(count)]
    steps = [edges[0 : count - count % 2 : 2], edges[1::2]]
    return [*steps, [edges[-1]]] if count % 2 else steps


def _to_next(hosts: Hosts, edge: tuple[int, int], kind: str, places: Sequence[int]) -> SendPattern:
    one, other = (hosts[end] for end in edge)
    found = [(one[place], other[place % len(other)]) for place in places if place < len(one)]
    return SendPattern(kind, tuple(found) if len(found) == len(places) or kind == "all-ranks" else ())


def _beside(hosts: Hosts, edge: tuple[int, int]) -> SendPattern:
    one, other = (hosts[end] for end in edge)
    return SendPattern(INSIDE_AND_OUTSIDE, ((one[0], one[1]), (one[0], other[0])) if len(one) > 1 else ())


def _shifts(hosts: Hosts) -> list[Step]:
    count = len(hosts)
    if count < 3:
        return []
    every = range(1, count)
    shifts = every if count <= MOST_SHIFTS else [each for each in every if each & (each - 1) == 0]
    return [(SendPattern("all-hosts", tuple(_shift(hosts, shift))),) for shift in shifts]


def _shift(hosts: Hosts, shift: int) -> Iterator[tuple[int, int]]:
    for place, ranks in enumerate(hosts):
        target = hosts[(place + shift) % len(hosts)]
        yield from ((rank, target[number % len(target)]) for number, rank in enumerate(ranks))
