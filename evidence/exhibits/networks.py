"""Exhibits of the direct-connect paper about networks and their costs: bases, expansions, tables of the finder."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, gcd, sqrt

from matplotlib.figure import Figure

import figures
import paper_tables
from exhibits.exhibit import Result, Settings, Verdict, table, verdict_of
from forestcoll.algorithms.bfb import Bfb
from forestcoll.algorithms.generate import generate
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.expanding import expand
from forestcoll.design.given import base_network
from forestcoll.design.measure import least_factor, moore_steps
from forestcoll.design.path_rates import path_rates
from forestcoll.design.realisation import schedule_of
from forestcoll.design.search.catalogue import bases, kautz
from forestcoll.design.search.finder import TopologyFinder, find_topologies
from forestcoll.design.workloads.workload import (
    Workload,
    WorkloadTraffic,
    all_to_all_time_us,
    allreduce_time_us,
    best_for,
)
from forestcoll.schedule.shape_of import shape_of
from forestcoll.verification import verify

Draw = Callable[[Figure, int], None]
ALLREDUCE = Workload(WorkloadTraffic.ALLREDUCE, 2**20, Fraction(10), Fraction(25, 2))


def drawn(draw: Draw, largest: int) -> Figure:
    """Return the picture that a function draws."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    draw(figure, largest)
    return figure


def cost_of(network: Construction) -> str:
    """Return the steps and the bandwidth factor of a network as text."""
    return f"{network.cost.steps} steps, {network.cost.bandwidth_factor} M/B"


def allgathers(printed: Iterable[tuple[str, str, Sequence[str], int, str]]) -> Result:
    """Return the costs of verified allgathers: name, spec, expansions, printed steps and bandwidth factor."""
    rows, same = [], True
    for name, spec, changes, steps, factor in printed:
        network = expand(spec, changes) if changes else base_network(spec)
        schedule = schedule_of(network)
        shape = shape_of(schedule)
        same &= (shape.steps, shape.bandwidth_factor) == (steps, Fraction(factor)) and verify(schedule).ok
        rows.append((name, network.nodes, network.degree, shape.steps, steps, shape.bandwidth_factor, factor))
    heads = ["network", "N", "d", "T_L here", "printed", "T_B here (M/B)", "printed"]
    return Result(
        verdict_of(same=same), "The schedules are built and verified, and have these costs.", table(heads, rows)
    )


def small_allgathers(*printed: tuple[str, str, Sequence[str], int, str]) -> Callable[[Settings], Result]:
    """Return the function that makes an exhibit of allgathers on small networks."""
    return lambda _settings: allgathers(printed)


def line_graphs(settings: Settings) -> Result:
    """Return Figure 3."""
    rows = []
    for nodes, name in ((8, "K(4,4)"), (5, "K(5)"), (6, "DirCirculant(4)"), (9, "H(2,3)")):
        (base,) = [each for each in bases(nodes, 4) if each.name == name]
        grown = expand(base.spec, [f"line-graph={_times(nodes, settings.largest)}"])
        ratio = float(grown.cost.bandwidth_factor / least_factor(grown.nodes))
        rows.append((name, grown.nodes, grown.cost.steps, moore_steps(grown.nodes, 4), f"{ratio:.4f}"))
    same = all(here == moore for _, _, here, moore, _ in rows)
    summary = (
        f"All line graphs are Moore-optimal, and T_B is at most {max(row[4] for row in rows)} times the least T_B."
    )
    lines = table(["base", "largest N", "T_L", "Moore bound", "T_B / least T_B"], rows)
    return Result(verdict_of(same=same), summary, lines, drawn(figures.line_graphs, settings.largest))


def _times(nodes: int, largest: int) -> int:
    return next(count for count in range(1, 20) if nodes * 4 ** (count + 1) > 16 * largest)


def expansions(_settings: Settings) -> Result:
    """Return Table 3: the costs of expanded networks by the theorems and as built."""
    rows, same = [], True
    for theorem, spec, change in (
        ("7.1, line graph", "complete-bipartite:left=2,right=2", "line-graph=2"),
        ("10, line graph", "hamming:dim=2,base=3", "line-graph"),
        ("11, degree", "torus:dims=3x3", "degree=2"),
        ("12, power", "ring:nodes=5", "power=2"),
        ("13, product", "ring:nodes=4", "product=ring:nodes=3"),
    ):
        network = expand(spec, [change])
        shape = shape_of(schedule_of(network))
        same &= (shape.steps, shape.bandwidth_factor) == (network.cost.steps, network.cost.bandwidth_factor)
        built = f"{shape.steps} steps, {shape.bandwidth_factor} M/B"
        rows.append((theorem, f"{spec}, {change}", network.nodes, cost_of(network), built))
    summary = "The costs of built and verified schedules are those of the theorems. `tests/design` has more networks."
    return Result(verdict_of(same=same), summary, table(["theorem", "network", "N", "by theorem", "as built"], rows))


_TABLE_4 = (
    ("Π(4,1024)", "323.5", "409.1"),
    ("L³(C(16,{3,4}))", "291.0", "403.5"),
    ("L²(Diamond□2)", "328.4", "446.6"),
    ("L(DBJMod(2,4)□2)", "387.8", "529.9"),
    ("(UniRing(1,4)□UniRing(1,8))□2", "567.6", "1174.4"),
)


def large_frontier(_settings: Settings) -> Result:
    """Return Table 4: N = 1,024 and degree 4, with times."""
    rows = [("the paper", name, allreduce, exchange) for name, allreduce, exchange in _TABLE_4]
    exchanges = Workload(WorkloadTraffic.ALL_TO_ALL, ALLREDUCE.size, ALLREDUCE.alpha_us, ALLREDUCE.bandwidth)
    here: dict[str, list[tuple[str, float, float]]] = {}
    for label, published in (("the paper's bases, here", True), ("all bases, here", False)):
        for member in find_topologies(1024, 4, published_only=published).members:
            gap = float(1 - exchange_rate(member).algbw / exchange_rate(member).bound)
            times = float(allreduce_time_us(member, ALLREDUCE)), all_to_all_time_us(member, exchanges)
            longer = f" (at most {gap:.2%} too long)" if gap else ""
            rows.append((label, member.name, f"{times[0]:.1f}", f"{times[1]:.1f}{longer}"))
            here.setdefault(label, []).append((member.name, *times))
    pairs = zip(here["the paper's bases, here"], _TABLE_4, strict=True)
    equal = sum(f"{one:.1f}" == row[1] for (_, one, _), row in pairs)
    name, *best = min(here["all bases, here"], key=lambda found: found[1])
    exceeded = sum(best[0] < float(one) and best[1] < float(other) for _, one, other in _TABLE_4)
    summary = (
        f"{name} takes {best[0]:.1f} and {best[1]:.1f} us, and is better than {exceeded} of {len(_TABLE_4)} printed "
        f"networks in both columns. With the bases of the paper, {equal} of {len(_TABLE_4)} allreduce times are equal; "
        "some all-to-alls take longer, because the links are others or the flows found are not the best."
    )
    heads = ["bases", "network", "allreduce (us)", "all-to-all (us)"]
    better = exceeded == len(_TABLE_4)
    return Result(verdict_of(same=better, better=better), summary, table(heads, rows, left=2))


def frontiers(_settings: Settings) -> Result:
    """Return Table 7."""
    rows = list(paper_tables.rows_of_table_seven())
    missed = [(nodes, row) for nodes, row in rows if not paper_tables.reaching(nodes, row)]
    better = sum(bool(paper_tables.exceeding(nodes, row)) for nodes, row in rows)
    summary = (
        f"{len(rows) - len(missed)} of {len(rows)} rows are reached in all four columns by networks from all bases, "
        f"and {better} of them exceeded in one."
    )
    if missed:
        named = "; ".join(f"{row[0]} of {nodes} nodes: {row[4]}{_here(nodes, row[0])}" for nodes, row in missed)
        summary += f" Not reached is the rate of an all-to-all of {named}."
    return Result(verdict_of(same=not missed, better=better > 0), summary, list(paper_tables.table_seven()))


def _here(nodes: int, name: str) -> str:
    """Return the rate of an all-to-all of a network of the paper, and its proven bound."""
    (network,) = (each for each in paper_tables.found(nodes, published_only=True) if each.name == name)
    return f" (here {paper_tables.written_rate(network)}, proven at most {paper_tables.written_bound(network)})"


def small_networks(_settings: Settings) -> Result:
    """Return Table 5."""
    lines = list(paper_tables.table_five())
    finder = TopologyFinder(bidirectional=True, published_only=True)
    steps = {nodes: [each.cost.steps for each in finder.find(nodes, 4).members] for nodes in paper_tables.TABLE_5}
    same = all(found == [1 if nodes == 5 else 2] for nodes, found in steps.items())
    summary = f"All {len(steps)} sizes have one bandwidth-optimal network with the printed T_L; some have another name."
    return Result(verdict_of(same=same), summary, lines)


def distance_regular(_settings: Settings) -> Result:
    """Return Table 8."""
    found = {
        nodes: next(base for base in bases(nodes, 4, published_only=True) if base.name.startswith("DistReg"))
        for nodes in paper_tables.TABLE_8
    }
    same = all(found[nodes].cost.steps == steps for nodes, steps in paper_tables.TABLE_8.items())
    summary = f"The {len(found)} graphs are bandwidth-optimal in the printed numbers of steps."
    return Result(verdict_of(same=same), summary, list(paper_tables.table_eight()))


_TABLE_9 = (
    ("complete", 5, 4, "K(5)", "1"),
    ("complete bipartite", 8, 4, "K(4,4)", "2"),
    ("Hamming", 9, 4, "H(2,3)", "n = 2"),
    ("Kautz", 20, 4, "Π(4,20)", "2"),
    ("directed circulant", 6, 4, "DirCirculant(4)", "2"),
    ("bidirectional ring", 9, 4, "BiRing(4,9)", "⌊m/2⌋ = 4"),
    ("unidirectional ring", 9, 4, "UniRing(4,9)", "m - 1 = 8"),
    ("de Bruijn", 64, 4, "DBJ(4,3)", "3"),
    ("modified de Bruijn", 8, 2, "DBJMod(2,3)", "4"),
    ("modified de Bruijn", 16, 2, "DBJMod(2,4)", "5"),
    ("modified de Bruijn", 9, 3, "DBJMod(3,2)", "3"),
    ("modified de Bruijn", 16, 4, "DBJMod(4,2)", "3"),
    ("diamond", 8, 2, "Diamond", "3"),
)


def base_networks(_settings: Settings) -> Result:
    """Return Table 9: the base networks, with whether they are optimal."""
    rows, same = [], True
    for family, nodes, degree, name, printed in _TABLE_9:
        listed = (*bases(nodes, degree, published_only=True), kautz(nodes, degree))
        found = next(each for each in listed if each is not None and each.name == name)
        same &= printed.endswith(str(found.cost.steps))
        optimal = [word for word, holds in _optimal(found) if holds]
        rows.append((family, name, found.cost.steps, printed, ", ".join(optimal) or "no"))
    summary = "All T_L are the printed ones. The last column says in what each network is optimal."
    return Result(
        verdict_of(same=same), summary, table(["family", "network", "T_L here", "printed", "optimal"], rows, left=2)
    )


def _optimal(network: Construction) -> Iterator[tuple[str, bool]]:
    yield "Moore", network.is_moore_optimal
    yield "bandwidth", network.is_bandwidth_optimal


def rewired(_settings: Settings) -> Result:
    """Return Figures 19 and 20: the diamond and the modified de Bruijn graph, which were found by search."""
    rows = []
    for nodes, degree, name, steps in ((8, 2, "Diamond", 3), (8, 2, "DBJMod(2,3)", 4)):
        found = next(each for each in bases(nodes, degree, published_only=True) if each.name == name)
        rows.append((name, found.cost.steps, steps, found.cost.bandwidth_factor, least_factor(nodes)))
    same = all(here == printed and factor == least for _, here, printed, factor, least in rows)
    summary = (
        "The paper draws these networks and does not list their links. Those here were found by search: "
        f"{'they have the same T_L and the least T_B, but may have other links' if same else 'their costs differ'}."
    )
    return Result(Verdict.DIFFERS, summary, table(["network", "T_L here", "printed", "T_B here", "least T_B"], rows))


def rings(_settings: Settings) -> Result:
    """Return Figure 17: breadth-first broadcast on bidirectional rings."""
    rows = []
    for nodes in range(3, 13):
        shape = shape_of(generate(f"ring:nodes={nodes}", method="bfb"))
        rows.append((nodes, shape.steps, nodes // 2, shape.bandwidth_factor, least_factor(nodes)))
    same = all(here == printed and factor == least for _, here, printed, factor, least in rows)
    summary = f"On rings of {rows[0][0]} to {rows[-1][0]} nodes T_L is ⌊N/2⌋ and T_B is (N-1)/N."
    return Result(verdict_of(same=same), summary, table(["N", "T_L here", "⌊N/2⌋", "T_B here", "(N-1)/N"], rows))


def best_networks(settings: Settings) -> Result:
    """Return Figure 15."""
    finders = {"all bases": TopologyFinder(), "the paper's": TopologyFinder(published_only=True)}
    sizes = range(8, settings.largest + 1, max(settings.largest // 256, 1))
    kinds: dict[str, Counter[str]] = {}
    gains = []
    for name, size in (("1 MB", 10**6), ("100 MB", 10**8)):
        workload = Workload(WorkloadTraffic.ALLREDUCE, size, Fraction(10), Fraction(25, 2))
        for nodes in sizes:
            best = [best_for(finder.find(nodes, 4).members, workload) for finder in finders.values()]
            for label, network in zip(finders, best, strict=True):
                kinds.setdefault(figures.kind_of(network), Counter())[f"{name}, {label}"] += 1
            ours, theirs = (allreduce_time_us(network, workload) for network in best)
            gains.append(theirs / ours)
    heads = [f"{name}, {label}" for name in ("1 MB", "100 MB") for label in finders]
    listed = sorted(kinds, key=lambda kind: -kinds[kind][heads[0]])
    most = [max(kinds, key=lambda kind: kinds[kind][head]) for head in heads]
    summary = (
        f"Of {len(sizes)} sizes up to {settings.largest}, a {most[0]} network is best most often for 1 MB, and a "
        f"{most[2]} network for 100 MB; with the bases of the paper, a {most[1]} and a {most[3]} network. With all "
        f"bases, {sum(gain > 1 for gain in gains)} of {len(gains)} allreduces are faster, by up to "
        f"{float(max(gains) - 1):.0%}, and {sum(gain < 1 for gain in gains)} slower."
    )
    figure = drawn(figures.best_networks, settings.largest)
    rows = [(kind, *(kinds[kind][head] for head in heads)) for kind in listed]
    verdict = verdict_of(same=min(gains) >= 1, better=max(gains) > 1)
    return Result(verdict, summary, table(["kind of network", *heads], rows), figure)


def kautz_bandwidth(settings: Settings) -> Result:
    """Return Figure 18: T_B of generalized Kautz graphs, divided by the least T_B."""
    rows = []
    for degree in (2, 4, 8):
        sizes = range(degree + 2, settings.largest + 1)
        found = [graph for nodes in sizes if (graph := kautz(nodes, degree)) is not None]
        worst = max(found, key=lambda each: each.cost.bandwidth_factor / least_factor(each.nodes))
        ratio = float(worst.cost.bandwidth_factor / least_factor(worst.nodes))
        rows.append((degree, len(found), f"{ratio:.4f}", worst.name))
    same = all(float(row[2]) <= 2 for row in rows)
    summary = f"The greatest T_B up to N = {settings.largest} is {max(row[2] for row in rows)} times the least T_B."
    lines = table(["degree", "graphs", "greatest T_B / least T_B", "at"], rows)
    return Result(verdict_of(same=same), summary, lines, drawn(figures.kautz_bandwidth, settings.largest))


def kautz_steps(_settings: Settings) -> Result:
    """Return Theorem 21: the steps of generalized Kautz graphs."""
    found = [graph for d in (2, 3, 4) for nodes in range(d + 2, 201) if (graph := kautz(nodes, d)) is not None]
    above = [graph.cost.steps - moore_steps(graph.nodes, graph.degree) for graph in found]
    summary = (
        f"{len(found)} graphs of degree 2 to 4 and up to 200 nodes: {above.count(0)} reach the Moore bound, and "
        f"{above.count(1)} need one step more."
    )
    return Result(verdict_of(same=max(above) <= 1), summary)


def circulants(_settings: Settings) -> Result:
    """Return Theorem 22: the least diameter of circulants with two offsets, by all pairs of offsets."""
    sizes = range(7, 61)
    right = 0
    for nodes in sizes:
        offset = ceil((sqrt(2 * nodes - 1) - 1) / 2)
        pairs = [pair for pair in combinations(range(1, nodes // 2 + 1), 2) if gcd(nodes, *pair) == 1]
        least = min(_diameter(nodes, pair) for pair in pairs)
        right += _diameter(nodes, (offset, offset + 1)) == offset == least
    summary = (
        f"For {right} of {len(sizes)} sizes from {sizes[0]} to {sizes[-1]}, no pair of offsets has a smaller diameter."
    )
    return Result(verdict_of(same=right == len(sizes)), summary)


def _diameter(nodes: int, offsets: Sequence[int]) -> int:
    reached = front = {0}
    steps = 0
    while len(reached) < nodes:
        front = {(each + sign * offset) % nodes for each in front for offset in offsets for sign in (1, -1)} - reached
        reached |= front
        steps += 1
    return steps


def chunks(_settings: Settings) -> Result:
    """Return Theorem 20: the loss of whole chunks."""
    rows, same = [], True
    for spec, degree in (("circulant:nodes=15,offsets=1+4+5", 6), ("hypercube:dim=3", 3), ("torus:dims=3x5", 4)):
        best = shape_of(generate(spec, method="bfb"))
        for count in (1, 2, 4):
            schedule = generate(spec, method=Bfb(chunks=count))
            shape, nodes = shape_of(schedule), len(schedule.topology.compute)
            loss = Fraction(degree * (degree**shape.steps - 1), (degree - 1) * count * nodes)
            same &= shape.bandwidth_factor <= best.bandwidth_factor + loss
            limit = f"{float(best.bandwidth_factor + loss):.3f}"
            rows.append((spec, count, f"{float(shape.bandwidth_factor):.3f}", limit))
    summary = "The exact optimum for P chunks per shard is within the bound of the theorem."
    return Result(verdict_of(same=same), summary, table(["network", "P", "T_B here", "at most"], rows))


def breadth_first(_settings: Settings) -> Result:
    """Return Theorems 13, 15 and 18: breadth-first schedules on products and distance-regular graphs."""
    specs = (
        "torus:dims=3x4",
        "torus:dims=2x3x4",
        "hypercube:dim=4",
        "distance-regular:nodes=35",
        "distance-regular:nodes=26",
    )
    rows = []
    for spec in specs:
        schedule = generate(spec, method="bfb")
        shape, nodes = shape_of(schedule), len(schedule.topology.compute)
        rows.append((spec, shape.steps, base_network(spec).diameter, shape.bandwidth_factor, least_factor(nodes)))
    same = all(steps == diameter and factor == least for _, steps, diameter, factor, least in rows)
    summary = "On tori, a hypercube and distance-regular graphs T_L is the diameter and T_B the least."
    return Result(verdict_of(same=same), summary, table(["network", "T_L", "diameter", "T_B", "least T_B"], rows))


def reductions(_settings: Settings) -> Result:
    """Return Theorem 6 and Corollary 6.1: the time to add up data is at most T_B, in the same units."""
    rows, same = [], True
    for spec, method in (
        ("torus:dims=3x4", "bfb"),
        ("circulant:nodes=12,offsets=1+3+4+5", "bfb"),
        ("generalized-kautz:degree=4,nodes=30", "bfb"),
        ("hypercube:dim=3", "halving-doubling"),
        ("torus:dims=2x3x5", "torus-rings"),
    ):
        schedule = generate(spec, "reduce-scatter", method)
        shape = shape_of(schedule)
        least = least_factor(len(schedule.topology.compute))
        same &= least <= shape.reduction_factor <= shape.bandwidth_factor
        rows.append((spec, method, shape.reduction_factor, shape.bandwidth_factor, least))
    summary = "T_C is at most T_B on all networks, and equals it where T_B is the least. `design --costs` adds it."
    heads = ["network", "method", "T_C (M times gamma)", "T_B (M/B)", "least of both"]
    return Result(verdict_of(same=same), summary, table(heads, rows, left=2))


def rooted(_settings: Settings) -> Result:
    """Return section C.3: allreduces that reduce to one root and broadcast from it."""
    rows = []
    for degree, sizes in ((2, (12, 33, 100)), (4, (17, 64, 250))):
        for nodes in sizes:
            graph = kautz(nodes, degree)
            if graph is None:
                raise ValueError(nodes)
            steps = path_rates(graph.wiring).rooted_steps
            rows.append((graph.name, 2 * graph.cost.steps, steps, 2 * moore_steps(nodes, degree)))
    same = all(scattered - 2 <= moore <= by_root for _, scattered, by_root, moore in rows)
    summary = (
        "On generalized Kautz graphs a reduce-scatter and an allgather need at most 2 steps more than the bound, so "
        "an allreduce by a root saves at most 2 steps."
    )
    heads = ["network", "steps of reduce-scatter and allgather", "by the best root", "bound"]
    return Result(verdict_of(same=same), summary, table(heads, rows))
