"""What idle nodes gain as relays, and which capacity stays unused: rows, lines and JSON."""

from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import link_lines
from forestcoll.presentation.text import bandwidth
from forestcoll.solver.forests.value import RelayGain, TreeOptimum
from forestcoll.topology import Link, Topology


def gain_document(gain: RelayGain) -> dict[str, object]:
    """Return the value of the JSON key `relays`."""
    return {
        "algbw": str(gain.algbw),
        "algbw_without": None if gain.without is None else str(gain.without),
        "gain": None if gain.without is None else str(gain.algbw / gain.without),
    }


def gain_text(gain: RelayGain, unit: str) -> str:
    """Return the gain as text; `unit` is the unit of bandwidths."""
    if gain.without is None:
        return "without idle nodes as relays, there is no solution"
    if gain.without == gain.algbw:
        return "no gain: algbw is the same without idle nodes as relays"
    times = f"{float(gain.algbw / gain.without):.4g} times"
    return f"{times} the {bandwidth(gain.without, unit)} without idle nodes as relays"


def participation_document(best: TreeOptimum) -> dict[str, object]:
    """Return the JSON keys about ranks, relays and unused capacity, if there are any."""
    document: dict[str, object] = {}
    if best.ranks is not None:
        document["ranks"] = best.topology.ids(best.ranks)
    if best.relays is not None:
        document["relays"] = gain_document(best.relays)
    if best.spare:
        document["unused"] = [_link(best.topology, link) for link in best.spare]
    return document


def _link(topology: Topology, link: Link) -> dict[str, object]:
    source, target = topology.ids([link.source, link.target])
    return {"source": source, "target": target, "bandwidth": str(link.bandwidth)}


def relay_rows(best: TreeOptimum) -> list[tuple[str, str]]:
    """Return the row about the gain by relays, if there are idle nodes."""
    unit = best.topology.bandwidth_unit
    return [] if best.relays is None else [("relays", gain_text(best.relays, unit))]


def unused_lines(best: TreeOptimum) -> list[str]:
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
