"""What idle nodes gain as relays, and which capacity stays unused: rows, lines and JSON."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.demand.collective import Collective
from forestcoll.presentation.names import link_lines
from forestcoll.presentation.text import bandwidth
from forestcoll.solver.forests.value import Optimum
from forestcoll.topology import Link, Topology


@dataclass(frozen=True)
class RelayGain:
    """What is gained by idle nodes that serve as relays.

    Attributes:
        algbw: the optimum with relays, in the unit of the topology.
        without: the optimum without idle nodes and their links; None if the ranks cannot all reach each other without
            them, or if there is no solution with the requested number of trees.
    """

    algbw: Fraction
    without: Fraction | None

    @staticmethod
    def of(best: Optimum, without: Optimum | None) -> "RelayGain":
        """Return the gain of the optimum `best` over the optimum `without` relays."""
        return RelayGain(best.algbw, None if without is None else without.algbw)

    def document(self) -> dict[str, object]:
        """Return the value of the JSON key `relays`."""
        return {
            "algbw": str(self.algbw),
            "algbw_without": None if self.without is None else str(self.without),
            "gain": None if self.without is None else str(self.algbw / self.without),
        }

    def text(self, unit: str) -> str:
        """Return the gain as text; `unit` is the unit of bandwidths."""
        if self.without is None:
            return "without idle nodes as relays, there is no solution"
        if self.without == self.algbw:
            return "no gain: algbw is the same without idle nodes as relays"
        times = f"{float(self.algbw / self.without):.4g} times"
        return f"{times} the {bandwidth(self.without, unit)} without idle nodes as relays"


def participation_document(best: Optimum, gain: RelayGain | None) -> dict[str, object]:
    """Return the JSON keys about ranks, relays and unused capacity, if there are any."""
    document: dict[str, object] = {}
    if best.ranks is not None:
        document["ranks"] = best.topology.ids(best.ranks)
    if gain is not None:
        document["relays"] = gain.document()
    if best.spare:
        document["unused"] = [_link(best.topology, link) for link in best.spare]
    return document


def _link(topology: Topology, link: Link) -> dict[str, object]:
    source, target = topology.ids([link.source, link.target])
    return {"source": source, "target": target, "bandwidth": str(link.bandwidth)}


def relay_rows(best: Optimum, gain: RelayGain | None) -> list[tuple[str, str]]:
    """Return the row about the gain by relays, if there are idle nodes."""
    return [] if gain is None else [("relays", gain.text(best.topology.bandwidth_unit))]


def unused_lines(best: Optimum) -> list[str]:
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
