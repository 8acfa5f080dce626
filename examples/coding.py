"""Two networks with relays on which a linear code makes an allreduce faster than any trees.

In the butterfly, links are one-way, and a relay sends the sum of two symbols to two ranks at once. In the Fano network,
links are full duplex, and relays only copy symbols and add up incoming symbols; the ranks do the rest. All numbers are
integers modulo 7. For each network, this program prints the optimum along trees with its proof, and the cut-set bound.
Then it runs one use of the network on random numbers, and checks each sum at each rank.

    python examples/coding.py
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from forestcoll import Topology, bounds_of, optimum
from forestcoll.schedule.proof import TreeLengthsProof
from forestcoll.topology import read_topology

FOLDER = Path(__file__).parent / "allreduce-rate"
MODULUS = 7

Terms = Mapping[str, int]
"""A linear combination: for each named value at a node, its coefficient."""


@dataclass(frozen=True)
class Message:
    """A symbol on a link: the source sends a combination of its values, and the target stores it as `name`."""

    source: str
    target: str
    name: str
    terms: Terms


@dataclass
class Code:
    """A linear code for one use of a network.

    Attributes:
        ranks: the ranks; rank v has the values w0, w1, ... of its own vector.
        sums: the number of sums per use.
        messages: all messages. The source of a message has received the values in its terms before.
        results: for each rank, the combinations of its values that are the sums.
    """

    ranks: tuple[str, ...]
    sums: int
    messages: list[Message] = field(default_factory=list)
    results: dict[str, list[Terms]] = field(default_factory=dict)

    def send(self, source: str, target: str, name: str, terms: Terms) -> None:
        """Add a message."""
        self.messages.append(Message(source, target, name, terms))


def butterfly_code() -> Code:
    """Return a code with two sums per use for `butterfly.json`."""
    code = Code(("s", "t1", "t2"), 2)
    for number in (0, 1):
        for rank in ("t1", "t2"):
            code.send(rank, "s", f"w{number} of {rank}", {f"w{number}": 1})
    sums: list[Terms] = [{f"w{number}": 1, f"w{number} of t1": 1, f"w{number} of t2": 1} for number in (0, 1)]
    for number, relay, rank in ((0, "a", "t1"), (1, "b", "t2")):
        code.send("s", relay, f"sum {number}", sums[number])
        code.send(relay, rank, f"sum {number}", {f"sum {number}": 1})
        code.send(relay, "c", f"sum {number}", {f"sum {number}": 1})
    code.send("c", "d", "both", {"sum 0": 1, "sum 1": 1})
    code.send("d", "t1", "both", {"both": 1})
    code.send("d", "t2", "both", {"both": 1})
    code.results["s"] = sums
    code.results["t1"] = [{"sum 0": 1}, {"both": 1, "sum 0": -1}]
    code.results["t2"] = [{"both": 1, "sum 1": -1}, {"sum 1": 1}]
    return code


def lagrange(points: list[int], point: int) -> list[int]:
    """Return the coefficients, modulo 7, of the polynomial that is 1 at `point` and 0 at the other `points`."""
    coefficients = [1]
    for other in points:
        if other != point:
            inverse = pow(point - other, -1, MODULUS)
            shifted, scaled = [0, *coefficients], [-other * each for each in [*coefficients, 0]]
            coefficients = [(one + two) * inverse % MODULUS for one, two in zip(shifted, scaled, strict=True)]
    return coefficients


def relays_of_ranks(topology: Topology) -> dict[str, list[int]]:
    """Return the numbers of the relays next to each rank of the Fano network except r."""
    near: dict[str, list[int]] = {f"t{rank}": [] for rank in range(7)}
    for link in topology.links:
        source, target = map(str, topology.ids([link.source, link.target]))
        if target in near:
            near[target].append(int(source[1:]))
    return near


def fano_code(topology: Topology) -> Code:
    """Return a code with four sums per use for `fano.json`.

    Four sums are the coefficients of a polynomial of degree 3. Relay p sends its value at p to four ranks, and any four
    values determine the polynomial (Reed and Solomon). The reduce is the same code backwards.
    """
    near = relays_of_ranks(topology)
    code = Code(("r", *near), 4)
    for rank, relays in near.items():
        for relay in relays:
            parts = {f"w{power}": each for power, each in enumerate(lagrange(relays, relay))}
            code.send(rank, f"p{relay}", f"part of {rank}", parts)
    for relay in range(7):
        code.send(f"p{relay}", "r", f"sum of p{relay}", {f"part of {t}": 1 for t in near if relay in near[t]})
    code.results["r"] = [
        {f"w{power}": 1, **{f"sum of p{relay}": relay**power for relay in range(7)}} for power in range(4)
    ]
    for relay in range(7):
        code.send("r", f"p{relay}", "value", value_at(relay, code.results["r"]))
    for rank, relays in near.items():
        for relay in relays:
            code.send(f"p{relay}", rank, f"value of p{relay}", {"value": 1})
        code.results[rank] = [{f"value of p{p}": lagrange(relays, p)[power] for p in relays} for power in range(4)]
    return code


def value_at(point: int, coefficients: list[Terms]) -> Terms:
    """Return the value at `point` of the polynomial with these coefficients."""
    value: Counter[str] = Counter()
    for power, terms in enumerate(coefficients):
        for name, factor in terms.items():
            value[name] += factor * point**power
    return value


def run(code: Code, topology: Topology, seed: int) -> None:
    """Run the code on random vectors, and check the sums and the loads of the links."""
    random = Random(seed)  # noqa: S311 (not for security)
    values: dict[str, dict[str, int]] = {str(node.id): {} for node in topology.nodes}
    for rank in code.ranks:
        values[rank] = {f"w{number}": random.randrange(MODULUS) for number in range(code.sums)}
    expected = [sum(values[rank][f"w{number}"] for rank in code.ranks) % MODULUS for number in range(code.sums)]
    loads: Counter[tuple[str, str]] = Counter()
    for message in code.messages:
        values[message.target][message.name] = combined(message.terms, values[message.source])
        loads[message.source, message.target] += 1
    for link in topology.links:
        source, target = map(str, topology.ids([link.source, link.target]))
        if loads.pop((source, target), 0) > link.bandwidth:
            raise SystemExit(f"the link {source} -> {target} carries too much")
    if loads:
        raise SystemExit(f"there is no link {next(iter(loads))}")
    for rank in code.ranks:
        if [combined(terms, values[rank]) for terms in code.results[rank]] != expected:
            raise SystemExit(f"{rank} has wrong sums")


def combined(terms: Terms, values: Mapping[str, int]) -> int:
    """Return a combination of the values of a node, modulo 7."""
    return sum(coefficient * values[name] for name, coefficient in terms.items()) % MODULUS


def report(name: str, topology: Topology, code: Code) -> None:
    """Print the rates of one network, and run its code."""
    best = optimum(topology, "allreduce")
    proof = best.bound.proof
    if not isinstance(proof, TreeLengthsProof) or not best.is_optimal:
        raise SystemExit(f"{name}: the optimum along trees is not proven by lengths of links")
    lengths = dict(zip(proof.ends, proof.lengths, strict=True))
    total = sum(link.bandwidth * lengths.get((link.source, link.target), 0) for link in topology.links)
    cut = bounds_of(topology).allreduce_rate.cut_set_upper.algbw
    for seed in range(100):
        run(code, topology, seed)
    print(f"{name}: {code.sums} sums per use with a code (100 runs checked), {best.algbw} along trees, {cut} in a cut")
    print(f"  proof for trees: {len(proof.lengths)} links have the total length {total}")
    print(f"  and each pair of trees has at least the length {total / best.algbw}")


def main() -> None:
    """Report both networks."""
    butterfly, fano = (read_topology(FOLDER / f"{name}.json") for name in ("butterfly", "fano"))
    report("butterfly", butterfly, butterfly_code())
    report("fano", fano, fano_code(fano))


if __name__ == "__main__":
    main()
