"""The optimum of an allreduce by other linear programs than forestcoll's. They are slow: networks must be small."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology

Tree = tuple[int, ...]
"""The numbers of its links."""


def best_by_pairs_of_trees(topology: Topology) -> Fraction:
    """Solve the exponential program of *On the Computation Rate of All-Reduce*, Theorem 2: a column for each pair.

    A pair is an in-tree and an out-tree of one root; there are no switches.
    """
    scaled = ScaledTopology.of(topology)
    pairs = [
        (*inward, *outward)
        for root in topology.compute
        for inward, outward in product(
            spanning_trees(topology, root, out=False), spanning_trees(topology, root, out=True)
        )
    ]
    program = LinearProgram([1] * len(pairs), scale=max(scaled.capacities))
    for link, capacity in enumerate(scaled.capacities):
        program.add(
            Row({column: pair.count(link) for column, pair in enumerate(pairs) if link in pair}, None, capacity)
        )
    return _value(program) * scaled.unit


def spanning_trees(topology: Topology, root: int, *, out: bool) -> Iterator[Tree]:
    """Yield the spanning trees whose links lead away from `root`, or towards it."""
    entering: dict[int, list[int]] = {node: [] for node in topology.compute if node != root}
    for number, link in enumerate(topology.links):
        child = link.target if out else link.source
        if child != root:
            entering[child].append(number)
    for links in product(*entering.values()):
        parents = {
            (topology.links[each].target if out else topology.links[each].source): (
                topology.links[each].source if out else topology.links[each].target
            )
            for each in links
        }
        if all(_leads_to(parents, node, root) for node in parents):
            yield links


def _leads_to(parents: dict[int, int], node: int, root: int) -> bool:
    for _ in range(len(parents)):
        node = parents.get(node, root)
    return node == root


def best_by_pairs_of_steiner_trees(topology: Topology, roots: Iterable[int] | None = None) -> Fraction:
    """Solve the same program with able switches, which a tree may leave out. All nodes or only `roots` may be roots.

    All switches can copy and add up.
    """
    scaled = ScaledTopology.of(topology)
    pairs = {
        (*inward, *outward)
        for root in (range(len(topology.nodes)) if roots is None else roots)
        for inward, outward in product(*(list(_steiner_trees(topology, root, out=out)) for out in (False, True)))
    }
    program = LinearProgram([1] * len(pairs), scale=max(scaled.capacities))
    for link, capacity in enumerate(scaled.capacities):
        program.add(
            Row({column: pair.count(link) for column, pair in enumerate(sorted(pairs)) if link in pair}, None, capacity)
        )
    return _value(program) * scaled.unit


def _steiner_trees(topology: Topology, root: int, *, out: bool) -> Iterator[Tree]:
    """Yield the trees between `root` and all compute nodes, over any choice of switches."""
    switches = [switch for switch in topology.switches if switch != root]
    for chosen in product((False, True), repeat=len(switches)):
        nodes = {*topology.compute, root, *(switch for switch, is_in in zip(switches, chosen, strict=True) if is_in)}
        yield from _trees_over(topology, root, nodes, out=out)


def _trees_over(topology: Topology, root: int, nodes: set[int], *, out: bool) -> Iterator[Tree]:
    entering: dict[int, list[int]] = {node: [] for node in sorted(nodes) if node != root}
    for number, link in enumerate(topology.links):
        child, parent = (link.target, link.source) if out else (link.source, link.target)
        if child in entering and parent in nodes:
            entering[child].append(number)
    for links in product(*entering.values()):
        ends = [(topology.links[each].target, topology.links[each].source) for each in links]
        parents = dict(ends) if out else {parent: child for child, parent in ends}
        if all(_leads_to(parents, node, root) for node in parents):
            yield links


def best_by_commodities(topology: Topology) -> Fraction:
    """Solve the program of ForestColl's appendix G without simplification: each logical link is a commodity.

    Commodities of one tail are one flow.
    """
    return _Appendix(topology).value()


class _Appendix:
    """The program of appendix G. Columns are named by tuples, and numbered in the order of first use."""

    def __init__(self, topology: Topology) -> None:
        self.topology, self.scaled = topology, ScaledTopology.of(topology)
        self.columns: dict[tuple[object, ...], int] = {}
        self.rows: list[tuple[dict[tuple[object, ...], int], int | None, int | None]] = []
        compute = topology.compute
        self.pairs = [(a, b) for a in compute for b in compute if a != b]
        self.route_pairs()
        for pair in self.pairs:  # both phases within the logical link
            self.rows.append(({("RE", *pair): 1, ("BC", *pair): 1, ("b", *pair): -1}, None, 0))
        for target in compute:
            self.flow_to(target, "BC")
            self.flow_to(target, "RE")

    def route_pairs(self) -> None:
        links = list(enumerate(self.topology.links))
        for number, _ in links:
            load: dict[tuple[object, ...], int] = {("y", tail, number): 1 for tail in self.topology.compute}
            self.rows.append((load, None, self.scaled.capacities[number]))
        for tail in self.topology.compute:
            for node in range(len(self.topology.nodes)):
                if node == tail:
                    continue
                kept: dict[tuple[object, ...], int] = {}
                for number, link in links:
                    if node in (link.source, link.target):
                        kept["y", tail, number] = 1 if link.target == node else -1
                if self.topology.nodes[node].is_compute:
                    kept["b", tail, node] = -1
                self.rows.append((kept, 0, None))

    def flow_to(self, target: int, phase: str) -> None:
        """Add: the data of all roots reaches `target` over the links of a phase, which are reversed in a reduce."""
        compute = self.topology.compute
        for node in compute:
            self.rows.append(({("f", phase, target, "s", node): 1, ("x", node): -1}, None, 0))
        for a, b in self.pairs:
            used = (phase, a, b) if phase == "BC" else (phase, b, a)
            self.rows.append(({("f", phase, target, a, b): 1, used: -1}, None, 0))
        for node in compute:
            kept: dict[tuple[object, ...], int] = {("f", phase, target, "s", node): 1}
            for other in compute:
                if other != node:
                    kept["f", phase, target, other, node] = 1
                    kept["f", phase, target, node, other] = -1
            if node == target:
                kept |= {("x", each): -1 for each in compute}
            self.rows.append((kept, 0, None))

    def value(self) -> Fraction:
        for coefficients, _, _ in self.rows:
            for name in coefficients:
                self.columns.setdefault(name, len(self.columns))
        objective = [int(name[0] == "x") for name in self.columns]
        program = LinearProgram(objective, scale=max(self.scaled.capacities))
        for coefficients, lower, upper in self.rows:
            program.add(Row({self.columns[name]: each for name, each in coefficients.items()}, lower, upper))
        return _value(program) * self.scaled.unit


def _value(program: LinearProgram) -> Fraction:
    """Return the exact optimum: both halves of the basis are checked against the rows."""
    exact = program.exact(program.solve())
    assert exact is not None
    values, prices = exact
    assert min(values) >= 0
    for row in program.rows:
        total = sum(coefficient * values[column] for column, coefficient in row.coefficients.items())
        assert row.upper is None or total <= row.upper
        assert row.lower is None or total >= row.lower
    costs = [Fraction(each) for each in program.objective]
    sides = Fraction(0)
    for row, price in zip(program.rows, prices, strict=True):
        side = row.upper if row.upper is not None else row.lower
        assert side is not None
        assert price >= 0 if row.lower is None else price <= 0
        sides += price * side
        for column, coefficient in row.coefficients.items():
            costs[column] -= coefficient * price
    assert max(costs) <= 0
    value = sum((weight * each for weight, each in zip(program.objective, values, strict=True)), Fraction(0))
    assert value == sides
    return value
