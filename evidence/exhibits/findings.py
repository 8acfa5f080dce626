"""What forestcoll found beyond the papers, each with commands that prove it in seconds."""

import json
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, redirect_stdout
from fractions import Fraction
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest import mock

import paper_tables
from circulant_conjecture import circulants, is_optimal
from exhibits.allreduce_rate import network_of
from exhibits.exhibit import Cost, Exhibit, Paper, Result, Settings, Verdict, table
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.cli import main
from forestcoll.design.constructions import Construction
from forestcoll.design.measure import least_factor
from forestcoll.design.path_rates import path_rates
from forestcoll.design.search.finder import find_topologies
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.bounds.table import bounds
from forestcoll.topology import Topology, read_topology
from forestcoll.topology.files import topology_to_document

NETWORK = "network.json"
"""The file that the commands about a network read."""


def run(words: str, folder: Path) -> str:
    """Return what `forestcoll` prints for these words in a folder, without measured times.

    Raises:
        ValueError: the command fails.
    """
    written = BytesIO()
    out = TextIOWrapper(written, encoding="utf-8", write_through=True)
    status: object = None
    with chdir(folder), redirect_stdout(out), mock.patch.object(sys, "argv", ["forestcoll", *shlex.split(words)]):
        try:
            main()
        except SystemExit as end:
            status = end.code
    printed = written.getvalue().decode()
    if status:
        raise ValueError(f"forestcoll {words}: exit status {status}")
    return "\n".join(line for line in printed.splitlines() if not line.startswith("  time "))


def shown(commands: Sequence[str], network: Topology | None = None) -> list[str]:
    """Return the commands with their output as a block of Markdown, and the file that they read."""
    with tempfile.TemporaryDirectory() as folder:
        if network is not None:
            (Path(folder) / NETWORK).write_text(json.dumps(topology_to_document(network)), encoding="utf-8")
        blocks = [f"$ forestcoll {words}\n{run(words, Path(folder))}" for words in commands]
    lines = ["```text", *blocks, "```"]
    if network is None:
        return lines
    return [f"`{NETWORK}` is:", "", "```json", json.dumps(topology_to_document(network)), "```", "", *lines]


def conjecture(_settings: Settings) -> Result:
    """Return the smallest counterexamples to Conjecture 1 of the direct-connect paper."""
    found = [
        (nodes, offsets)
        for nodes in range(5, 16)
        for count in range(2, 5)
        for offsets in circulants(nodes, count, halves=False)
        if not is_optimal(nodes, offsets)
    ]
    names = [f"C({nodes},{{{','.join(map(str, offsets))}}})" for nodes, offsets in found]
    words = ["generate circulant:nodes=12,offsets=1+3+4+5 --method bfb -o steps.json", "verify steps.json"]
    best = shape_of(generate("circulant:nodes=12,offsets=1+3+4+5", method="bfb")).bandwidth_factor
    offsets = max(len(listed) for _, listed in found)
    few = sum(len(listed) == 2 for _, listed in found)
    summary = (
        f"The conjecture is false: the best breadth-first schedule on {names[0]} has T_B = {best}, and the least T_B "
        f"is {least_factor(12)}. Among the circulants with 2 to {offsets} offsets and at most 15 nodes, {len(names)} "
        f"are counterexamples ({', '.join(names)}), {few} of them with 2 offsets."
    )
    lines = [*shown(words), "", *_COUNTEREXAMPLE]
    return Result(Verdict.DIFFERS, summary, lines)


_COUNTEREXAMPLE = ["[steps](../steps.md#conjecture-1-does-not-hold) has a proof by hand."]


def better_networks(_settings: Settings) -> Result:
    """Return networks that are better than those of Table 7 in one printed column, and worse in none."""
    replaced: dict[tuple[int, Construction], list[str]] = {}
    count = 0
    for nodes, row in paper_tables.rows_of_table_seven():
        count += bool(paper_tables.exceeding(nodes, row))
        for member in paper_tables.exceeding(nodes, row):
            replaced.setdefault((nodes, member), []).append(f"{row[0]} ({row[1]}, {row[2]}, {row[4]})")
    rows = [
        (nodes, member.name, member.cost.steps, _three(member), f"{paper_tables.rate(member):.2e}", ", ".join(listed))
        for (nodes, member), listed in replaced.items()
    ]
    words = [
        "design --nodes 1024 --degree 4",
        "design --nodes 128 --degree 4 -o steps.json",
        "verify steps.json",
    ]
    summary = (
        f"{len(rows)} networks are better than {count} rows of Table 7 in T_L, T_B, diameter or the rate of an "
        "all-to-all, and worse in none of the four."
    )
    heads = ["N", "network", "T_L", "T_B (M/B)", "all-to-all rate", "is better than, as printed"]
    return Result(Verdict.BETTER, summary, [*table(heads, rows, left=6), "", *shown(words)])


def _three(network: Construction) -> str:
    return f"{float(network.cost.bandwidth_factor):.3f}"


FIVE = {(0, 1): 3, (1, 3): 2, (1, 4): 1, (2, 0): 1, (2, 4): 2, (4, 2): 2, (3, 0): 2, (3, 2): 1, (4, 3): 1}
"""Bandwidths of the five nodes, each with bandwidth 3 in and 3 out, on which different roots are better."""


def hypothesis(_settings: Settings) -> Result:
    """Return a network on which a reduce-scatter and an allgather are not the best allreduce."""
    network = network_of("five nodes", 5, FIVE)
    equal = {*network.egress, *network.ingress}
    one = optimum(network).bound.algbw
    other = optimum(network.transposed()).bound.algbw
    rates = (
        one * other / (one + other),
        allreduce_optimum(network, equal_roots=True).upper,
        allreduce_optimum(network).upper,
    )
    summary = (
        f"On five nodes, each with bandwidth {', '.join(map(str, sorted(equal)))} in and out, a reduce-scatter and "
        f"then an allgather reach {rates[0]}, both at once with equal roots {rates[1]}, and with different roots "
        f"{rates[2]}."
    )
    words = [
        f"optimum {NETWORK} --all",
        f"generate {NETWORK} --collective allreduce -o schedule.json",
        "verify schedule.json",
    ]
    verdict = Verdict.DIFFERS if rates[0] < rates[1] < rates[2] and len(equal) == 1 else Verdict.SAME
    return Result(verdict, summary, shown(words, network))


def low_trees(_settings: Settings) -> Result:
    """Return the heights of trees by the method of the paper and by that of forestcoll, at the same algbw."""
    rows = []
    for spec in ("dgx-a100:boxes=2", "mi250:boxes=2", "torus:dims=4x4x4", "mesh:dims=4x4"):
        proven, own = (shape_of(schedule) for schedule in _both(spec))
        rows.append(
            (spec, own.greatest_height, proven.greatest_height, f"{own.mean_height:.2f}", f"{proven.mean_height:.2f}")
        )
    heads = ["network", "greatest height here", "by the paper's method", "mean height here", "by the paper's method"]
    lower = sum(row[1] < row[2] for row in rows)
    summary = (
        f"At the same algbw, the highest tree is lower on {lower} of {len(rows)} networks. The height of a tree is "
        "its number of sends in sequence, which determines the time of small data."
    )
    words = [
        "generate mi250:boxes=2",
        "generate mi250:boxes=2 --method proven",
    ]
    verdict = Verdict.BETTER if lower == len(rows) else Verdict.DIFFERS
    return Result(verdict, summary, [*table(heads, rows), "", *shown(words)])


def _both(spec: str) -> Iterator[TreeSchedule]:
    """Yield the schedule of the paper's method, and that of forestcoll."""
    proven, own = generate(spec, method="trees:search=proven"), generate(spec)
    if proven.algbw != own.algbw:
        raise ValueError(spec)
    yield proven
    yield own


def impossible_rate(_settings: Settings) -> Result:
    """Return the rate of Table 7 that is above a bound."""
    printed = Fraction("8.12e-4")
    (network,) = [
        each for each in find_topologies(1024, 4, published_only=True).members if each.name == "L³(C(16,{3,4}))"
    ]
    bound = path_rates(network.wiring).bound
    summary = (
        f"The printed rate of an all-to-all on {network.name} is {float(printed):.3g}. The sum of all distances "
        f"allows at most {float(bound):.4g} = {bound}, in any schedule."
    )
    return Result(Verdict.DIFFERS if printed > bound else Verdict.SAME, summary)


def misprints(_settings: Settings) -> Result:
    """Return the remark after Theorem 6 of the paper on the rate of all-reduce."""
    quotient = max(
        Fraction(4 * min(a, b, c), a + b + c) for a in range(1, 13) for b in range(1, 13) for c in range(1, 13)
    )
    summary = (
        f"The greatest quotient of min(a, b, c) and (a + b + c)/4 is {quotient}, at a = b = c. So the printed remark "
        "min(a, b, c) <= 3/4 (a + b + c)/4 is a misprint."
    )
    return Result(Verdict.DIFFERS, summary)


EXAMPLES = Path(__file__).parents[2] / "examples" / "allreduce-rate"


def cut_edges(_settings: Settings) -> Result:
    """Return a sum of two networks with the same cut-edge, whose rate is not the sum of their rates."""
    network = read_topology(EXAMPLES / "two-cut-edges.json")
    rate = bounds(network).allreduce_rate.tree_lower
    summary = (
        f"The rate is {rate}: the link is the only one into its target in one network, and the only one out of its "
        "source in the other, so the sum has other links at both ends."
    )
    verdict = Verdict.DIFFERS if rate != 2 else Verdict.SAME
    return Result(verdict, summary, shown([f"optimum {NETWORK} --all"], network))


def codes(_settings: Settings) -> Result:
    """Return the networks on which a code is faster than trees."""
    rows = []
    for name, code in (("butterfly", 2), ("fano", 4)):
        network = read_topology(EXAMPLES / f"{name}.json")
        best = optimum(network, "allreduce")
        rows.append((name, best.algbw, code, bounds(network).allreduce_rate.cut_set_upper.algbw))
    summary = (
        "With relays, a code can be faster than trees, also on full-duplex links and if relays only copy and add up. "
        "Without relays, no linear code is faster on full-duplex networks "
        "([proofs](allreduce-proofs.md#where-codes-are-faster))."
    )
    better = all(trees < code <= cut for _, trees, code, cut in rows)
    heads = ["network", "rate along trees", "rate of the code", "cut-set bound"]
    return Result(Verdict.BETTER if better else Verdict.DIFFERS, summary, [*table(heads, rows), "", *_CODES])


_CODES = ["`python examples/coding.py` runs both codes and checks the sums that each rank decodes."]


PAPER = Paper(
    "findings",
    "Findings beyond the papers",
    "Each section has commands that prove it in seconds. Schedules are verified before they are written, and "
    "`forestcoll verify` checks the files again.",
    "The lines with measured times are left out of the output.",
    (
        Exhibit(
            "Conjecture 1",
            "(direct-connect paper, F.4) every circulant has a bandwidth-optimal breadth-first schedule.",
            conjecture,
        ),
        Exhibit(
            "Better networks",
            "(direct-connect paper, Table 7) the best networks of 32 to 1,024 nodes and degree 4.",
            better_networks,
            cost=Cost.SLOW,
        ),
        Exhibit(
            "Allreduce hypothesis",
            "(ForestColl, 5.7) a reduce-scatter and an allgather are the best allreduce if all nodes have the same "
            "bandwidth.",
            hypothesis,
        ),
        Exhibit(
            "Low trees",
            "(ForestColl, E.3) trees in the order of tree packing; their heights are not mentioned.",
            low_trees,
        ),
        Exhibit(
            "All-to-all rate", "(direct-connect paper, Table 7) the rate 8.12e-4 of L³(C(16,{3,4})).", impossible_rate
        ),
        Exhibit(
            "Condition of Theorem 3",
            "(computation rate of all-reduce) the sum of two networks of rate 1 with the same cut-edge has rate 2.",
            cut_edges,
        ),
        Exhibit(
            "Codes",
            "(computation rate of all-reduce, section 4) it is open whether trees are the best codes.",
            codes,
        ),
        Exhibit(
            "Misprint in Theorem 6", "(computation rate of all-reduce) min(a, b, c) <= 3/4 (a + b + c)/4.", misprints
        ),
    ),
)
