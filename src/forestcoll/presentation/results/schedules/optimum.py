"""An optimum along trees in rows, and what reaches it."""

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted, link_lines
from forestcoll.presentation.results.networks.networks import assumed_rows
from forestcoll.presentation.results.schedules import claims, explanations, trees
from forestcoll.presentation.tables import Column, Row, Table, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.value import TreeOptimum

made_rows = trees.made_rows


def title(best: TreeOptimum) -> str:
    """Return one line that names the optimum."""
    root = ""
    if best.root is not None:
        preposition = "to" if best.collective.only_reduces else "from"
        root = f" {preposition} {best.topology.nodes[best.root].id}"
    what = f"{best.collective.value}{root} over {counted(best.topology, best.ranks)}"
    return f"{best.topology.name}: {what}"


def rows(best: TreeOptimum) -> list[Row]:
    """Return the rows that state an optimum."""
    unit, cut = best.topology.bandwidth_unit, CutProof(best.cut)
    each = "" if best.packing is not None else f", {bandwidth(best.tree_bandwidth, unit)} each"
    counts = {"trees_per_root": best.trees_per_root, "trees_per_root_at_least": best.least_trees_per_root}
    found = [
        claims.optimum_row(best, best.collective, best.members),
        row("algbw", bandwidth(best.algbw, unit)),
        *claims.busbw_rows(best.algbw, best.demand.busbw_factor(best.topology), unit),
        *assumed_rows(best.topology),
        *_bound_rows(best, cut.algbw(best.topology, best.demand)),
        *claims.time_rows(best),
        row("trees", f"{_trees(best)}{each}", **counts, tree_bandwidth=best.tree_bandwidth),
        row(bottleneck=explanations.cut_document(cut, best.topology, best.members)),
        *_demand_rows(best),
    ]
    if best.collective is Collective.ALLREDUCE:
        found.append(row(phases=_phases(best)))
    return found


def _bound_rows(best: TreeOptimum, of_cut: Fraction) -> Iterator[Row]:
    """Yield the rows about the bound, and about the bound of the cut if it is greater."""
    unit, upper = best.topology.bandwidth_unit, best.bound
    if not best.is_optimal:
        along = "at most along trees" if upper.proof.trees_only else "at most"
        how = "with more trees" if _is_reachable(best) else along
        share = percent(best.algbw / upper.algbw)
        yield row(_goal(best), f"{bandwidth(upper.algbw, unit)} {how}; this is {share} of it")
    elif upper.proof.trees_only or best.collective is Collective.ALLREDUCE:
        schedule = "schedule of trees" if upper.proof.trees_only else "schedule"
        yield row(_goal(best), f"reached: no {schedule} is faster")
    if upper.algbw < of_cut and best.collective is not Collective.ALLREDUCE:
        share = percent(upper.algbw / of_cut)
        yield row("cut bound", f"{share} of it is reached, because switches send only what they receive")


def _demand_rows(best: TreeOptimum) -> Iterator[Row]:
    """Yield what JSON says of the demand, and the gain by relays if there are idle nodes."""
    topology = best.topology
    if best.root is not None:
        yield row(root=topology.nodes[best.root].id)
    if best.shards is not None:
        yield row(shards=dict(zip(topology.ids(best.members), best.shards, strict=True)))
    if best.ranks is not None:
        yield row(ranks=topology.ids(best.ranks))
    if best.relays is not None:
        yield claims.gain_row(best, best.relays.without, "idle nodes as relays")


def _phases(best: TreeOptimum) -> list[dict[str, object]]:
    """Return an object for each phase of an allreduce."""
    if best.packing is None:
        return [_phase(plan) for plan in best.forests]
    names = (Collective.REDUCE_SCATTER, Collective.ALLGATHER)
    phases = (best.packing.reduce, best.packing.broadcast)
    return [{"collective": name, "trees": len(trees)} for name, trees in zip(names, phases, strict=True)]


def _phase(plan: ForestPlan) -> dict[str, object]:
    return {
        "collective": plan.demand.collective,
        "algbw": plan.algbw,
        "trees_per_root": plan.trees_per_root,
    }


def _is_reachable(best: TreeOptimum) -> bool:
    """Return whether some number of trees is known to reach the bound."""
    if best.is_optimal:
        return True
    one = len(best.forests) == 1
    return one and (best.network.has_balanced_switches or not best.network.able_switches)


def _goal(best: TreeOptimum) -> str:
    """Return the name of the bound: `optimum` if it can be reached, else `bound`."""
    return "optimum" if len(best.forests) == 1 and _is_reachable(best) else "bound"


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


def below(best: TreeOptimum) -> list[Row | Table | str]:
    """Return what stands below the rows: the optimum for each number of trees, the bottleneck, and unused capacity."""
    lines = explanations.bottleneck(best.bound, best.topology, best.demand)
    return [*_by_trees(best), *lines, *_unused(best)]


def _by_trees(best: TreeOptimum) -> Iterator[Table | str]:
    if not best.by_trees:
        return
    unit = best.topology.bandwidth_unit
    columns = Column(key="trees_per_root"), Column(), Column(None, key="algbw"), Column(None, key="optimal")
    listed = tuple(
        (
            each.trees_per_root,
            f"{bandwidth(each.algbw, unit)}, {percent(each.algbw / each.bound.algbw)} of the {_goal(each)}",
            each.algbw,
            each.is_optimal,
        )
        for each in best.by_trees
    )
    more = ("More trees do not increase the bandwidth.",) if best.by_trees[-1].is_optimal else ()
    yield Table(columns, listed, title="Trees per root:", notes=more, key="by_trees")


def _unused(best: TreeOptimum) -> Iterator[Row | str]:
    """Yield the lines about unused capacity: links that no phase uses, or that would unbalance a switch."""
    links, topology = best.spare, best.topology
    if not links:
        return
    total = sum((link.bandwidth for link in links), Fraction(0))
    balanced = "because switches send exactly what they receive"
    why = "in both phases" if best.collective is Collective.ALLREDUCE else balanced
    yield f"Unused, {why}: {bandwidth(total, topology.bandwidth_unit)} in total, on"
    yield from (f"  {line}" for line in link_lines(topology, links))
    ends = [(*topology.ids([link.source, link.target]), link.bandwidth) for link in links]
    yield row(unused=[{"source": one, "target": other, "bandwidth": value} for one, other, value in ends])
