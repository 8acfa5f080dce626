"""What optima and verified schedules of all kinds say: the reached algbw, and the bound with its proof."""

from collections.abc import Collection
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.base.units import bytes_per_microsecond, has_known_size
from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import counted
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Row, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.proof.optimum import Optimum
from forestcoll.schedule.schedule import Schedule
from forestcoll.solver.survival.schedule import Survival

if TYPE_CHECKING:
    from forestcoll.verification import Report


def optimum_row(best: Optimum, collective: str | None, members: Collection[int]) -> Row:
    """Return the values of an optimum that all kinds have."""
    return row(
        topology=best.topology.name,
        collective=collective,
        compute_nodes=len(members),
        algbw=best.algbw,
        algbw_float=float(best.algbw),
        optimal_algbw=best.bound.algbw,
        unit=best.topology.bandwidth_unit,
        proof=lambda: explanations.document(best.bound, best.topology),
    )


def busbw_rows(algbw: Fraction | None, factor: Fraction | None, unit: str, whose: str = "") -> list[Row]:
    """Return the row with the busbw of a collective.

    Args:
        algbw: its algbw; None if it is not known.
        factor: busbw / algbw; None if nccl-tests has no busbw of it.
        unit: the unit of bandwidths.
        whose: what follows the figure.
    """
    if algbw is None or factor is None:
        return [row(busbw=None)]
    return [row("busbw", f"{bandwidth(algbw * factor, unit)}{whose}", busbw=algbw * factor)]


def time_rows(best: Optimum) -> list[Row]:
    """Return the row with the time of 1 GB, if the size of the unit is known."""
    unit = best.topology.bandwidth_unit
    if not has_known_size(unit):
        return []
    milliseconds = float(10**6 / (best.algbw * bytes_per_microsecond(unit)))
    return [row("1 GB takes", f"{milliseconds:.4g} ms at that rate")]


def gain_row(best: Optimum, without: Fraction | None, relays: str) -> Row:
    """Return the row with the gain by relays.

    Args:
        best: the optimum with relays.
        without: the algbw without them; None if there is no solution.
        relays: what the relays are.
    """
    gain = None if without is None else best.algbw / without
    values = {"algbw": best.algbw, "algbw_without": without, "gain": gain}
    if gain is None or without is None:
        return row("relays", f"without {relays}, there is no solution", relays=values)
    if gain == 1:
        return row("relays", f"no gain: algbw is the same without {relays}", relays=values)
    less = bandwidth(without, best.topology.bandwidth_unit)
    return row("relays", f"{float(gain):.4g} times the {less} without {relays}", relays=values)


def what(schedule: Schedule) -> str:
    """Return what a schedule does, and where."""
    outward = {Collective.BROADCAST, Collective.SCATTER}
    preposition = "from" if schedule.collective in outward else "to"
    root = "" if schedule.root is None else f" {preposition} {schedule.topology.nodes[schedule.root].id}"
    place = f"{schedule.topology.name}, {counted(schedule.topology, schedule.ranks)}"
    return f"{schedule.collective.value}{root} on {place}"


def verified_rows(schedule: Schedule, report: "Report") -> list[Row]:
    """Return the rows of a valid schedule of any kind: who takes part, the achieved algbw, and the proven bound."""
    topology = schedule.topology
    factor = schedule.demand.busbw_factor(topology)
    rows = [row(collective=schedule.collective), *claim_rows(schedule, report, factor)]
    if schedule.ranks is not None:
        rows.append(row(ranks=topology.ids(schedule.ranks)))
    if schedule.root is not None:
        rows.append(row(root=topology.nodes[schedule.root].id))
    return rows


def claim_rows(schedule: Schedule, report: "Report", factor: Fraction | None) -> list[Row]:
    """Return the rows about the achieved algbw and the proven bound; `factor` is busbw / algbw, None if not known."""
    topology, unit, bound = schedule.topology, schedule.topology.bandwidth_unit, schedule.bound
    rows = [
        row(topology=topology.name, compute_nodes=len(schedule.members), unit=unit),
        row(algbw=report.algbw, optimal_algbw=None if bound is None else bound.algbw, optimal=report.optimal),
    ]
    if report.algbw is not None:
        rows += [row("algbw", bandwidth(report.algbw, unit)), *busbw_rows(report.algbw, factor, unit)]
    if bound is None:
        return [*rows, row("optimum", "not claimed")]
    source = "the cut" if isinstance(bound.proof, CutProof) else f"the proof of kind {bound.proof.kind!r}"
    if report.optimal:
        which = "schedule along trees" if bound.proof.trees_only else "schedule"
        return [*rows, row("optimum", f"reached; {source} in the file proves that no {which} is faster")]
    name = "bound" if schedule.collective is Collective.ALLREDUCE else "optimum"
    return [*rows, row(name, f"{bandwidth(bound.algbw, unit)}, proven by {source} in the file")]


def survival_rows(found: Survival) -> list[Row]:
    """Return the rows about what failures leave of a schedule."""
    unit, whole = found.schedule.topology.bandwidth_unit, found.schedule.algbw
    proven = "the most of any trees" if found.is_optimal else "the most that was found"
    kept = f"{bandwidth(found.guarantee, unit)}, {percent(found.guarantee / whole)} of the algbw, {proven}"
    left = f"{bandwidth(found.left_algbw, unit)}: the same trees with the bandwidth of the broken ones"
    values = {"guarantee": found.guarantee, "guarantee_optimal": found.is_optimal}
    return [
        row(f"one of {len(found.failures)} {found.part.value} fails", kept, part=found.part.value, **values),
        row("with free bandwidth", left, left_algbw=found.left_algbw),
        row(
            "with new trees",
            f"{bandwidth(found.replanned, unit)} after the worst failure",
            replanned_algbw=found.replanned,
        ),
    ]
