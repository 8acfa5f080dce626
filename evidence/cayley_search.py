"""Search for Cayley graphs with a good breadth-first broadcast. The output is a table that the finder reads.

    .venv/bin/python evidence/cayley_search.py --degree 4 --nodes 6..1024 >> found.txt

For each number of nodes the search draws metacyclic groups and sets of generators, with a seed made from the arguments.
It counts the cost of each graph and of its transpose (`forestcoll.design.measure`) and prints the Pareto frontier in
steps and bandwidth. With `--bidirectional` the generators include their inverses. The search ends after a number of
candidates, not after a time, so the same call always prints the same lines. `src/forestcoll/design/tables/` holds the
results.
"""

import argparse
import random
from collections.abc import Iterator
from math import gcd

import numpy as np

from forestcoll.design.measure import Cost, cayley_cost, least_factor, moore_steps
from forestcoll.topology.families.cayley import Metacyclic

_SETS_PER_GROUP = 40


def main() -> None:
    """Print the lines of the table for the given sizes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--degree", type=int, default=4)
    parser.add_argument("--nodes", default="6..64", help="first..last")
    parser.add_argument("--candidates", type=int, default=2000, help="number of graphs to try for each size")
    parser.add_argument("--bidirectional", action="store_true")
    parser.add_argument(
        "--seed", default="", help="seed text for other random graphs; the lines of several runs can be joined"
    )
    arguments = parser.parse_args()
    first, last = map(int, arguments.nodes.split(".."))
    for nodes in range(max(first, arguments.degree + 2), last + 1):
        for line in best_lines(
            nodes, arguments.degree, arguments.candidates, bidirectional=arguments.bidirectional, seed=arguments.seed
        ):
            print(line, flush=True)


def best_lines(nodes: int, degree: int, candidates: int, *, bidirectional: bool, seed: str = "") -> Iterator[str]:
    """Yield one line per graph on the frontier: nodes, group, generators, and the cost of the allgather."""
    draw = random.Random(f"{nodes} {degree} {bidirectional}{seed}")  # noqa: S311 (a search, no secret)
    groups = list(groups_of(nodes))
    frontier: dict[Cost, tuple[Metacyclic, list[int]]] = {}
    for _ in range(-(-candidates // _SETS_PER_GROUP)):
        group = draw.choice(groups)
        for _ in range(_SETS_PER_GROUP):
            generators = draw_generators(draw, group, degree, bidirectional=bidirectional)
            if generators is None:
                continue
            keep(frontier, group, generators)
        if any(cost == Cost(moore_steps(nodes, degree), least_factor(nodes)) for cost in frontier):
            break
    for cost, (group, generators) in sorted(frontier.items()):
        listed = "+".join(map(str, sorted(generators)))
        yield f"{nodes} {group.outer} {group.inner} {group.ratio} {listed} {cost.steps} {cost.bandwidth_factor}"


def groups_of(nodes: int) -> Iterator[Metacyclic]:
    """Yield the metacyclic groups of order `nodes` with an outer cycle of two or more elements."""
    for outer in range(2, nodes + 1):
        inner = nodes // outer
        if outer * inner == nodes:
            for ratio in range(1, outer):
                group = Metacyclic(outer, inner, ratio)
                if gcd(ratio, outer) == 1 and group.is_group and (inner > 1 or ratio == 1):
                    yield group


def draw_generators(draw: random.Random, group: Metacyclic, degree: int, *, bidirectional: bool) -> list[int] | None:
    """Return `degree` distinct generators, or None if the draw gave another number of them.

    With `bidirectional` the set of generators is closed under inverses.
    """
    if not bidirectional:
        return draw.sample(range(1, group.order), degree)
    found: dict[int, None] = {}
    while len(found) < degree:
        element = draw.randrange(1, group.order)
        found[element] = found[group.inverse(element)] = None
    return list(found) if len(found) == degree else None


def keep(frontier: dict[Cost, tuple[Metacyclic, list[int]]], group: Metacyclic, generators: list[int]) -> None:
    """Add the graph to the frontier if neither it nor its transpose is dominated."""
    onward = multiplied(group, generators)
    back = multiplied(group, [group.inverse(element) for element in generators])
    cost = cayley_cost(onward, back)
    if cost is None or dominated(cost, frontier) or cayley_cost(back, onward) != cost:
        return
    for other in [each for each in frontier if dominated(each, [cost])]:
        del frontier[other]
    frontier[cost] = (group, generators)


def dominated(cost: Cost, others: object) -> bool:
    """Return whether one of `others` is at least as good in both steps and bandwidth."""
    return any(
        other.steps <= cost.steps and other.bandwidth_factor <= cost.bandwidth_factor
        for other in others  # type: ignore[attr-defined]
    )


def multiplied(group: Metacyclic, generators: list[int]) -> np.ndarray:
    """Return one row for each element x, with the numbers x * g of all generators g."""
    elements = np.arange(group.order)
    first, second = elements // group.inner, elements % group.inner
    powers = np.array([pow(group.ratio, turn, group.outer) for turn in range(group.inner)])[second]
    rows = []
    for generator in generators:
        along, turn = divmod(generator, group.inner)
        rows.append((first + powers * along) % group.outer * group.inner + (second + turn) % group.inner)
    return np.stack(rows)


if __name__ == "__main__":
    main()
