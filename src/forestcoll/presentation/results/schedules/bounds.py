"""The bounds of a network as a page and as JSON."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Table, labelled
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.simulation.trees.uses import pipeline_overhead
from forestcoll.solver.allreduce.plan import AllreducePlan
from forestcoll.solver.bounds.values import Bounds, CollectiveBound
from forestcoll.topology import NodeId, Topology

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
    rates = labelled([*_root_rows(found), *_rate_rows(found), *_latency_rows(found)])
    unit = topology.bandwidth_unit
    return Page(
        f"{title}, in {unit}", (_table(found.collectives), "Limits:", *limits, *missing, "Rates and steps:", rates)
    )


def bound_page(topology: Topology, bound: CollectiveBound, ranks: tuple[int, ...] | None) -> Page:
    """Return the page of the bound of one collective over `ranks`, the numbers of the nodes that take part."""
    unit, name = topology.bandwidth_unit, bound.collective.value
    title = f"{topology.name}: the bound of {bound.collective.with_article}, {counted(topology, ranks)}"
    return Page(f"{title}, in {unit}", (_table((bound,)), "Limits:", f"  {name}: {limit_text(topology, bound, ranks)}"))


def bound_document(topology: Topology, bound: CollectiveBound, ranks: tuple[int, ...] | None) -> dict[str, object]:
    """Return the JSON object of the bound of one collective; the arguments are those of `bound_page`."""
    return {
        "topology": topology.name,
        "compute_nodes": len(bound.demand(ranks).members(topology)),
        "unit": topology.bandwidth_unit,
        **({} if ranks is None else {"ranks": topology.ids(ranks)}),
        "collectives": {bound.collective.value: _bound_document(topology, bound, ranks)},
    }


def _table(bounds: Sequence[CollectiveBound]) -> Table:
    columns = tuple(map(Column, ("collective", "best algbw", "best busbw", "generate reaches")))
    loose = any(not each.tight for each in bounds)
    notes = ("* no schedule that reaches this bound is known",) if loose else ()
    return Table(columns, tuple(map(_row, bounds)), notes=notes)


def _row(bound: CollectiveBound) -> tuple[str, str, str, str]:
    mark = "" if bound.tight else " *"
    reached = "-" if bound.achieved_algbw is None else _reached(bound.achieved_algbw, bound.upper_algbw)
    return bound.collective.value, _number(bound.upper_algbw) + mark, _number(bound.upper_busbw), reached


def _reached(achieved: Fraction, upper: Fraction) -> str:
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


def _root_rows(found: Bounds) -> list[tuple[str, str]]:
    unit = found.topology.bandwidth_unit
    rows = []
    for collective, (worst, best) in found.roots.items():
        word = "from" if collective is Collective.BROADCAST else "to"
        text = f"{bandwidth(best.algbw, unit)} {word} {_id(found.topology, best.root)}"
        if worst.algbw < best.algbw:
            text += f", {bandwidth(worst.algbw, unit)} {word} {_id(found.topology, worst.root)}"
        rows.append((f"{collective}, best root" + (" and worst" if worst.algbw < best.algbw else ""), text))
    return rows


def _id(topology: Topology, number: int) -> str:
    return str(topology.nodes[number].id)


def _rate_rows(found: Bounds) -> list[tuple[str, str]]:
    rate, unit = found.allreduce_rate, found.topology.bandwidth_unit
    rows = [("allreduce, cut-set bound", f"{bandwidth(rate.cut_set_upper.algbw, unit)} for any schedule")]
    if rate.tree_lower is not None:
        what = "the greatest rate along trees" if rate.exact else "reached; a greater rate may be possible"
        if found.has_copies:
            what += ", if switches and idle nodes only forward data"
        rows.append(("allreduce, along trees", f"{bandwidth(rate.tree_lower, unit)}, {what}"))
    methods = {
        "  reduce-scatter, then allgather": rate.one_after_the_other,
        "  both at the same time": rate.equal_roots,
    }
    for method, reached in methods.items():
        if reached is not None and rate.tree_lower is not None:
            less = f"{bandwidth(reached, unit)}, {percent(reached / rate.tree_lower)} of the rate along trees"
            rows.append((method, "the same" if reached == rate.tree_lower else less))
    return [*rows, *_block_rows(found), *_code_rows(found)]


def _code_rows(found: Bounds) -> list[tuple[str, str]]:
    """Return the rows about codes: schedules whose nodes may send any function of what they received."""
    rate, name = found.allreduce_rate, "allreduce, with codes"
    row = found.of(Collective.ALLREDUCE)
    along_trees = row.achieved_algbw if found.has_copies and row is not None else rate.tree_lower
    if along_trees is None or not rate.exact:
        return []
    if along_trees == rate.cut_set_upper.algbw:
        return [(name, f"not faster than trees: {_reason(found)}")]
    most = f"at most {_number(rate.cut_set_upper.algbw / along_trees)} times the rate along trees"
    if rate.linear_upper == along_trees:
        return [(name, f"{most}; linear codes are not faster than trees")]
    return [(name, f"{most}; linear codes at most {bandwidth(rate.linear_upper, found.topology.bandwidth_unit)}")]


def _reason(found: Bounds) -> str:
    edge = found.allreduce_rate.cut_edge
    if edge is None:
        return "trees reach the cut-set bound"
    source, target = _id(found.topology, edge.source), _id(found.topology, edge.target)
    ranks = set(found.members).intersection(edge.inside)
    only = f"out of a set with {len(ranks)} of {len(found.members)} ranks"
    return f"trees fill {source} -> {target}, the only link {only} (Theorem 3)"


def _block_rows(found: Bounds) -> list[tuple[str, str]]:
    if found.topology.switches or found.ranks is not None:
        return []
    more = pipeline_overhead(len(found.members))
    return [("  n periods of data", f"n / (n + {more}) of the rate along trees, or more")]


def _latency_rows(found: Bounds) -> list[tuple[str, str]]:
    latency, topology = found.latency, found.topology
    source, target = (_id(topology, node) for node in latency.farthest)
    sends = f"at least {latency.steps} send{'s' * (latency.steps > 1)} ({source} -> {target})"
    rows = [("steps", f"{sends}; at most {latency.links} link{'s' * (latency.links > 1)} between two nodes")]
    if latency.moore_steps is not None:
        rows.append(("Moore bound", f"{latency.moore_steps} for any network of this size with degree {latency.degree}"))
    return rows


def bounds_document(found: Bounds) -> dict[str, object]:
    """Return the JSON object of the bounds of a network, with their certificates."""
    topology = found.topology
    rate = found.allreduce_rate
    return {
        "topology": topology.name,
        "compute_nodes": len(found.members),
        "unit": topology.bandwidth_unit,
        **({} if found.ranks is None else {"ranks": topology.ids(found.ranks)}),
        "collectives": {
            each.collective.value: _bound_document(topology, each, found.ranks) for each in found.collectives
        },
        "not_computed": {collective.value: why for collective, why in found.too_large.items()},
        "roots": {
            collective.value: {
                "worst": {"root": topology.nodes[worst.root].id, "algbw": str(worst.algbw)},
                "best": {"root": topology.nodes[best.root].id, "algbw": str(best.algbw)},
            }
            for collective, (worst, best) in found.roots.items()
        },
        "allreduce_rate": {
            "cut_set_upper": str(rate.cut_set_upper.algbw),
            "tree_lower": None if rate.tree_lower is None else str(rate.tree_lower),
            "corollary_upper": str(rate.corollary_upper),
            "one_after_the_other": None if rate.one_after_the_other is None else str(rate.one_after_the_other),
            "equal_roots": None if rate.equal_roots is None else str(rate.equal_roots),
            "exact": rate.exact,
            "factor": None if rate.factor is None else str(rate.factor),
            "greatest_factor": None if rate.greatest_factor is None else str(rate.greatest_factor),
            "linear_upper": str(rate.linear_upper),
            "cut_edge": _cut_edge_document(found),
            "pipeline_overhead": pipeline_overhead(len(found.members)),
            "copies_left_out": found.has_copies,
            "cut": _cut_ids(found),
            "plan": None if rate.plan is None else _plan_document(topology, rate.plan),
        },
        "latency": {
            "steps": found.latency.steps,
            "farthest": topology.ids(found.latency.farthest),
            "links": found.latency.links,
            "degree": found.latency.degree,
            "moore_steps": found.latency.moore_steps,
        },
    }


def _cut_ids(found: Bounds) -> list[NodeId]:
    proof = found.allreduce_rate.cut_set_upper.proof
    return found.topology.ids(proof.inside) if isinstance(proof, CutProof) else []


def _cut_edge_document(found: Bounds) -> dict[str, object] | None:
    edge = found.allreduce_rate.cut_edge
    if edge is None:
        return None
    source, target = found.topology.ids([edge.source, edge.target])
    return {"source": source, "target": target, "cut": found.topology.ids(edge.inside)}


def _bound_document(topology: Topology, bound: CollectiveBound, ranks: tuple[int, ...] | None) -> dict[str, object]:
    root: dict[str, object] = {} if bound.root is None else {"root": topology.nodes[bound.root].id}
    return {
        "upper_algbw": str(bound.upper_algbw),
        "upper_busbw": str(bound.upper_busbw),
        "achieved_algbw": None if bound.achieved_algbw is None else str(bound.achieved_algbw),
        "limit": limit_text(topology, bound, ranks),
        "tight": bound.tight,
        **root,
        "certificate": explanations.document(bound.bound, topology),
    }


def _plan_document(topology: Topology, plan: AllreducePlan) -> dict[str, object]:
    links = [
        {"source": ends[0], "target": ends[1], "reduce": str(reduced), "broadcast": str(sent)}
        for link, reduced, sent in zip(topology.links, plan.reduce, plan.broadcast, strict=True)
        if (ends := topology.ids([link.source, link.target])) and (reduced or sent)
    ]
    return {"roots": _by_id(topology, plan.roots), "links": links}


def _by_id(topology: Topology, values: Sequence[Fraction]) -> Mapping[str, str]:
    return {str(node.id): str(value) for node, value in zip(topology.nodes, values, strict=True) if value}
