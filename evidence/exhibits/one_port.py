"""The exhibits of *Optimizing the steady-state throughput of Broadcasts on heterogeneous platforms* (RR-4871)."""

from fractions import Fraction

from exhibits.exhibit import Cost, Exhibit, Paper, Result, Settings, table, verdict_of
from exhibits.platforms import experiment
from forestcoll.oneport import compare_series
from forestcoll.oneport.message.pipelined import Pipeline
from forestcoll.simulation.series.play import play_series
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from oneport_platforms import one_port_platform


def example(latency_us: int = 0) -> Topology:
    """Return the platform of Figure 1; the bandwidth of a link is 1 divided by its cost."""
    network = TopologyBuilder("figure 1", port_model="one-port")
    for node in "s1234":
        network.add_compute(node)
    for source, target, bandwidth in ("s11", "s21", "121", "211", "132", "242"):
        network.add_link(source, target, int(bandwidth), latency_us=latency_us)
    return network.build()


def figure_one(_settings: Settings) -> Result:
    """Return Figures 1 and 2: the optimum of the example and its schedule."""
    compared = compare_series(example(), "s")
    schedule = compared.schedule()
    optimal = verify(schedule).optimal
    rows = [
        ("throughput", compared.best.throughput, 1),
        ("period", schedule.period, 2),
        ("messages per period", schedule.messages, 2),
    ]
    summary = (
        f"The throughput is {rows[0][1]} with a period of {rows[1][1]}; the verified schedule has a proof by prices."
    )
    same = optimal and all(here == printed for _, here, printed in rows)
    return Result(verdict_of(same=same), summary, table(["", "here", "printed"], rows))


def trees(_settings: Settings) -> Result:
    """Return Figures 3 and 4: the throughput of the two kinds of trees."""
    found: set[Fraction] = set()
    for parents in (("s", "s"), ("s", "1"), ("2", "s")):
        network = TopologyBuilder("a tree of figure 1", port_model="one-port")
        for node in "s1234":
            network.add_compute(node)
        for parent, child in zip(parents, "12", strict=True):
            network.add_link(parent, child, 1)
        network.add_link("1", "3", 2)
        network.add_link("2", "4", 2)
        found.add(compare_series(network.build(), "s").best.throughput)
    best = compare_series(example(), "s").tree.throughput
    listed = " and ".join(map(str, sorted(found)))
    summary = f"The throughputs of the trees are {listed}, and the best tree is found with {best}."
    return Result(verdict_of(same=found == {Fraction(1, 2), Fraction(2, 3)} and best == Fraction(2, 3)), summary)


def dag(_settings: Settings) -> Result:
    """Return Figure 5: the throughput of the best DAG."""
    compared = compare_series(example(), "s", order=["s", "1", "2", "3", "4"])
    summary = f"The throughput is {compared.dag.throughput}, which is 4 broadcasts in 5 steps."
    return Result(verdict_of(same=compared.dag.throughput == Fraction(4, 5)), summary)


def coloured(_settings: Settings) -> Result:
    """Return Lemma 1 and Theorem 6: the numbers of matchings and trees on random platforms."""
    rows, same = [], True
    for seed in range(1, 6):
        topology = one_port_platform(12, 36, 1, 10, seed)
        schedule = compare_series(topology, 0).schedule()
        links, nodes = len(topology.links), len(topology.nodes)
        busy = sum((each.duration for each in schedule.rounds), Fraction(0))
        same &= verify(schedule).ok and len(schedule.trees) <= nodes**3 + links and busy <= schedule.period
        rows.append((seed, links, len(schedule.trees), nodes**3 + links, len(schedule.rounds)))
    summary = f"On {len(rows)} random platforms the verified rounds fit into the period, and there are far fewer trees."
    heads = ["seed", "links", "trees here", "trees at most (Theorem 5)", "rounds"]
    return Result(verdict_of(same=same), summary, table(heads, rows))


def many_messages(_settings: Settings) -> Result:
    """Return Theorem 7: the part of the optimum that K messages reach."""
    rows = []
    for name, topology, source in (("figure 1", example(), "s"), ("tiers", build_topology("tiers:areas=2,seed=7"), 0)):
        compared = compare_series(topology, source)
        schedule = compared.schedule()
        parts = [
            float(count / play_series(schedule, count).makespan / compared.best.throughput) for count in (10, 100, 1000)
        ]
        rows.append((name, *(f"{part:.4f}" for part in parts)))
    same = all(float(row[1]) < float(row[2]) < float(row[3]) and float(row[3]) > 0.9 for row in rows)
    summary = (
        f"With 1,000 messages the schedules reach {rows[0][3]} and {rows[1][3]} of the optimum, start and end included."
    )
    return Result(verdict_of(same=same), summary, table(["platform", "K = 10", "K = 100", "K = 1,000"], rows))


def large_messages(_settings: Settings) -> Result:
    """Return Theorem 8: the time of one large message divided by its bound."""
    pipeline = Pipeline(example(latency_us=5), "s")
    sizes = [10**power for power in (6, 8, 10, 12)]
    parts = [float(plan.bound / plan.makespan) for plan in map(pipeline.plan, sizes)]
    rows = [(f"{size:.0e} bytes", f"{part:.4f}") for size, part in zip(sizes, parts, strict=True)]
    same = sorted(parts) == parts and parts[-1] > 0.999
    summary = f"The bound by the optimum is {rows[0][1]} of the time of the plan for 1 MB, and {rows[-1][1]} for 1 TB."
    return Result(verdict_of(same=same), summary, table(["size", "bound / time"], rows))


_DRAWN = "The links and the costs of the platform are only drawn, so it cannot be built."

PAPER = Paper(
    "one-port",
    "Broadcasts with one port",
    "A. Legrand, O. Beaumont, L. Marchal, Y. Robert, *Optimizing the steady-state throughput of Broadcasts on "
    "heterogeneous platforms* (INRIA RR-4871, 2003).",
    "The commands are described in [one-port](../one-port.md).",
    (
        Exhibit(
            "Figures 1 and 2",
            "a platform of five nodes, and an optimal schedule with a period of 2 and one message per unit of time.",
            figure_one,
        ),
        Exhibit("Figures 3 and 4", "trees with the throughputs 1/2 and 2/3; 2/3 is that of the best tree.", trees),
        Exhibit("Figure 5", "a DAG with 4 broadcasts every 5 steps.", dag),
        Exhibit(
            "Figure 6", "a platform on which the linear program uses more messages than the trees.", why_not=_DRAWN
        ),
        Exhibit(
            "Figure 7",
            "a platform made by Tiers, whose optimal schedule has 2 messages in a period of 152.",
            experiment,
            cost=Cost.SLOW,
        ),
        Exhibit("Figure 8", "two trees of the platform of Figure 7.", why_not=_DRAWN),
        Exhibit(
            "Theorem 1",
            "finding the best tree is NP-complete.",
            why_not="It has no values. `one-port` says whether its best tree is proven to be the best.",
        ),
        Exhibit("Theorem 2", "a linear program gives the best schedule of a DAG.", dag),
        Exhibit(
            "Theorems 3 to 6", "as many trees as messages in a period, and matchings that fill the period.", coloured
        ),
        Exhibit("Theorem 7", "the steady state is asymptotically optimal for many messages.", many_messages),
        Exhibit("Theorem 8", "packets of a large message are asymptotically optimal.", large_messages),
    ),
)
