"""The bounds of a network in words and figures, and as JSON."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from forestcoll.allreduce.plan import AllreducePlan
from forestcoll.allreduce.program import AllreduceOptimum
from forestcoll.bounds.all_to_all import AllToAllOptimum
from forestcoll.bounds.limits import Bounds, CollectiveBound, CutLimit, Operation, ProgramLimit, ReceiptLimit
from forestcoll.presentation.wording import (
    bandwidth,
    link_lines,
    node_names,
    percent,
    printable,
    table,
)
from forestcoll.proof.tree_dual import PHASES, TreeDualProof
from forestcoll.topology import Topology

_MOST_SETS = 2000
"""The most sets of a proof that are written out with all their images."""

_LONGEST_EXACT = 24
"""The most characters of an exact number in a column; --json has all of it."""

_CROSSING = {
    Operation.ALLGATHER: "of the gathered data",
    Operation.REDUCE_SCATTER: "of the reduced data",
}


def lines(found: Bounds) -> list[str]:
    """Return what a person reads."""
    topology = found.topology
    unit = topology.bandwidth_unit
    count = len(topology.compute)
    among = f"{count} of {found.nodes} compute nodes" if found.ranks is not None else f"{count} compute nodes"
    return [
        f"{printable(topology.name)}: what no schedule can beat, {among}, in {printable(unit)}",
        *_columns([("collective", "best algbw", "best busbw", "generate reaches"), *map(_row, found.collectives)]),
        "Limits:",
        *(f"  {each.operation}: {limit_words(topology, each)}" for each in found.collectives),
        *(f"  {operation}: {_left_out(found, operation)}: {why}" for operation, why in found.too_large.items()),
        "Rates and steps:",
        *table([*_root_rows(found), *_rate_rows(found), *_latency_rows(found)]),
    ]


def _row(bound: CollectiveBound) -> tuple[str, str, str, str]:
    mark = "" if bound.tight else " *"
    reached = "-" if bound.achieved_algbw is None else _reached(bound.achieved_algbw, bound.upper_algbw)
    return bound.operation.value, _number(bound.upper_algbw) + mark, _number(bound.upper_busbw), reached


def _reached(achieved: Fraction, upper: Fraction) -> str:
    return "all of it" if achieved == upper else f"{_number(achieved)}, {percent(achieved / upper)} of it"


def _number(value: Fraction) -> str:
    """Return `value` exactly and as a decimal; a long fraction as a decimal only, so that columns stay columns."""
    if value.denominator == 1:
        return str(value)
    exact, about = str(value), f"{float(value):.6g}"
    return f"{exact} ({about})" if len(exact) <= _LONGEST_EXACT else f"about {about}"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    starred = any(cell.endswith(" *") for row in rows for cell in row)
    note = ["  * no schedule is known to reach this"] if starred else []
    return [f"  {line}".rstrip() for line in padded] + note


def _left_out(found: Bounds, operation: Operation) -> str:
    return "not computed" if found.of(operation) is None else "perhaps less than this"


def limit_words(topology: Topology, bound: CollectiveBound) -> str:
    """Say in one line what limits a collective."""
    limit = bound.limit
    unit = printable(topology.bandwidth_unit)
    if isinstance(limit, CutLimit):
        return _cut_words(topology, bound.operation, limit)
    if isinstance(limit, ReceiptLimit):
        return (
            f"Along trees, {limit.receivers} nodes take part in the reduce and in the broadcast of everything, so the "
            f"links into compute nodes, {bandwidth(limit.bandwidth, unit)} together, carry it {2 * limit.receivers} "
            f"times: algbw <= {_quotient(limit.bandwidth, Fraction(2 * limit.receivers))} = {limit.algbw} {unit}."
        )
    return _program_words(topology, limit)


def _cut_words(topology: Topology, operation: Operation, limit: CutLimit) -> str:
    """As `optimum` says a cut, on one line."""
    inside = set(limit.inside)
    kept = [node for node in topology.compute if node in inside]
    fed = [node for node in topology.compute if node not in inside]
    links = [link for link in topology.links if link.source in inside and link.target not in inside]
    unit = topology.bandwidth_unit
    amount = "all data" if limit.share == 1 else f"{limit.share} {_CROSSING.get(operation, 'of all data')}"
    story = (
        f"What {node_names(topology, fed)} must receive from the rest, {amount}, must come in over"
        if len(fed) <= len(kept)
        else f"What {node_names(topology, kept)} must send to the rest, {amount}, must go out over"
    )
    together = f" ({bandwidth(limit.exit_bandwidth, unit)} together)" if len(links) > 1 else ""
    return (
        f"{story} {' and '.join(link_lines(topology, links))}{together}: "
        f"algbw <= {_quotient(limit.exit_bandwidth, limit.share)} {printable(unit)}."
    )


def _quotient(value: Fraction, by: Fraction) -> str:
    if by == 1:
        return str(value)
    shown, divisor = (str(each) if each.denominator == 1 else f"({each})" for each in (value, by))
    return f"{shown} / {divisor}" if by.denominator == 1 else f"{shown} / {divisor} = {value / by}"


def _program_words(topology: Topology, limit: ProgramLimit) -> str:
    optimum, unit = limit.optimum, printable(topology.bandwidth_unit)
    doubt = "" if optimum.exact else f" (a bound; the solver came within {optimum.residual:.1e} of it)"
    if isinstance(optimum, AllreduceOptimum):
        count = len(optimum.proof.cuts)
        images = optimum.proof.symmetry.order
        each = f", each with {images} images," if images > 1 else ""
        return (
            f"Along trees, {count} cuts{each} that share the links between the reduce and the broadcast allow together "
            f"{limit.algbw} {unit}{doubt}; --json lists them with their weights."
        )
    return _flow_words(topology, optimum, limit.algbw) + doubt


def _flow_words(topology: Topology, optimum: AllToAllOptimum, algbw: Fraction) -> str:
    used = [link for link, length in zip(topology.links, optimum.lengths, strict=True) if length]
    unit = printable(topology.bandwidth_unit)
    if len({length for length in optimum.lengths if length}) == 1:
        carried = sum((link.bandwidth for link in used), Fraction(0)) / optimum.pair_rate
        return (
            f"What all pairs send must cross {len(used)} links {carried} times in all, "
            f"{' and '.join(link_lines(topology, used))}: algbw <= {algbw} {unit}."
        )
    return (
        f"What all pairs send uses up the bandwidth of {len(used)} links, weighed by the lengths that --json lists: "
        f"algbw <= {algbw} {unit}."
    )


def _root_rows(found: Bounds) -> list[tuple[str, str]]:
    unit = found.topology.bandwidth_unit
    rows = []
    for operation, (worst, best) in found.roots.items():
        word = "from" if operation is Operation.BROADCAST else "to"
        text = f"{bandwidth(best.algbw, unit)} {word} {_id(found.topology, best.root)}"
        if worst.algbw < best.algbw:
            text += f", {bandwidth(worst.algbw, unit)} {word} {_id(found.topology, worst.root)}"
        rows.append((f"{operation}, best root" + (" and worst" if worst.algbw < best.algbw else ""), text))
    return rows


def _id(topology: Topology, number: int) -> str:
    return printable(topology.nodes[number].id)


def _rate_rows(found: Bounds) -> list[tuple[str, str]]:
    rate, unit = found.allreduce_rate, found.topology.bandwidth_unit
    rows = [("allreduce, cut-set bound", f"{bandwidth(rate.cut_set_upper.algbw, unit)} for any schedule at all")]
    if rate.tree_lower is not None:
        at = "at most, and reached" if rate.exact else "at least"
        rows.append(("allreduce, along trees", f"{bandwidth(rate.tree_lower, unit)} {at}"))
    ways = {"  allgather after reduce-scatter": rate.one_after_the_other, "  both at once": rate.equal_roots}
    for way, reached in ways.items():
        if reached is not None and rate.tree_lower is not None:
            less = f"{bandwidth(reached, unit)}, {percent(reached / rate.tree_lower)} of that"
            rows.append((way, "the same" if reached == rate.tree_lower else less))
    return rows


def _latency_rows(found: Bounds) -> list[tuple[str, str]]:
    latency, topology = found.latency, found.topology
    source, target = (_id(topology, node) for node in latency.farthest)
    sends = f"{latency.steps} send{'s' * (latency.steps > 1)} at least ({source} -> {target})"
    rows = [("steps", f"{sends}; {latency.links} link{'s' * (latency.links > 1)} at most between two nodes")]
    if latency.moore_steps is not None:
        rows.append(("Moore bound", f"{latency.moore_steps} for any network of degree {latency.degree}"))
    return rows


def document(found: Bounds) -> dict[str, object]:
    """Return the JSON object: the contract's keys, and the certificates."""
    topology = found.topology
    rate = found.allreduce_rate
    return {
        "topology": topology.name,
        "compute_nodes": len(topology.compute),
        "unit": topology.bandwidth_unit,
        **({} if found.ranks is None else {"ranks": topology.ids(found.ranks)}),
        "collectives": {each.operation.value: _bound_document(topology, each) for each in found.collectives},
        "not_computed": {operation.value: why for operation, why in found.too_large.items()},
        "roots": {
            operation.value: {
                "worst": {"root": topology.nodes[worst.root].id, "algbw": str(worst.algbw)},
                "best": {"root": topology.nodes[best.root].id, "algbw": str(best.algbw)},
            }
            for operation, (worst, best) in found.roots.items()
        },
        "allreduce_rate": {
            "cut_set_upper": str(rate.cut_set_upper.algbw),
            "tree_lower": None if rate.tree_lower is None else str(rate.tree_lower),
            "corollary_upper": str(rate.corollary_upper.algbw),
            "one_after_the_other": None if rate.one_after_the_other is None else str(rate.one_after_the_other),
            "equal_roots": None if rate.equal_roots is None else str(rate.equal_roots),
            "exact": rate.exact,
            "cut": topology.ids(rate.cut_set_upper.inside),
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


def _bound_document(topology: Topology, bound: CollectiveBound) -> dict[str, object]:
    root: dict[str, object] = {} if bound.root is None else {"root": topology.nodes[bound.root].id}
    return {
        "upper_algbw": str(bound.upper_algbw),
        "upper_busbw": str(bound.upper_busbw),
        "achieved_algbw": None if bound.achieved_algbw is None else str(bound.achieved_algbw),
        "limit": limit_words(topology, bound),
        "tight": bound.tight,
        **root,
        "certificate": _certificate(topology, bound),
    }


def _certificate(topology: Topology, bound: CollectiveBound) -> dict[str, object]:
    limit = bound.limit
    if isinstance(limit, CutLimit):
        return {
            "kind": "cut",
            "cut": topology.ids(limit.inside),
            "exit_bandwidth": str(limit.exit_bandwidth),
            "share": str(limit.share),
        }
    if isinstance(limit, ReceiptLimit):
        return {"kind": "receipts", "bandwidth": str(limit.bandwidth), "receivers": limit.receivers}
    if isinstance(limit.optimum, AllreduceOptimum):
        return _proof_document(topology, limit.optimum.proof)
    lengths = [
        {"source": ends[0], "target": ends[1], "length": length}
        for link, length in zip(topology.links, limit.optimum.lengths, strict=True)
        if (ends := topology.ids([link.source, link.target])) and length
    ]
    return {"kind": "lengths", "pair_rate": str(limit.optimum.pair_rate), "lengths": lengths}


def _proof_document(topology: Topology, proof: TreeDualProof) -> dict[str, object]:
    whole = len(proof.cuts) * proof.symmetry.order <= _MOST_SETS
    shown = proof.expanded(topology) if whole else proof
    cuts = [
        {"phase": each.phase.value, "cut": topology.ids(each.inside), "weight": str(each.weight)} for each in shown.cuts
    ]
    potentials = {
        phase.value: {str(topology.nodes[node].id): str(each) for node, each in proof.potentials[phase].items() if each}
        for phase in PHASES
    }
    shifts = [[int(node) for node in shift.image] for shift in shown.symmetry.shifts]
    return {"kind": "weighted-cuts", "cuts": cuts, "potentials": potentials, "shifts": shifts}


def _plan_document(topology: Topology, plan: AllreducePlan) -> dict[str, object]:
    links = [
        {"source": ends[0], "target": ends[1], "reduce": str(reduced), "broadcast": str(sent)}
        for link, reduced, sent in zip(topology.links, plan.reduce, plan.broadcast, strict=True)
        if (ends := topology.ids([link.source, link.target])) and (reduced or sent)
    ]
    return {"roots": _by_id(topology, plan.roots), "links": links}


def _by_id(topology: Topology, values: Sequence[Fraction]) -> Mapping[str, str]:
    return {str(node.id): str(value) for node, value in zip(topology.nodes, values, strict=True) if value}
