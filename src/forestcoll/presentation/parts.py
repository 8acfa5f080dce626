"""In words and as JSON: a collective over a part of the network, and of capacity that must stay unused."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.forest_optimum.value import Optimum
from forestcoll.presentation.names import link_lines
from forestcoll.presentation.text import bandwidth
from forestcoll.topology import Link, Topology


@dataclass(frozen=True)
class RelayGain:
    """What idle nodes are worth as relays.

    Attributes:
        algbw: with them.
        without: without them and their links; None where the ranks do not all reach each other then, or where the
            number of trees that is asked for cannot be had.
    """

    algbw: Fraction
    without: Fraction | None

    @staticmethod
    def of(best: Optimum, without: Optimum | None) -> "RelayGain":
        """Return what `best` gains over the optimum `without` relays."""
        return RelayGain(best.algbw, None if without is None else without.algbw)

    def document(self) -> dict[str, object]:
        """Return the value of the JSON key `relays`."""
        return {
            "algbw": str(self.algbw),
            "algbw_without": None if self.without is None else str(self.without),
            "gain": None if self.without is None else str(self.algbw / self.without),
        }

    def words(self, unit: str) -> str:
        """Return what a person reads."""
        if self.without is None:
            return "without idle nodes as relays there is none"
        if self.without == self.algbw:
            return "nothing gained: without idle nodes as relays it is the same"
        times = f"{float(self.algbw / self.without):.4g} times"
        return f"{times} the {bandwidth(self.without, unit)} without idle nodes as relays"


def part_document(best: Optimum, gain: RelayGain | None) -> dict[str, object]:
    """Return the JSON keys about ranks, relays and unused capacity; none where all nodes and links take part."""
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
    """Return the row about what relays gain, if nodes are idle."""
    return [] if gain is None else [("relays", gain.words(best.topology.bandwidth_unit))]


def unused_lines(best: Optimum) -> list[str]:
    """Return the lines about capacity that must stay unused so that switches send what they take in."""
    links = best.spare
    if not links:
        return []
    total = sum((link.bandwidth for link in links), Fraction(0))
    amount = bandwidth(total, best.topology.bandwidth_unit)
    why = "by both phases" if best.collective is Collective.ALLREDUCE else "so that switches send what they take in"
    return [
        f"Unused, {why}: {amount} in all, of",
        *(f"  {line}" for line in link_lines(best.topology, links)),
    ]
