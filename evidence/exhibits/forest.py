"""The exhibits of *ForestColl* (NSDI 2026)."""

import time
from fractions import Fraction
from itertools import combinations

import forest_averages
import forest_curves
import forest_generation
import forest_h100
import forest_paths
import forest_training
import forest_trees_table
from exhibits.exhibit import Cost, Exhibit, Paper, Result, Settings, drawing, table, verdict_of
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.base.progress import Progress
from forestcoll.kernels import cores
from forestcoll.schedule.shape_of import shape_of
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology


def example(*, multicast: bool = False) -> Topology:
    """Return the example of Figures 5, 7 and 15: two boxes of four nodes, with links of 10 b inside and b outside."""
    network = TopologyBuilder("the example of Figure 5, b = 1")
    for box in range(2):
        network.add_switch(f"w{box + 1}", multicast=multicast)
    network.add_switch("w0", multicast=multicast)
    for box in range(2):
        for place in range(4):
            node = network.add_compute(f"c{box + 1},{place + 1}", box=box)
            network.add_duplex(node, f"w{box + 1}", 10)
            network.add_duplex(node, "w0", 1)
    return network.build()


def rings_instead_of_switches() -> Topology:
    """Return Figure 15 (d): each switch of the example is replaced by a ring of its nodes."""
    network = TopologyBuilder("rings instead of switches")
    nodes = [network.add_compute(f"c{box + 1},{place + 1}") for box in range(2) for place in range(4)]
    for place, node in enumerate(nodes):
        network.add_link(node, nodes[(place + 1) % 8], 1)
        network.add_link(node, nodes[place + 1 if place % 4 < 3 else place - 3], 10)
    return network.build()


def machines(_settings: Settings) -> Result:
    """Return Figure 1: the links of a DGX A100 and of an MI250 box."""
    printed = {"dgx-a100:boxes=2": (8, {300, 25}), "mi250:boxes=2": (16, {50, 16})}
    rows, same = [], True
    for spec, (gpus, speeds) in printed.items():
        topology = build_topology(spec)
        widths = sorted({link.bandwidth for link in topology.links}, reverse=True)
        same &= len(topology.compute) == 2 * gpus and speeds <= set(widths)
        listed = " and ".join(map(str, sorted(speeds, reverse=True)))
        rows.append((spec, len(topology.compute) // 2, gpus, ", ".join(map(str, widths)), listed))
    heads = ["network", "GPUs per box here", "printed", "bandwidths of links here (GB/s)", "printed"]
    summary = (
        "Both networks have the printed numbers of GPUs and bandwidths. Here parallel links of an MI250 are one link."
    )
    return Result(verdict_of(same=same), summary, table(heads, rows))


def bottleneck(_settings: Settings) -> Result:
    """Return Figure 5: the bottleneck cut of the example."""
    best = optimum(example())
    box = [f"{kind}" for kind in ("w1", "c1,1", "c1,2", "c1,3", "c1,4")]
    time_of_cut, time_of_node = Fraction(4, 4), Fraction(1, 11)
    here = Fraction(len(best.topology.compute)) / best.algbw
    shape = shape_of(generate(example()))
    summary = (
        f"The optimum is {here} M/(N b), which is 4/(4 b) of the box {{{', '.join(box)}}}. A cut around one node "
        f"would allow {time_of_node} M/(N b). A forest of {best.trees_per_root} tree per root reaches the optimum; "
        f"its trees are at most {shape.greatest_height} sends high."
    )
    return Result(verdict_of(same=here == time_of_cut), summary)


def unwound(_settings: Settings) -> Result:
    """Return Figure 15: the bottleneck cut, and what rings instead of switches cost."""
    best, rings = optimum(example()), optimum(rings_instead_of_switches())
    factor = best.algbw / rings.algbw
    summary = f"The algbw is {best.algbw} b with switches and {rings.algbw} b with rings: {factor} times worse."
    return Result(verdict_of(same=factor == 4), summary)


def without_switches(_settings: Settings) -> Result:
    """Return Figures 7 and 16: the example after switch removal has the same optimum."""
    scaled = ScaledTopology.of(example())
    core = cores()["reference"]
    topology = scaled.topology
    tails, heads = [link.source for link in topology.links], [link.target for link in topology.links]
    compute = list(topology.compute)
    problem = core.Problem(len(topology.nodes), tails, heads, list(scaled.capacities), compute, [1] * len(compute))
    sources, targets, capacities = core.remove_switches(problem, 1).arcs()
    network = TopologyBuilder("logical network")
    for node in compute:
        network.add_compute(topology.nodes[node].id)
    for source, target, capacity in zip(sources, targets, capacities, strict=True):
        network.add_link(topology.nodes[source].id, topology.nodes[target].id, capacity)
    logical = network.build()
    before, after = optimum(topology).algbw, optimum(logical).algbw
    summary = (
        f"Edge splitting replaces {len(topology.links)} links at {len(topology.switches)} switches by "
        f"{len(logical.links)} links between the {len(compute)} nodes. The optimum stays {after} b."
    )
    return Result(verdict_of(same=before == after), summary)


def copying(_settings: Settings) -> Result:
    """Return Figure 8, and the claim of 5.6 that multicast does not change the optimum of an allgather."""
    plain, copied = optimum(example()).algbw, optimum(example(multicast=True)).algbw
    summary = (
        f"The optimum of the example is {plain} b if switches only forward data, and {copied} b if they copy it, as "
        "§5.6 states for all networks."
    )
    return Result(verdict_of(same=plain == copied), summary)


def mi250_trees(_settings: Settings) -> Result:
    """Return Figure 9: trees on two MI250 boxes with 16 and 8 GPUs."""
    rows, same = [], True
    for name, spec in (("16+16", "mi250:boxes=2"), ("8+8", "mi250:boxes=2,gpus=8")):
        schedule = generate(spec)
        shape, roots = shape_of(schedule), {root for phase in schedule.phases for root in phase.roots}
        same &= roots == set(schedule.topology.compute)
        rows.append((name, len(roots), shape.trees, shape.greatest_height, f"{float(schedule.algbw):.1f}"))
    heads = ["setting", "roots", "trees", "greatest height (sends)", "algbw (GB/s)"]
    summary = "At least one tree has its root at each GPU, as printed. The figure shows one tree of each setting."
    return Result(verdict_of(same=same), summary, table(heads, rows))


class _Stages(Progress):
    """CPU seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._begun = "", 0.0

    def begin(self, stage: str) -> None:
        """As `Progress.begin`."""
        now = time.process_time()
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._begun
        self._stage, self._begun = stage, now


_PRINTED_STAGES = {
    "A100": ("2.2 s", "979 s", "1209 s", "36.5 min"),
    "MI250": ("3.8 s", "550 s", "1708 s", "37.7 min"),
}


def stages(settings: Settings) -> Result:
    """Return Table 3: the time of each stage."""
    gpus = min(1024, settings.largest)
    rows, reached = [], []
    for name, spec in (("A100", f"dgx-a100:boxes={gpus // 8}"), ("MI250", f"mi250:boxes={gpus // 16}")):
        watch = _Stages()
        topology = build_topology(spec)
        generate(topology, progress=watch)
        watch.begin("end")
        search = sum(value for stage, value in watch.seconds.items() if "finding" in stage)
        total = sum(watch.seconds.values())
        printed = _PRINTED_STAGES[name]
        rows.append((f"{name}, {gpus} GPUs", f"{search:.2f} s", printed[0], f"{total:.2f} s", printed[3]))
        reached.append(search <= float(printed[0].removesuffix(" s")) and total <= 60 * float(printed[3].split()[0]))
    heads = ["network", "search here (CPU s)", "printed (128 cores)", "total here", "printed"]
    summary = (
        f"{rows[0][3]} and {rows[1][3]} of CPU time in total, on one core. Trees are grown on the network with its "
        "switches, so there is no stage of switch removal to compare, unless growing fails."
    )
    return Result(verdict_of(same=all(reached), better=True), summary, table(heads, rows))


def all_cuts(_settings: Settings) -> Result:
    """Return Theorem 1: the search and all cuts give the same optimum."""
    specs = ("ring:nodes=6", "hypercube:dim=3", "mesh:dims=2x4", "dgx-1:gpus=8", "de-bruijn:degree=2,length=3")
    networks = [example(), rings_instead_of_switches(), *map(build_topology, specs)]
    rows = [(each.name, optimum(each).algbw, _least_cut(each)) for each in networks]
    same = all(here == cut for _, here, cut in rows)
    summary = f"On {len(rows)} networks the optimum is the least cut among all sets of nodes."
    return Result(verdict_of(same=same), summary, table(["network", "by the search", "by all cuts"], rows))


def _least_cut(topology: Topology) -> Fraction:
    """Return N · B⁺(S) / |S ∩ V_c|, the least of all sets S that do not contain all compute nodes."""
    compute, count = set(topology.compute), len(topology.compute)
    least: Fraction | None = None
    for size in range(1, len(topology.nodes)):
        for chosen in combinations(range(len(topology.nodes)), size):
            inside = set(chosen)
            ranks = len(inside & compute)
            if 0 < ranks < count:
                exits = sum(
                    (link.bandwidth for link in topology.links if link.source in inside and link.target not in inside),
                    Fraction(0),
                )
                value = count * exits / ranks
                least = value if least is None else min(least, value)
    if least is None:
        raise ValueError(topology.name)
    return least


def few_trees(_settings: Settings) -> Result:
    """Return Theorem 13: the bound on the loss of a fixed number of trees, on two MI250 boxes."""
    best = optimum("mi250:boxes=2")
    topology = best.topology
    count, least = len(topology.compute), min(link.bandwidth for link in topology.links)
    rows, same = [], True
    for each in optimum(topology, method="trees:most=8").by_trees:
        trees = each.trees_per_root
        bound = 1 / best.algbw + Fraction(1, count * trees) / least
        same &= 1 / each.algbw <= bound
        rows.append((trees, f"{float(each.algbw):.2f}", f"{float(1 / bound):.2f}"))
    summary = f"For {rows[0][0]} to {rows[-1][0]} trees per root on two MI250 boxes, the algbw is above the bound."
    return Result(verdict_of(same=same), summary, table(["trees per root", "algbw (GB/s)", "at least"], rows))


_NOT_RUN = "It needs the authors' cluster"

PAPER = Paper(
    "forestcoll",
    "ForestColl",
    "L. Zhao et al., *ForestColl: Throughput-Optimal Collective Communications on Heterogeneous Network Fabrics* "
    "(NSDI 2026, arXiv:2402.06787).",
    "The later version of the paper prints no numbers for Figures 10 and 11. Tables 2 and 3 of the first version "
    "have them. The cost model is described in [simulation](../simulation.md).",
    (
        Exhibit(
            "Table 1",
            "the algbw of an allgather on two MI250 boxes for 1 to 5 and 83 trees per root.",
            forest_trees_table.made,
        ),
        Exhibit(
            "Table 2",
            "words about the optimality, generality and scalability of ten methods.",
            why_not="It has no values to compare. docs/compare.md runs the methods that forestcoll contains.",
        ),
        Exhibit(
            "Table 3", "the time of each stage of generation for 1,024 GPUs, on 128 cores.", stages, cost=Cost.TIMED
        ),
        Exhibit(
            "Figure 1",
            "the networks of DGX A100 and MI250: 8 and 16 GPUs per box, 300 and 25 GB/s, 50 and 16 GB/s.",
            machines,
        ),
        Exhibit(
            "Figure 2",
            "a path of the ring crosses InfiniBand twice, one of the forest once; 213.33 and 346.67 GB/s.",
            forest_paths.made,
        ),
        drawing("Figure 3", "a tree over switches and a tree over GPUs only"),
        drawing("Figure 4", "which collectives are made of which others"),
        Exhibit(
            "Figure 5",
            "the bottleneck cut of two boxes, which allows (M/N)(4/4b); one node alone allows (M/N)(1/11b).",
            bottleneck,
        ),
        drawing("Figure 6", "the auxiliary network of the search for the optimum"),
        Exhibit(
            "Figure 7",
            "the removal of switches from the network of Figure 5, which keeps its optimum.",
            without_switches,
        ),
        Exhibit(
            "Figure 8",
            "a tree before and after the use of multicast, which does not change the optimum (§5.6).",
            copying,
        ),
        Exhibit(
            "Figure 9",
            "the MI250 network and trees with 16+16 and 8+8 GPUs; each GPU has at least one tree.",
            mi250_trees,
        ),
        Exhibit(
            "Figure 10",
            "the measured algbw of five schedules on two MI250 boxes by message size.",
            forest_curves.made_mi250,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figure 11",
            "the measured algbw of five schedules on two DGX A100 by message size.",
            forest_curves.made_a100,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Section 6.2",
            "gains of ForestColl on MI250 and DGX A100, at 1 GB and on average from 1 MB to 1 GB.",
            forest_averages.made,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figure 12",
            "the algbw on 1 to 16 DGX H100; the gains over NCCL at 1 GB are 32 %, 14 % and 25 %.",
            forest_h100.made,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figure 13",
            "iteration times of FSDP training of six models on two DGX A100. Computing takes 65 %, 50 % and 43 % of "
            "them for Gemma-2-27b, Llama-2-70b and Llama-3-119b, and ForestColl saves 14 %, 20 % and 20 %; more than "
            "88 % of those of the three small models, where it saves less than 5 %.",
            forest_training.made,
        ),
        Exhibit(
            "Figure 14",
            "the time to generate an allgather for up to 1,024 GPUs, and its algbw. ForestColl takes 4 minutes for "
            "512 GPUs and 37 minutes for 1,024. TACCL reaches its limit of 10,000 s at 32 GPUs on A100 and of 30,000 "
            "s at 64 on MI250; TE-CCL makes no schedule beyond two boxes, and SyCCL beyond 64 GPUs.",
            forest_generation.made,
            cost=Cost.TIMED,
        ),
        Exhibit(
            "Figure 15",
            "the bottleneck cut of two boxes, and rings instead of switches, which are 4 times worse.",
            unwound,
        ),
        Exhibit("Figure 16", "the stages of Figure 7 in more detail.", without_switches),
        drawing("Figure 17", "the auxiliary network of the search for a fixed number of trees"),
        Exhibit("Theorem 1", "the max-flow condition of the search holds if and only if no cut is exceeded.", all_cuts),
        Exhibit(
            "Theorems 2 to 12",
            "the existence of trees, the amounts of edge splitting and of tree packing.",
            why_not="They have no values. Every schedule that relies on them is verified, and `tests/kernels` compares "
            "the amounts with a second implementation.",
        ),
        Exhibit("Theorem 13", "k trees per root take at most (M/Nk)(1/min b) longer than the optimum.", few_trees),
    ),
)
