"""The optimum of an all-to-all, a gather or a scatter as a page and as JSON, alone and with its schedule of flows."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.units import bytes_per_microsecond, has_known_size
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.results.schedules.claims import document_with, page_with
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.flows.shape import flow_shape
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.proof.cut import CutProof

if TYPE_CHECKING:
    from forestcoll.solver.flows.value import FlowOptimum
    from forestcoll.verification import FlowReport


def optimum_document(best: "FlowOptimum") -> dict[str, object]:
    """Return the JSON object of an optimum of flows.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_document(optimum("ring:nodes=3", "all-to-all"))["algbw"]
        '3'
    """
    topology, proof = best.topology, best.bound.proof
    found: dict[str, object] = {
        "topology": topology.name,
        "collective": best.collective.value,
        "compute_nodes": len(best.members),
        "algbw": str(best.algbw),
        "algbw_float": float(best.algbw),
        "optimal_algbw": str(best.bound.algbw),
        "unit": topology.bandwidth_unit,
        "residual": best.residual,
    }
    if isinstance(proof, CutProof):
        found["bottleneck"] = {
            "cut": topology.ids(proof.inside),
            "compute_inside": len(set(proof.inside).intersection(best.members)),
            "exit_bandwidth": str(proof.exit_bandwidth(topology)),
        }
    found["proof"] = explanations.document(best.bound, topology)
    if best.root is not None:
        found["root"] = topology.nodes[best.root].id
    if best.ranks is not None:
        found["ranks"] = topology.ids(best.ranks)
    if best.demand.matrix is not None:
        found["demand"] = [[str(part) for part in row] for row in best.demand.matrix]
    return found


def optimum_page(best: "FlowOptimum") -> Page:
    """Return the page of an optimum of flows.

    Example:
        >>> from forestcoll import optimum
        >>> optimum_page(optimum("ring:nodes=3", "all-to-all")).title
        'ring:nodes=3: all-to-all over 3 compute nodes'
    """
    return Page(_title(best), (labelled(_rows(best)), *_reasons(best)))


def generated_document(best: "FlowOptimum", schedule: FlowSchedule) -> dict[str, object]:
    """Return the JSON object of an optimum and a schedule of flows that reaches it."""
    return optimum_document(best) | {"optimal": best.is_optimal, "verified": True, **flow_document(schedule)}


def generated_page(best: "FlowOptimum", schedule: FlowSchedule, run: Sequence[tuple[str, str]]) -> Page:
    """Return the page of an optimum and a schedule of flows that reaches it; `run` has the rows about the run."""
    return Page(_title(best), (labelled([*_rows(best), *flow_rows(schedule), *run]), *_reasons(best)))


def flow_rows(schedule: FlowSchedule) -> list[tuple[str, str]]:
    """Return the rows about the flows of a schedule."""
    shape = flow_shape(schedule)
    images = f" ({len(schedule.flows)} base flows, {shape.group_order} images each)" if shape.group_order > 1 else ""
    relayed = f"; {shape.relayed} of them through relays" if shape.relayed else ""
    return [
        ("flows", f"{shape.flows}{images}{relayed}"),
        ("links of a flow", f"at most {shape.greatest_hops}, {shape.mean_hops:.3g} on average"),
    ]


def flow_document(schedule: FlowSchedule) -> dict[str, object]:
    """Return the JSON keys about the flows of a schedule."""
    shape = flow_shape(schedule)
    return {
        "flows": shape.flows,
        "base_flows": len(schedule.flows),
        "relayed_flows": shape.relayed,
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
        "greatest_hops": shape.greatest_hops,
        "mean_hops": shape.mean_hops,
    }


def _title(best: "FlowOptimum") -> str:
    root = ""
    if best.root is not None:
        preposition = "from" if best.collective.dual.value == "gather" else "to"
        root = f" {preposition} {best.topology.nodes[best.root].id}"
    what = f"{best.collective.value}{root} over {counted(best.topology, best.ranks)}"
    matrix = ", with a demand matrix" if best.demand.matrix is not None else ""
    return f"{best.topology.name}: {what}{matrix}"


def _rows(best: "FlowOptimum") -> list[tuple[str, str]]:
    """Return the rows that state an optimum."""
    unit = best.topology.bandwidth_unit
    found = [("algbw", bandwidth(best.algbw, unit))]
    if best.is_optimal:
        found.append(("optimum", "reached: no schedule is faster"))
    else:
        share = percent(best.algbw / best.bound.algbw)
        found.append(("bound", f"{bandwidth(best.bound.algbw, unit)} at most; this is {share} of it"))
    if has_known_size(unit):
        milliseconds = float(10**6 / (best.algbw * bytes_per_microsecond(unit)))
        found.append(("1 GB takes", f"{milliseconds:.4g} ms at that rate"))
    return found


def _reasons(best: "FlowOptimum") -> tuple[str, ...]:
    """Return sentences that explain why no schedule is faster."""
    first, *more = explanations.explain(best.bound, best.topology, best.demand)
    return (f"Bottleneck: {first}", *more)


def verified_page(schedule: FlowSchedule, report: "FlowReport", file: Path) -> Page:
    """Return the page of a valid schedule of flows that was read from `file`."""
    return page_with(schedule, report, file, flow_rows(schedule))


def verified_document(schedule: FlowSchedule, report: "FlowReport") -> dict[str, object]:
    """Return the JSON keys of a valid schedule of flows."""
    return document_with(schedule, report, flow_document(schedule))
