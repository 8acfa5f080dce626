"""An optimum along trees as a page and as JSON: alone, and with the schedule that reaches it."""

from collections.abc import Sequence
from fractions import Fraction

from forestcoll.base.units import bytes_per_microsecond, has_known_size
from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted, link_lines
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.results.schedules.trees import shape_document, shape_rows, traffic_document, traffic_rows
from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.presentation.text import (
    bandwidth,
    percent,
)
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import RelayGain, TreeOptimum
from forestcoll.topology import Link, Topology


def optimum_document(best: TreeOptimum) -> dict[str, object]:
    """Return the JSON object of an optimum along trees."""
    return _document(best) | _participation_document(best) | _by_trees_document(best.by_trees)


def optimum_page(best: TreeOptimum) -> Page:
    """Return the page of an optimum along trees."""
    return _page_with(best, ())


def _page_with(best: TreeOptimum, rows: Sequence[tuple[str, str]]) -> Page:
    """Return the page of an optimum along trees, with more rows."""
    return Page(_title(best), (labelled([*_rows(best), *_relay_rows(best), *rows]), *_reasons(best)))


def generated_document(best: TreeOptimum, schedule: TreeSchedule) -> dict[str, object]:
    """Return the JSON object of an optimum and a schedule that reaches it."""
    made = {"optimal": schedule.algbw == best.bound.algbw, "verified": True, **shape_document(schedule)}
    return optimum_document(best) | made | traffic_document(schedule)


def generated_page(best: TreeOptimum, schedule: TreeSchedule, run: Sequence[tuple[str, str]]) -> Page:
    """Return the page of an optimum and a schedule that reaches it, with the rows about the run."""
    return _page_with(best, [*shape_rows(schedule), *traffic_rows(schedule), *run])


def _document(best: TreeOptimum) -> dict[str, object]:
    found: dict[str, object] = {
        "topology": best.topology.name,
        "collective": best.collective.value,
        "compute_nodes": len(best.members),
        "algbw": str(best.algbw),
        "algbw_float": float(best.algbw),
        "optimal_algbw": str(best.bound.algbw),
        "unit": best.topology.bandwidth_unit,
        "trees_per_root": best.trees_per_root,
        "trees_per_root_at_least": best.least_trees_per_root,
        "tree_bandwidth": str(best.tree_bandwidth),
        "bottleneck": {
            "cut": best.topology.ids(best.cut),
            "compute_inside": best.compute_inside,
            "exit_bandwidth": str(best.exit_bandwidth),
        },
        "proof": explanations.document(best.bound, best.topology),
    }
    ids = best.topology.ids(best.members)
    if best.root is not None:
        found["root"] = best.topology.nodes[best.root].id
    if best.shards is not None:
        found["shards"] = {str(id_): str(shard) for id_, shard in zip(ids, best.shards, strict=True)}
    if best.collective is Collective.ALLREDUCE:
        found["phases"] = _phases(best)
    return found


def _phases(best: TreeOptimum) -> list[dict[str, object]]:
    """Return an object for each phase of an allreduce."""
    if best.packing is None:
        return [_phase(plan) for plan in best.forests]
    names = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    phases = (best.packing.reduce, best.packing.broadcast)
    return [{"collective": name.value, "trees": len(trees)} for name, trees in zip(names, phases, strict=True)]


def _phase(plan: ForestPlan) -> dict[str, object]:
    return {
        "collective": plan.demand.collective.value,
        "algbw": str(plan.algbw),
        "trees_per_root": plan.trees_per_root,
    }


def _by_trees_document(by_trees: Sequence[TreeOptimum]) -> dict[str, object]:
    """Return the JSON key with the optimum for each number of trees, if it was requested."""
    rows = [
        {"trees_per_root": each.trees_per_root, "algbw": str(each.algbw), "optimal": each.is_optimal}
        for each in by_trees
    ]
    return {"by_trees": rows} if rows else {}


def _reasons(best: TreeOptimum) -> tuple[Table | str, ...]:
    """Return the text below the rows: the optimum for each number of trees, the bottleneck, and unused capacity."""
    return (*_by_trees_blocks(best.by_trees), *_bottleneck_lines(best), *_unused_lines(best))


def _by_trees_blocks(by_trees: Sequence[TreeOptimum]) -> tuple[Table | str, ...]:
    if not by_trees:
        return ()
    unit, last = by_trees[0].topology.bandwidth_unit, by_trees[-1]
    rows = [
        (
            str(each.trees_per_root),
            f"{bandwidth(each.algbw, unit)}, {percent(each.algbw / each.bound.algbw)} of the {_goal(each)}",
        )
        for each in by_trees
    ]
    return (
        "Trees per root:",
        labelled(rows),
        *(["  More trees do not increase the bandwidth."] if last.is_optimal else []),
    )


def _title(best: TreeOptimum) -> str:
    root = ""
    if best.root is not None:
        preposition = "to" if best.collective.only_reduces else "from"
        root = f" {preposition} {best.topology.nodes[best.root].id}"
    what = f"{best.collective.value}{root} over {counted(best.topology, best.ranks)}"
    return f"{best.topology.name}: {what}"


def _is_reachable(best: TreeOptimum) -> bool:
    """Return whether some number of trees is known to reach the bound."""
    if best.is_optimal:
        return True
    one = len(best.forests) == 1
    return one and (best.network.has_balanced_switches or not best.network.able_switches)


def _goal(best: TreeOptimum) -> str:
    """Return the name of the bound: `optimum` if it can be reached, else `bound`."""
    return "optimum" if len(best.forests) == 1 and _is_reachable(best) else "bound"


def _rows(best: TreeOptimum) -> list[tuple[str, str]]:
    """Return the rows that state an optimum."""
    unit, upper = best.topology.bandwidth_unit, best.bound
    found = [("algbw", bandwidth(best.algbw, unit))]
    if not best.is_optimal:
        along = "at most along trees" if upper.proof.trees_only else "at most"
        how = "with more trees" if _is_reachable(best) else along
        share = percent(best.algbw / upper.algbw)
        found.append((_goal(best), f"{bandwidth(upper.algbw, unit)} {how}; this is {share} of it"))
    elif upper.proof.trees_only or best.collective is Collective.ALLREDUCE:
        schedule = "schedule of trees" if upper.proof.trees_only else "schedule"
        found.append((_goal(best), f"reached: no {schedule} is faster"))
    of_cut = CutProof(best.cut).algbw(best.topology, best.demand)
    if upper.algbw < of_cut and best.collective is not Collective.ALLREDUCE:
        share = percent(upper.algbw / of_cut)
        found.append(("cut bound", f"{share} of it is reached, because switches send only what they receive"))
    if has_known_size(unit):
        milliseconds = float(10**6 / (best.algbw * bytes_per_microsecond(unit)))
        found.append(("1 GB takes", f"{milliseconds:.4g} ms at that rate"))
    each = "" if best.packing is not None else f", {bandwidth(best.tree_bandwidth, unit)} each"
    found.append(("trees", f"{_trees(best)}{each}"))
    return found


def _trees(best: TreeOptimum) -> str:
    if best.packing is not None:
        return f"{len(best.packing.reduce)} to reduce and {len(best.packing.broadcast)} to gather, of different shares"
    if best.collective is Collective.ALLREDUCE:
        reduces, gathers = (_trees_of_phase(plan) for plan in best.forests)
        return f"{reduces} to reduce and {gathers} to gather"
    if best.root is not None:
        return f"{best.trees_per_root} {'to' if best.collective.only_reduces else 'from'} the root"
    if best.shards is not None:
        return f"{best.trees_per_root} for each 1/{sum(best.weights)} of the data"
    return f"{best.trees_per_root} per root"


def _trees_of_phase(plan: ForestPlan) -> str:
    if len(set(plan.weights)) == 1:
        return f"{plan.trees_per_root} per root"
    roots = sum(weight > 0 for weight in plan.weights)
    return f"{plan.trees} from {roots} root{'s' * (roots > 1)}"


def _bottleneck_lines(best: TreeOptimum) -> list[str]:
    """Return sentences that explain why no schedule is faster."""
    first, *more = explanations.explain(best.bound, best.topology, best.demand)
    return [f"Bottleneck: {first}", *more]


def _gain_document(gain: RelayGain) -> dict[str, object]:
    """Return the value of the JSON key `relays`."""
    return {
        "algbw": str(gain.algbw),
        "algbw_without": None if gain.without is None else str(gain.without),
        "gain": None if gain.without is None else str(gain.algbw / gain.without),
    }


def _gain_text(gain: RelayGain, unit: str) -> str:
    """Return the gain as text; `unit` is the unit of bandwidths."""
    if gain.without is None:
        return "without idle nodes as relays, there is no solution"
    if gain.without == gain.algbw:
        return "no gain: algbw is the same without idle nodes as relays"
    times = f"{float(gain.algbw / gain.without):.4g} times"
    return f"{times} the {bandwidth(gain.without, unit)} without idle nodes as relays"


def _participation_document(best: TreeOptimum) -> dict[str, object]:
    """Return the JSON keys about ranks, relays and unused capacity, if there are any."""
    document: dict[str, object] = {}
    if best.ranks is not None:
        document["ranks"] = best.topology.ids(best.ranks)
    if best.relays is not None:
        document["relays"] = _gain_document(best.relays)
    if best.spare:
        document["unused"] = [_link(best.topology, link) for link in best.spare]
    return document


def _link(topology: Topology, link: Link) -> dict[str, object]:
    source, target = topology.ids([link.source, link.target])
    return {"source": source, "target": target, "bandwidth": str(link.bandwidth)}


def _relay_rows(best: TreeOptimum) -> list[tuple[str, str]]:
    """Return the row about the gain by relays, if there are idle nodes."""
    unit = best.topology.bandwidth_unit
    return [] if best.relays is None else [("relays", _gain_text(best.relays, unit))]


def _unused_lines(best: TreeOptimum) -> list[str]:
    """Return the lines about unused capacity: links that no phase uses, or that would unbalance a switch."""
    links = best.spare
    if not links:
        return []
    total = sum((link.bandwidth for link in links), Fraction(0))
    amount = bandwidth(total, best.topology.bandwidth_unit)
    balanced = "because switches send exactly what they receive"
    why = "in both phases" if best.collective is Collective.ALLREDUCE else balanced
    return [
        f"Unused, {why}: {amount} in total, on",
        *(f"  {line}" for line in link_lines(best.topology, links)),
    ]
