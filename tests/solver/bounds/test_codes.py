"""Codes: two networks on which they are faster than trees, and the reason why they often are not."""

import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from forestcoll.topology import Topology, read_topology

EXAMPLES = Path(__file__).parents[3] / "examples"
CODING = runpy.run_path(str(EXAMPLES / "coding.py"))


def example(name: str) -> tuple[Topology, Any]:
    topology = read_topology(EXAMPLES / "allreduce-rate" / f"{name}.json")
    return topology, CODING["butterfly_code"]() if name == "butterfly" else CODING["fano_code"](topology)


@pytest.mark.parametrize("name", ["butterfly", "fano"])
def test_every_rank_decodes_every_sum(name: str) -> None:
    """Each value is a vector of coefficients of all inputs, so this is a proof for all inputs."""
    topology, code = example(name)
    known: dict[str, dict[str, Counter[tuple[str, int]]]] = {str(node.id): {} for node in topology.nodes}
    for rank in code.ranks:
        known[rank] = {f"w{number}": Counter({(rank, number): 1}) for number in range(code.sums)}

    def combined(node: str, terms: dict[str, int]) -> Counter[tuple[str, int]]:
        total: Counter[tuple[str, int]] = Counter()
        for value, coefficient in terms.items():
            for each, factor in known[node][value].items():
                total[each] = (total[each] + coefficient * factor) % CODING["MODULUS"]
        return Counter({each: factor for each, factor in total.items() if factor})

    loads: Counter[tuple[str, str]] = Counter()
    for message in code.messages:
        assert message.name not in known[message.target]
        known[message.target][message.name] = combined(message.source, message.terms)
        loads[message.source, message.target] += 1
    ends = {tuple(map(str, topology.ids([link.source, link.target]))): link.bandwidth for link in topology.links}
    assert all(load <= ends[link] for link, load in loads.items())
    assert {str(node.id) for node in topology.nodes if node.is_compute} == set(code.ranks) == set(code.results)
    for rank, results in code.results.items():
        sums = [Counter({(each, number): 1 for each in code.ranks}) for number in range(code.sums)]
        assert [combined(rank, terms) for terms in results] == sums
    relayed = [message.terms for message in code.messages if message.source not in code.ranks]
    assert {coefficient for terms in relayed for coefficient in terms.values()} == {1}  # relays only copy and add up


def test_the_example_prints_both_rates(capsys: pytest.CaptureFixture[str]) -> None:
    CODING["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "butterfly: 2 sums per use with a code (100 runs checked), 3/2 along trees, 2 in a cut"
    assert lines[3] == "fano: 4 sums per use with a code (100 runs checked), 7/2 along trees, 4 in a cut"


def test_a_wrong_code_is_found() -> None:
    topology, code = example("butterfly")
    code.results["t1"][1] = {"both": 1}
    with pytest.raises(SystemExit, match="t1 has wrong sums"):
        CODING["run"](code, topology, 0)
    code.send("s", "a", "more", {"w0": 1})
    with pytest.raises(SystemExit, match="the link s -> a carries too much"):
        CODING["run"](code, topology, 0)


class Knowledge:
    """The linear functions of all inputs that a node can compute, over the field of two elements.

    Bit v * length + e of a function is its coefficient of element e of the vector of node v.
    """

    def __init__(self, node: int, nodes: int, length: int) -> None:
        self.nodes, self.length = nodes, length
        self.basis: list[int] = []
        for element in range(length):
            self.learn(1 << node * length + element)

    def reduced(self, function: int) -> int:
        for each in self.basis:
            function = min(function, function ^ each)
        return function

    def learn(self, function: int) -> bool:
        """Add a function, and return whether it is new."""
        left = self.reduced(function)
        if left:
            self.basis = sorted([*(min(each, each ^ left) for each in self.basis), left], reverse=True)
        return left != 0

    def sums(self) -> Iterator[int]:
        """Yield each combination of elements, as bits, whose sum over all nodes is known."""
        every = sum(1 << node * self.length for node in range(self.nodes))
        return (each for each in range(1, 1 << self.length) if not self.reduced(each * every))

    def any_function(self, random: Random) -> int:
        function = 0
        for each in self.basis:
            function ^= each * random.randrange(2)
        return function


class Protocol:
    """Messages of a linear code, with the count that proves Corollary 2.1 for linear codes.

    A message that adds a dimension to what its target knows *broadcasts* if it adds one to the sums that the target
    knows and none to those that are known at some node. Otherwise it *reduces*. `first` counts, for each node, the
    messages that add a dimension to the sums that are known at some node.
    """

    def __init__(self, nodes: int, length: int) -> None:
        self.length = length
        self.known = [Knowledge(node, nodes, length) for node in range(nodes)]
        self.together: set[int] = {0}
        self.first, self.reduces, self.broadcasts = [0] * nodes, [0] * nodes, [0] * nodes

    def send(self, source: int, target: int, function: int) -> None:
        assert not self.known[source].reduced(function)
        before = len(list(self.known[target].sums()))
        if not self.known[target].learn(function):
            return
        sums = list(self.known[target].sums())
        fresh = next((each for each in sums if each not in self.together), None)
        if fresh is not None:
            self.first[target] += 1
            self.together |= {each ^ fresh for each in self.together}
        if len(sums) > before and fresh is None:
            self.broadcasts[target] += 1
        else:
            self.reduces[source] += 1

    @property
    def done(self) -> bool:
        return all(len(list(each.sums())) == 2**self.length - 1 for each in self.known)

    def check(self) -> None:
        assert self.done
        assert sum(self.first) == self.length
        for sent, received, first in zip(self.reduces, self.broadcasts, self.first, strict=True):
            assert sent >= self.length - first
            assert received == self.length - first
        assert sum(self.reduces) + sum(self.broadcasts) >= 2 * (len(self.known) - 1) * self.length


@pytest.mark.parametrize(("nodes", "length"), [(2, 3), (3, 2), (4, 1), (4, 2)])
def test_every_linear_code_sends_as_much_as_trees(nodes: int, length: int) -> None:
    for seed in range(8):
        random = Random(f"{nodes}/{length}/{seed}")  # noqa: S311 (not for security)
        protocol = Protocol(nodes, length)
        while not protocol.done:
            source, target = random.sample(range(nodes), 2)
            protocol.send(source, target, protocol.known[source].any_function(random))
        protocol.check()


def test_the_count_is_tight_for_a_ring() -> None:
    nodes = length = 3
    protocol = Protocol(nodes, length)
    for element in range(length):
        partial = 0
        for step in range(2 * nodes - 2):
            source = (element + 1 + step) % nodes
            if step < nodes:
                partial |= 1 << source * length + element
            protocol.send(source, (source + 1) % nodes, partial)
    protocol.check()
    assert sum(protocol.reduces) + sum(protocol.broadcasts) == 2 * (nodes - 1) * length
