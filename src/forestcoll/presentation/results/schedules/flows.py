"""The optimum of an all-to-all, a gather or a scatter in rows, and its schedule of flows."""

from typing import TYPE_CHECKING

from forestcoll.presentation.names import counted
from forestcoll.presentation.results.networks.networks import assumed_rows
from forestcoll.presentation.results.schedules import claims, explanations
from forestcoll.presentation.tables import Row, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.flows.shape import flow_shape
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.proof.cut import CutProof

if TYPE_CHECKING:
    from forestcoll.solver.flows.value import FlowOptimum
    from forestcoll.verification import FlowReport

what = claims.what


def title(best: "FlowOptimum") -> str:
    """Return one line that names the optimum."""
    root = ""
    if best.root is not None:
        preposition = "from" if best.collective.dual.value == "gather" else "to"
        root = f" {preposition} {best.topology.nodes[best.root].id}"
    what = f"{best.collective.value}{root} over {counted(best.topology, best.ranks)}"
    matrix = ", with a demand matrix" if best.demand.matrix is not None else ""
    return f"{best.topology.name}: {what}{matrix}"


def rows(best: "FlowOptimum") -> list[Row]:
    """Return the rows that state an optimum."""
    unit, proof = best.topology.bandwidth_unit, best.bound.proof
    found = [
        claims.optimum_row(best, best.collective, best.members),
        row("algbw", bandwidth(best.algbw, unit), residual=best.residual),
        *claims.busbw_rows(best.algbw, best.demand.busbw_factor(best.topology), unit),
        *assumed_rows(best.topology),
    ]
    if best.is_optimal:
        found.append(row("optimum", "reached: no schedule is faster"))
    else:
        share = percent(best.algbw / best.bound.algbw)
        found.append(row("bound", f"{bandwidth(best.bound.algbw, unit)} at most; this is {share} of it"))
    if isinstance(proof, CutProof):
        found.append(row(bottleneck=explanations.cut_document(proof, best.topology, best.members)))
    return [*found, *claims.time_rows(best), *_demand_rows(best)]


def _demand_rows(best: "FlowOptimum") -> list[Row]:
    """Return what JSON says of the demand, if it is not the one of all nodes."""
    topology, found = best.topology, []
    if best.root is not None:
        found.append(row(root=topology.nodes[best.root].id))
    if best.ranks is not None:
        found.append(row(ranks=topology.ids(best.ranks)))
    if best.demand.matrix is not None:
        found.append(row(demand=best.demand.matrix))
    return found


def below(best: "FlowOptimum") -> list[str]:
    """Return sentences that explain why no schedule is faster."""
    return explanations.bottleneck(best.bound, best.topology, best.demand)


def made_rows(schedule: FlowSchedule) -> list[Row]:
    """Return the rows about the flows of a schedule."""
    shape = flow_shape(schedule)
    images = f" ({len(schedule.flows)} base flows, {shape.group_order} images each)" if shape.group_order > 1 else ""
    relayed = f"; {shape.relayed} of them through relays" if shape.relayed else ""
    hops = f"at most {shape.greatest_hops}, {shape.mean_hops:.3g} on average"
    return [
        row("flows", f"{shape.flows}{images}{relayed}", flows=shape.flows, relayed_flows=shape.relayed),
        row("links of a flow", hops, greatest_hops=shape.greatest_hops, mean_hops=shape.mean_hops),
        row(base_flows=len(schedule.flows), greatest_height=shape.greatest_height, mean_height=shape.mean_height),
    ]


def verified_rows(schedule: FlowSchedule, report: "FlowReport") -> list[Row]:
    """Return the rows of a valid schedule of flows."""
    return [*claims.verified_rows(schedule, report), *made_rows(schedule)]
