"""The exhibits of *On the Computation Rate of All-Reduce*."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from random import Random

from allreduce_factor import SMALL, tally_of
from exhibits.exhibit import Exhibit, Paper, Result, Settings, table, verdict_of
from forestcoll.solver.bounds.table import bounds
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology

Arc = tuple[int, int]
Pair = tuple[Arc, ...]
"""A rooted MAC-BC network: the links of an in-tree and of an out-tree with the same root. A link may occur twice."""


def in_trees(nodes: int, root: int) -> Iterator[Pair]:
    """Yield the rooted MAC trees: each node but the root sends to its parent, and all paths end at the root."""
    others = [node for node in range(nodes) if node != root]
    for parents in product(range(nodes), repeat=nodes - 1):
        parent = dict(zip(others, parents, strict=True))
        if all(_reaches(parent, node, root) for node in others):
            yield tuple(parent.items())


def _reaches(parent: dict[int, int], node: int, root: int) -> bool:
    for _ in range(len(parent)):
        node = parent.get(node, root)
    return node == root


def pairs(nodes: int) -> Iterator[Pair]:
    """Yield all rooted MAC-BC networks. The out-trees are the reversed in-trees."""
    for root in range(nodes):
        trees = list(in_trees(nodes, root))
        for inward, outward in product(trees, repeat=2):
            yield (*inward, *((head, tail) for tail, head in outward))


def network_of(name: str, nodes: int, bandwidths: dict[Arc, int]) -> Topology:
    """Return the network with these bandwidths; zeros are left out."""
    builder = TopologyBuilder(name)
    for node in range(nodes):
        builder.add_compute(node)
    for (source, target), bandwidth in bandwidths.items():
        if bandwidth:
            builder.add_link(source, target, bandwidth)
    return builder.build()


def rates(topology: Topology) -> tuple[Fraction, Fraction]:
    """Return the lower bound along trees (Theorem 2) and the cut-set upper bound (Theorem 1)."""
    rate = bounds(topology).allreduce_rate
    if rate.tree_lower is None or not rate.exact:
        raise ValueError(f"{topology.name}: the rate along trees is not known exactly")
    return rate.tree_lower, rate.cut_set_upper.algbw


def counts(settings: Settings) -> Result:
    """Return Figures 1 to 3: the numbers of rooted trees and of their pairs."""
    del settings
    rows = []
    for nodes in (2, 3, 4, 5):
        trees = sum(1 for root in range(nodes) for _ in in_trees(nodes, root))
        at_root = sum(1 for _ in in_trees(nodes, 0)) ** 2
        rows.append((nodes, trees, nodes ** (nodes - 1), at_root, nodes * at_root, nodes ** (2 * nodes - 3)))
    same = all(trees == formula and both == power for _, trees, formula, _, both, power in rows)
    heads = ["K", "in-trees, listed", "K^(K-1)", "pairs at one root, listed", "all pairs", "K^(2K-3)"]
    summary = f"For K = 3 there are {rows[1][1]} in-trees, as many out-trees, and {rows[1][3]} pairs at each root."
    return Result(verdict_of(same=same and (rows[1][1], rows[1][3]) == (9, 9)), summary, table(heads, rows))


def random_networks(count: int, nodes: Sequence[int], name: str) -> Iterator[Topology]:
    """Yield random strongly connected networks with integer bandwidths."""
    for number in range(count):
        draw = Random(f"{name}/{number}")  # noqa: S311 (not for security)
        size = draw.choice(nodes)
        order = draw.sample(range(size), size)
        around = set(zip(order, [*order[1:], order[0]], strict=True))
        widths = {arc: draw.choice((0, 0, 1, 2, 3)) + (arc in around) for arc in permutations(range(size), 2)}
        yield network_of(f"{name} {number}", size, widths)


def cuts(_settings: Settings) -> Result:
    """Return Theorem 1: the cut-set bound by max-flows and by all sets."""
    networks = list(random_networks(20, (3, 4, 5, 6), "cuts"))
    equal = sum(rates(each)[1] == _least_cut(each) for each in networks)
    summary = f"On {equal} of {len(networks)} random networks of 3 to 6 nodes, the bound is the least of all sets."
    return Result(verdict_of(same=equal == len(networks)), summary)


def _least_cut(topology: Topology) -> Fraction:
    nodes = range(len(topology.nodes))
    sets = (set(chosen) for size in nodes[1:] for chosen in combinations(nodes, size))
    return min(
        sum((link.bandwidth for link in topology.links if link.source in one and link.target not in one), Fraction(0))
        for one in sets
    )


def programs(_settings: Settings) -> Result:
    """Return Theorem 2: the program over all rooted MAC-BC networks, next to the program of forestcoll."""
    networks = list(random_networks(12, (3,), "pairs of 3"))
    networks += random_networks(2, (4,), "pairs of 4")
    equal = sum(rates(each)[0] == by_all_pairs(each) for each in networks)
    summary = (
        f"On {equal} of {len(networks)} random networks of 3 and 4 nodes, the program over all 27 or 1,024 pairs of "
        "trees has the optimum of the program of forestcoll, which has a column for each link and phase."
    )
    return Result(verdict_of(same=equal == len(networks)), summary)


def by_all_pairs(topology: Topology) -> Fraction:
    """Return the optimum of the program of Theorem 2, solved exactly."""
    columns = [Counter(each) for each in pairs(len(topology.nodes))]
    widths = {(link.source, link.target): int(link.bandwidth) for link in topology.links}
    program = LinearProgram([1] * len(columns))
    for arc in permutations(range(len(topology.nodes)), 2):
        uses = {place: column[arc] for place, column in enumerate(columns) if column[arc]}
        program.add(Constraint(uses, None, widths.get(arc, 0)))
    solved = program.exact(program.solve())
    if solved is None:
        raise ValueError(f"{topology.name}: no exact solution")
    return sum(solved[0], Fraction(0))


def corollary(_settings: Settings) -> Result:
    """Return Corollary 2.1: the rate along trees is at most the sum of bandwidths by 2(K - 1)."""
    networks = list(random_networks(30, (3, 4, 5, 6), "sums"))
    found = [
        (rates(each)[0], sum(link.bandwidth for link in each.links) / (2 * (len(each.nodes) - 1))) for each in networks
    ]
    reached = sum(rate == bound for rate, bound in found)
    summary = f"It holds on {len(found)} random networks of 3 to 6 nodes; {reached} of them reach it."
    return Result(verdict_of(same=all(rate <= bound for rate, bound in found)), summary)


def combined(_settings: Settings) -> Result:
    """Return Theorem 3: sums of 1-MAC-BC networks with one cut-edge."""
    rows = []
    for number in range(10):
        draw = Random(f"theorem 3/{number}")  # noqa: S311 (not for security)
        size = draw.choice((3, 4))
        chosen = [each for each in pairs(size) if _is_only_exit(each, (0, 1))]
        weights = [draw.randint(1, 4) for _ in range(draw.randint(1, 3))]
        widths: Counter[Arc] = Counter()
        for weight in weights:
            for arc, times in Counter(draw.choice(chosen)).items():
                more = 0 if arc == (0, 1) else draw.randint(0, 2)
                widths[arc] += weight * (times + more)
        rows.append((number + 1, size, sum(weights), *rates(network_of(f"sum {number}", size, dict(widths)))))
    same = all(total == lower == upper for _, _, total, lower, upper in rows)
    summary = f"On {len(rows)} random sums, both bounds are the sum of the weights."
    heads = ["network", "K", "sum of the weights", "lower bound", "upper bound"]
    return Result(verdict_of(same=same), summary, table(heads, rows))


def _is_only_exit(pair: Pair, arc: Arc) -> bool:
    """Return whether `arc` is the only link that leaves its source, with bandwidth 1."""
    return [each for each in pair if each[0] == arc[0]] == [arc]


def trees(_settings: Settings) -> Result:
    """Return Figure 5: networks whose topology is a tree with links in both directions."""
    rows = []
    for nodes in (4, 6, 9):
        draw = Random(f"tree/{nodes}")  # noqa: S311 (not for security)
        widths: dict[Arc, int] = {}
        for child in range(1, nodes):
            parent = draw.randrange(child)
            widths |= {(child, parent): draw.randint(1, 9), (parent, child): draw.randint(1, 9)}
        rows.append((nodes, min(widths.values()), *rates(network_of(f"tree of {nodes}", nodes, widths))))
    same = all(least == lower == upper for _, least, lower, upper in rows)
    summary = "On random trees both bounds are the least bandwidth of a link."
    return Result(verdict_of(same=same), summary, table(["K", "least bandwidth", "lower bound", "upper bound"], rows))


def closed_forms(rows: Sequence[tuple[str, Fraction, Fraction]]) -> Result:
    """Return the bounds of networks next to closed forms: spec, lower and upper bound."""
    found = [(spec, *rates(build_topology(spec)), lower, upper) for spec, lower, upper in rows]
    same = all(here == printed for _, *here, low, high in found for printed in [[low, high]])
    heads = ["network", "lower bound here", "upper bound here", "printed lower", "printed upper"]
    summary = f"Both bounds are those of the theorem on {len(found)} networks."
    return Result(verdict_of(same=same), summary, table(heads, found))


def complete(_settings: Settings) -> Result:
    """Return Theorem 4 and Figure 6."""
    return closed_forms([(f"complete:nodes={k}", Fraction(k, 2), Fraction(k - 1)) for k in range(3, 9)])


def cycles(_settings: Settings) -> Result:
    """Return Theorem 5 and Figure 7."""
    one_way = [(f"ring:nodes={k},one_way=true", Fraction(k, 2 * (k - 1)), Fraction(1)) for k in range(3, 8)]
    return closed_forms([*one_way, *((f"ring:nodes={k}", Fraction(k, k - 1), Fraction(2)) for k in range(3, 8))])


def three_nodes(_settings: Settings) -> Result:
    """Return Theorem 6: all cycles of three nodes with bandwidths up to 4."""
    found, worst = [], Fraction(1)
    for widths in product(range(1, 5), repeat=3):
        around = dict(zip(((0, 1), (1, 2), (2, 0)), widths, strict=True))
        lower, upper = rates(network_of("cycle", 3, around))
        found.append((lower, upper) == (min(Fraction(min(widths)), Fraction(sum(widths), 4)), Fraction(min(widths))))
        worst = max(worst, upper / lower)
    summary = (
        f"On {sum(found)} of {len(found)} networks the bounds are min(a, b, c, (a+b+c)/4) and min(a, b, c). The "
        f"greatest quotient is {worst}. The remark prints min(a, b, c) <= 3/4 (a+b+c)/4, and the last line of the "
        f"proof prints (a+b+c)/3: both are misprints of {worst} (a+b+c)/4 and (a+b+c)/4."
    )
    return Result(verdict_of(same=all(found) and worst == Fraction(4, 3)), summary)


def hypercubes(_settings: Settings) -> Result:
    """Return Theorem 7."""
    rows = [(f"hypercube:dim={u}", Fraction(2 ** (u - 1) * u, 2**u - 1), Fraction(u)) for u in range(1, 6)]
    return closed_forms(rows)


def hypercube_pairs(_settings: Settings) -> Result:
    """Return Figures 8 and 9: how often each link occurs in the pairs of trees on a hypercube."""
    rows = []
    for dim in (2, 3, 4):
        uses: Counter[Arc] = Counter()
        for root, order in product(range(2**dim), permutations(range(dim))):
            for child, parent in _hypercube_tree(root, order):
                uses.update([(child, parent), (parent, child)])
        factorial = len(list(permutations(range(dim - 1))))
        rows.append(
            (dim, 2**dim * factorial * dim, min(uses.values()), max(uses.values()), 2 * (2**dim - 1) * factorial)
        )
    same = all(least == most == formula for _, _, least, most, formula in rows)
    summary = f"Each link of the hypercube of 8 nodes occurs {rows[1][2]} times in {rows[1][1]} pairs (printed: 28)."
    heads = ["dimension", "pairs", "least uses of a link", "most uses", "2(2^U - 1)(U - 1)!"]
    return Result(verdict_of(same=same and rows[1][2] == 28), summary, table(heads, rows))


def _hypercube_tree(root: int, order: Sequence[int]) -> Iterator[Arc]:
    """Yield the links to the root of the tree that flips the bits in this order."""
    reached = [root]
    for bit in order:
        added = [node ^ (1 << bit) for node in reached]
        yield from zip(added, reached, strict=True)
        reached += added


def smallest_open(_settings: Settings) -> Result:
    """Return the smallest open problem of section 4."""
    network = build_topology("complete:nodes=3")
    lower, upper = rates(network)
    linear = bounds(network).allreduce_rate.linear_upper
    summary = (
        f"The bounds are {lower} and {upper}, as printed. Linear codes reach at most {linear} "
        "([proof](allreduce-proofs.md#where-codes-cannot-be-faster-than-trees)); for other codes the problem stays "
        "open."
    )
    same = (lower, upper) == (Fraction(3, 2), Fraction(2))
    return Result(verdict_of(same=same, better=linear < upper), summary)


def factors(_settings: Settings) -> Result:
    """Return the question of section 4: the quotient of the bounds on all networks of up to four nodes."""
    kinds = [each for each in SMALL if each.nodes <= 4 and not each.relays]
    rows = [(each.name, tally_of(each.networks())) for each in kinds]
    greatest = max(tally.most for _, tally in rows)
    summary = (
        f"The answer is yes: the quotient is at most 2 - 2/K "
        f"([proof](allreduce-proofs.md#how-far-cuts-are-above-trees)), and rings reach this. The "
        f"greatest quotient of the {sum(tally.networks for _, tally in rows)} networks of 3 and 4 nodes is {greatest}."
    )
    better = all(not tally.above and not tally.unproven for _, tally in rows)
    listed = [(name, tally.networks, tally.most, tally.greatest) for name, tally in rows]
    heads = ["networks", "number", "greatest quotient", "networks with 2 - 2/K"]
    return Result(verdict_of(same=True, better=better), summary, table(heads, listed))


_DRAWN = "Its bandwidths are only drawn. Theorem 3 is checked on other networks."

PAPER = Paper(
    "allreduce-rate",
    "On the computation rate of all-reduce",
    "Y. Zhou, H. Sun, *On the Computation Rate of All-Reduce*.",
    "The upper bound is the cut-set bound, and the lower bound the best rate along pairs of trees. `forestcoll "
    "optimum --all` prints both for any network ([bounds](../bounds.md)).",
    (
        Exhibit(
            "Figures 1 to 3",
            "all 9 rooted MAC trees, all 9 rooted BC trees and all 9 MAC-BC networks of one root, with 3 nodes.",
            counts,
        ),
        Exhibit("Figure 4", "a network with a cut-edge that is the sum of two others.", why_not=_DRAWN),
        Exhibit("Figure 5", "a tree with links in both directions, whose capacity is the least bandwidth.", trees),
        Exhibit("Figure 6", "the complete network, whose lower bound is K/2.", complete),
        Exhibit("Figure 7", "the cycle, whose lower bound is K/(2(K - 1)).", cycles),
        Exhibit(
            "Figures 8 and 9",
            "pairs of trees on the hypercube of 8 nodes; a link is in 28 of them.",
            hypercube_pairs,
        ),
        Exhibit("Theorem 1", "the rate is at most the least bandwidth that leaves a set of nodes.", cuts),
        Exhibit("Theorem 2", "the rate is at least the optimum of a linear program over all pairs of trees.", programs),
        Exhibit(
            "Corollary 2.1", "the rate along trees is at most the sum of all bandwidths divided by 2(K - 1).", corollary
        ),
        Exhibit(
            "Theorem 3",
            "a sum of 1-MAC-BC networks with the same cut-edge has the sum of their weights as its rate.",
            combined,
        ),
        Exhibit("Theorem 4", "complete networks: K/2 and K - 1.", complete),
        Exhibit("Theorem 5", "cycles: K/(2(K - 1)) and 1; rings: K/(K - 1) and 2.", cycles),
        Exhibit(
            "Theorem 6",
            "cycles of 3 nodes with bandwidths a, b, c; the quotient of the bounds is at most 4/3.",
            three_nodes,
        ),
        Exhibit("Theorem 7", "hypercubes: 2^(U-1) U / (2^U - 1) and U.", hypercubes),
        Exhibit("Section 4", "the smallest open problem: the rate of 3 nodes is between 3/2 and 2.", smallest_open),
        Exhibit(
            "Question of section 4",
            "it is asked whether the upper bound is at most twice the lower bound on every network.",
            factors,
        ),
    ),
)
