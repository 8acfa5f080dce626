"""The bounds of a network as a page."""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.simulation.trees.uses import pipeline_overhead
from forestcoll.solver.allreduce.plan import AllreducePlan
from forestcoll.solver.bounds.cut_edge import CutEdge
from forestcoll.solver.bounds.values import Bounds, CollectiveBound
from forestcoll.topology import Link, Topology

_LONGEST_EXACT = 24
"""The most characters of an exact number in a column. The JSON document has the complete number."""


def bounds_page(found: Bounds) -> Page:
    """Return the page of the bounds of a network.

    Args:
        found: the bounds, as `bounds` returns them.

    Example:
        >>> from forestcoll import bounds
        >>> print(bounds_page(bounds("ring:nodes=3")).title)
        ring:nodes=3: bounds of all collectives, 3 compute nodes, in GB/s
    """
    topology = found.topology
    title = f"{topology.name}: bounds of all collectives, {counted(topology, found.ranks)}"
    limits = [f"  {each.collective}: {limit_text(topology, each, found.ranks)}" for each in found.collectives]
    missing = [f"  {collective}: {_left_out(found, collective)}: {why}" for collective, why in found.too_large.items()]
    blocks: tuple[Row | Table | str, ...] = (
        row(topology=topology.name, compute_nodes=len(found.members), unit=topology.bandwidth_unit),
        _table(found.collectives),
        row(collectives=lambda: {each.collective: _bound(topology, each, found.ranks) for each in found.collectives}),
        "Limits:",
        *limits,
        *missing,
        row(not_computed=found.too_large),
        "Rates and steps:",
        *_root_rows(found),
        *_rate_rows(found),
        row(allreduce_rate=partial(_rate, found)),
        *_latency_rows(found),
        *([] if found.ranks is None else [row(ranks=topology.ids(found.ranks))]),
    )
    return Page(f"{title}, in {topology.bandwidth_unit}", blocks)


def _table(bounds: Sequence[CollectiveBound]) -> Table:
    columns = (
        Column("collective", key="collective"),
        Column("best algbw", lambda each: _number(each.upper_algbw) + ("" if each.tight else " *")),
        Column("best busbw", _number, key="upper_busbw"),
        Column("generate reaches", _reached),
        *(Column(None, key=key) for key in ("upper_algbw", "achieved_algbw", "tight")),
    )
    rows = tuple(
        (each.collective, each, each.upper_busbw, each, each.upper_algbw, each.achieved_algbw, each.tight)
        for each in bounds
    )
    loose = any(not each.tight for each in bounds)
    notes = ("* no schedule that reaches this bound is known",) if loose else ()
    return Table(columns, rows, notes=notes)


def _reached(bound: CollectiveBound) -> str:
    achieved, upper = bound.achieved_algbw, bound.upper_algbw
    if achieved is None:
        return "-"
    return "the bound" if achieved == upper else f"{_number(achieved)}, {percent(achieved / upper)} of the bound"


def _number(value: Fraction) -> str:
    """Return `value` exactly and as a decimal number, or only as a decimal number if the fraction is long."""
    if value.denominator == 1:
        return str(value)
    exact, about = str(value), f"{float(value):.6g}"
    return f"{exact} ({about})" if len(exact) <= _LONGEST_EXACT else f"about {about}"


def _left_out(found: Bounds, collective: Collective) -> str:
    return "not computed" if found.of(collective) is None else "the bound may not be tight"


def limit_text(topology: Topology, bound: CollectiveBound, ranks: tuple[int, ...] | None) -> str:
    """Return one line that explains what limits a collective."""
    first, *more = (line.strip() for line in explanations.explain(bound.bound, topology, bound.demand(ranks)))
    *links, last = more or [""]
    listed = f"{first} {' and '.join(links)}".strip()
    gap = f" (the best known flow is within {bound.residual:.1e} of this bound)" if bound.residual else ""
    return (f"{listed}; {last}" if last else listed) + gap


def _root_rows(found: Bounds) -> list[Row]:
    unit, rows, roots = found.topology.bandwidth_unit, [], {}
    for collective, (worst, best) in found.roots.items():
        word = "from" if collective is Collective.BROADCAST else "to"
        text = f"{bandwidth(best.algbw, unit)} {word} {_id(found.topology, best.root)}"
        if worst.algbw < best.algbw:
            text += f", {bandwidth(worst.algbw, unit)} {word} {_id(found.topology, worst.root)}"
        rows.append(row(f"{collective}, best root" + (" and worst" if worst.algbw < best.algbw else ""), text))
        ends = {"worst": worst, "best": best}
        roots[collective] = {
            name: {"root": found.topology.nodes[each.root].id, "algbw": each.algbw} for name, each in ends.items()
        }
    return [*rows, row(roots=roots)]


def _id(topology: Topology, number: int) -> str:
    return str(topology.nodes[number].id)


def _rate_rows(found: Bounds) -> list[Row]:
    rate, unit = found.allreduce_rate, found.topology.bandwidth_unit
    rows = [row("allreduce, cut-set bound", f"{bandwidth(rate.cut_set_upper.algbw, unit)} for any schedule")]
    if rate.tree_lower is not None:
        what = "the greatest rate along trees" if rate.exact else "reached; a greater rate may be possible"
        if found.has_copies:
            what += ", if switches and idle nodes only forward data"
        rows.append(row("allreduce, along trees", f"{bandwidth(rate.tree_lower, unit)}, {what}"))
    methods = {
        "  reduce-scatter, then allgather": rate.one_after_the_other,
        "  both at the same time": rate.equal_roots,
    }
    for method, reached in methods.items():
        if reached is not None and rate.tree_lower is not None:
            less = f"{bandwidth(reached, unit)}, {percent(reached / rate.tree_lower)} of the rate along trees"
            rows.append(row(method, "the same" if reached == rate.tree_lower else less))
    return [*rows, *_block_rows(found), *_code_rows(found)]


def _code_rows(found: Bounds) -> list[Row]:
    """Return the rows about codes: schedules whose nodes may send any function of what they received."""
    rate, name = found.allreduce_rate, "allreduce, with codes"
    bound = found.of(Collective.ALLREDUCE)
    along_trees = bound.achieved_algbw if found.has_copies and bound is not None else rate.tree_lower
    if along_trees is None or not rate.exact:
        return []
    if along_trees == rate.cut_set_upper.algbw:
        return [row(name, f"not faster than trees: {_reason(found)}")]
    most = f"at most {_number(rate.cut_set_upper.algbw / along_trees)} times the rate along trees"
    if rate.linear_upper == along_trees:
        return [row(name, f"{most}; linear codes are not faster than trees")]
    return [row(name, f"{most}; linear codes at most {bandwidth(rate.linear_upper, found.topology.bandwidth_unit)}")]


def _reason(found: Bounds) -> str:
    edge = found.allreduce_rate.cut_edge
    if edge is None:
        return "trees reach the cut-set bound"
    source, target = _id(found.topology, edge.source), _id(found.topology, edge.target)
    ranks = set(found.members).intersection(edge.inside)
    only = f"out of a set with {len(ranks)} of {len(found.members)} ranks"
    return f"trees fill {source} -> {target}, the only link {only} (Theorem 3)"


def _block_rows(found: Bounds) -> list[Row]:
    if found.topology.switches or found.ranks is not None:
        return []
    more = pipeline_overhead(len(found.members))
    return [row("  n periods of data", f"n / (n + {more}) of the rate along trees, or more")]


def _latency_rows(found: Bounds) -> list[Row]:
    latency, topology = found.latency, found.topology
    source, target = (_id(topology, node) for node in latency.farthest)
    sends = f"at least {latency.steps} send{'s' * (latency.steps > 1)} ({source} -> {target})"
    words = f"{sends}; at most {latency.links} link{'s' * (latency.links > 1)} between two nodes"
    values = {
        "steps": latency.steps,
        "farthest": topology.ids(latency.farthest),
        "links": latency.links,
        "degree": latency.degree,
        "moore_steps": latency.moore_steps,
    }
    rows = [row("steps", words, latency=values)]
    if latency.moore_steps is not None:
        least = f"{latency.moore_steps} for any network of this size with degree {latency.degree}"
        rows.append(row("Moore bound", least))
    return rows


def _rate(found: Bounds) -> dict[str, object]:
    """Return what JSON says of the rate of an allreduce."""
    rate, topology = found.allreduce_rate, found.topology
    proof, edge = rate.cut_set_upper.proof, rate.cut_edge
    return {
        "cut_set_upper": rate.cut_set_upper.algbw,
        "tree_lower": rate.tree_lower,
        "corollary_upper": rate.corollary_upper,
        "one_after_the_other": rate.one_after_the_other,
        "equal_roots": rate.equal_roots,
        "exact": rate.exact,
        "factor": rate.factor,
        "greatest_factor": rate.greatest_factor,
        "linear_upper": rate.linear_upper,
        "cut_edge": None if edge is None else _ends(topology, edge) | {"cut": topology.ids(edge.inside)},
        "pipeline_overhead": pipeline_overhead(len(found.members)),
        "copies_left_out": found.has_copies,
        "cut": topology.ids(proof.inside) if isinstance(proof, CutProof) else [],
        "plan": None if rate.plan is None else _plan(topology, rate.plan),
    }


def _ends(topology: Topology, link: Link | CutEdge) -> dict[str, object]:
    source, target = topology.ids([link.source, link.target])
    return {"source": source, "target": target}


def _bound(topology: Topology, bound: CollectiveBound, ranks: tuple[int, ...] | None) -> dict[str, object]:
    root = {} if bound.root is None else {"root": topology.nodes[bound.root].id}
    return {
        "upper_algbw": bound.upper_algbw,
        "upper_busbw": bound.upper_busbw,
        "achieved_algbw": bound.achieved_algbw,
        "limit": limit_text(topology, bound, ranks),
        "tight": bound.tight,
        **root,
        "certificate": explanations.document(bound.bound, topology),
    }


def _plan(topology: Topology, plan: AllreducePlan) -> dict[str, object]:
    links = [
        _ends(topology, link) | {"reduce": reduced, "broadcast": sent}
        for link, reduced, sent in zip(topology.links, plan.reduce, plan.broadcast, strict=True)
        if reduced or sent
    ]
    roots = {node.id: value for node, value in zip(topology.nodes, plan.roots, strict=True) if value}
    return {"roots": roots, "links": links}
