"""The exhibits of *Efficient Direct-Connect Topologies for Collective Communications* (NSDI 2025)."""

from exhibits import experiments, networks
from exhibits.exhibit import Cost, Exhibit, Paper, drawing

_RING = ("unidirectional ring of 4", "ring:nodes=4,one_way=true")

PAPER = Paper(
    "direct-connect",
    "Efficient direct-connect topologies",
    "L. Zhao et al., *Efficient Direct-Connect Topologies for Collective Communications* (NSDI 2025).",
    "T_L is the number of steps, and T_B the bandwidth time in units of M/B ([finder](../finder.md)). Times use "
    "alpha = 10 us, M = 2^20 bytes and B = 100 Gb/s if nothing else is said.",
    (
        drawing("Table 1", "the notation"),
        drawing("Table 2", "which networks suit which collectives"),
        Exhibit(
            "Table 3",
            "the size, the degree and the cost of expanded networks, by Theorems 7.1 to 13.",
            networks.expansions,
        ),
        Exhibit(
            "Table 4",
            "the five best networks of 1,024 nodes and degree 4, with times of an allreduce and an all-to-all.",
            networks.large_frontier,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Table 5",
            "the best bidirectional network of 5 to 12 nodes; T_L of an allreduce is 2 or 4.",
            networks.small_networks,
        ),
        Exhibit(
            "Table 6",
            "the seconds that SCCL, TACCL and BFB take to generate an allgather.",
            experiments.generation_times,
            cost=Cost.TIMED,
        ),
        Exhibit("Table 7", "the best networks of 32 to 1,024 nodes and degree 4.", networks.frontiers, cost=Cost.SLOW),
        Exhibit("Table 8", "the steps of 15 distance-regular graphs of degree 4.", networks.distance_regular),
        Exhibit(
            "Table 9", "the base networks: their sizes, their T_L and in what they are optimal.", networks.base_networks
        ),
        Exhibit(
            "Figure 1",
            "an allgather on K(2,2) with T_L = 2 and T_B = 3/4.",
            networks.small_allgathers(("K(2,2)", "complete-bipartite:left=2,right=2", (), 2, "3/4")),
        ),
        Exhibit(
            "Figure 2",
            "the line graph of K(2,2), with 8 nodes and 3 steps.",
            networks.small_allgathers(("L(K(2,2))", "complete-bipartite:left=2,right=2", ("line-graph",), 3, "1")),
        ),
        Exhibit(
            "Figure 3",
            "line graphs of four bases, which stay Moore-optimal and near the least T_B.",
            networks.line_graphs,
        ),
        Exhibit(
            "Figure 4",
            "the degree expansion of a one-way ring of 4 nodes to degree 2, with one step more.",
            networks.small_allgathers(("UniRing(1,4)*2", _RING[1], ("degree=2",), 4, "7/8")),
        ),
        drawing("Figure 5", "a step of a breadth-first broadcast"),
        Exhibit(
            "Figure 6",
            "times of allreduces on 5 to 12 nodes of a testbed, for 1 KB, 1 MB and 1 GB.",
            experiments.testbed,
        ),
        Exhibit(
            "Figure 7",
            "computed times of allreduces and all-to-alls on up to 1,024 nodes. The best networks are 56, 10 and 4 "
            "times faster than shifted rings, double binary trees and tori near N = 1,000.",
            experiments.large_networks,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figure 8",
            "measured training with data parallelism on the testbed: small models on 8 nodes, GPT-2 on 12.",
            experiments.data_parallel,
        ),
        Exhibit(
            "Figure 9",
            "simulated training of Switch Transformers with experts on 256 and 1,024 nodes.",
            experiments.experts,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figure 10",
            "T_L and T_B of the schedules of Table 6; those of BFB are optimal.",
            experiments.generated_costs,
        ),
        Exhibit(
            "Figure 11",
            "measured allreduces on tori of a supercomputer; BFB is 29 % and 42 % faster than the traditional "
            "schedule on unequal tori.",
            experiments.torus_schedules,
        ),
        Exhibit(
            "Figure 12",
            "the two halves of the allreduces of Figure 6.",
            why_not="It needs the authors' testbed, and prints no values beyond those of Figure 6.",
        ),
        Exhibit(
            "Figure 13",
            "allreduces on 8 nodes of the testbed: BFB takes about 20 % less time than halving and doubling for "
            "small data, and 60 % less for large data.",
            experiments.hypercubes,
        ),
        Exhibit(
            "Figure 14",
            "the fit of alpha = 13.33 us, 21.60 us and B = 79 Gb/s to the times of Figure 6.",
            why_not="The times are only drawn. `forestcoll fit --model alpha-beta` fits the model to a table.",
        ),
        Exhibit(
            "Figure 15", "the best network of each size for 1 MB and 100 MB.", networks.best_networks, cost=Cost.SLOW
        ),
        Exhibit(
            "Figure 16",
            "a timeline of training as an example.",
            why_not="It has no values to compare. `forestcoll train-time -o` draws such a timeline.",
        ),
        Exhibit("Figure 17", "breadth-first broadcast on bidirectional rings, with T_L = ⌊N/2⌋.", networks.rings),
        Exhibit(
            "Figure 18",
            "T_B of generalized Kautz graphs, which is at most twice the least T_B.",
            networks.kautz_bandwidth,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Figures 19 and 20", "the diamond and a modified de Bruijn graph: 8 nodes, degree 2.", networks.rewired
        ),
        Exhibit(
            "Theorems 1 to 5",
            "reversed schedules, isomorphisms, and the lower bounds on T_L and T_B.",
            why_not="They have no values. The verifier checks every reversed schedule, and the pages use the bounds.",
        ),
        Exhibit(
            "Theorem 6",
            "the time to add up data is at most T_B in the same units, and equal where T_B is the least (Corollary "
            "6.1).",
            networks.reductions,
        ),
        Exhibit(
            "Section C.3",
            "an allreduce by a reduce and a broadcast takes twice the radius, at most 2 steps less than the best "
            "graphs.",
            networks.rooted,
        ),
        Exhibit("Theorems 7 to 12", "the costs of expanded networks.", networks.expansions),
        Exhibit(
            "Theorem 13",
            "a product of networks with bandwidth-optimal breadth-first schedules has one, too.",
            networks.breadth_first,
        ),
        Exhibit(
            "Theorems 14 to 19",
            "when breadth-first schedules are optimal: T_L is the diameter, and distance-regular graphs have the "
            "least T_B.",
            networks.breadth_first,
        ),
        Exhibit("Theorem 20", "a bound on the loss of whole chunks.", networks.chunks),
        Exhibit(
            "Theorem 21",
            "generalized Kautz graphs need at most one step more than the Moore bound.",
            networks.kautz_steps,
        ),
        Exhibit(
            "Theorem 22",
            "C(N, {m, m + 1}) with m = ⌈(-1 + √(2N - 1)) / 2⌉ has the least diameter, m.",
            networks.circulants,
        ),
    ),
)
