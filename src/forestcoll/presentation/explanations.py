"""Why no schedule is faster, in plain sentences: one function for each kind of proof."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

from forestcoll.collective import Collective
from forestcoll.presentation.names import link_lines, node_names, noun, others
from forestcoll.presentation.text import bandwidth, printable, quotient, sentence
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.proof.documents import proof_document
from forestcoll.proof.lengths import LengthsProof
from forestcoll.proof.prices import PricesProof
from forestcoll.proof.receipt import ReceiptProof
from forestcoll.proof.tree_dual import TreeDualProof
from forestcoll.request import Demand
from forestcoll.topology import Link, Topology

_MOST_SETS = 2000
"""The most sets of a proof that are written out with all their images."""


def explain(bound: Bound, topology: Topology, demand: Demand) -> list[str]:
    """Return sentences that say why no schedule is faster than `bound`; links are indented lines between them.

    Args:
        bound: the bound, with its proof.
        topology: the network.
        demand: what is asked of it.
    """
    return _WORDS[bound.proof.kind](bound, topology, demand)


def document(bound: Bound, topology: Topology) -> dict[str, object]:
    """Return the JSON object of the proof of `bound`, nodes by their ids.

    A symmetry is written out as the images of all sets, unless these are too many.
    """
    proof = bound.proof
    if isinstance(proof, TreeDualProof) and len(proof.cuts) * proof.symmetry.order <= _MOST_SETS:
        proof = proof.expanded(topology)
    return proof_document(proof, lambda number: topology.nodes[number].id)


def _cut_words(bound: Bound, topology: Topology, demand: Demand) -> list[str]:
    proof = cast("CutProof", bound.proof)
    inside, members = set(proof.inside), demand.members(topology)
    kept = [node for node in members if node in inside]
    fed = [node for node in members if node not in inside]
    if len(fed) <= len(kept):
        names, rest, enters = node_names(topology, fed, demand.ranks), len(kept), True
    else:
        names, rest, enters = node_names(topology, kept, demand.ranks), len(fed), False
    part = proof.must_leave(topology, demand)
    amount = "all of the data" if part == 1 else f"{part} of the data"
    story = _crossing(demand, names, amount, others(rest, noun(topology, demand.ranks)), enters=enters)
    way = "enters" if enters else "leaves"
    return [
        f"{sentence(story)}. All of it {way} over these links:",
        *_links(topology, proof.leaving(topology)),
        _together(topology, proof.exit_bandwidth(topology), part),
    ]


def _crossing(demand: Demand, names: str, amount: str, rest: str, *, enters: bool) -> str:
    """Return what a set of nodes must receive, or else send."""
    sums = demand.collective.only_reduces or demand.collective is Collective.ALLREDUCE
    what = f"partial sums for {amount}" if sums else amount
    return f"{names} must receive {what} from {rest}" if enters else f"{names} must send {what} to {rest}"


def _receipt_words(bound: Bound, topology: Topology, _demand: Demand) -> list[str]:
    proof = cast("ReceiptProof", bound.proof)
    what, times = noun(topology), proof.times(topology)
    way = "enters" if proof.counts_entering(topology) else "leaves"
    story = (
        f"In each tree, every {what} but the root sends its sum once and receives the result once. So all of the data "
        f"is sent 2 x {times // 2} = {times} times from {what} to {what}. All of it {way} {what}s over these links:"
    )
    links = _links(topology, proof.links(topology))
    return [story, *links, _together(topology, proof.bandwidth(topology), Fraction(times))]


def _tree_dual_words(bound: Bound, topology: Topology, demand: Demand) -> list[str]:
    proof = cast("TreeDualProof", bound.proof)
    images = proof.symmetry.order
    count = f"{len(proof.cuts)} weighted set{'s' * (len(proof.cuts) != 1)} of nodes"
    each = f", each with {images} images" if images > 1 else ""
    limit = f"algbw <= {bandwidth(bound.algbw, printable(topology.bandwidth_unit))}"
    why = "Switches that do not copy or add up send just what they take in, so trees cannot use all links fully"
    if demand.collective is Collective.ALLREDUCE:
        why = "Along trees, the reduce and the broadcast share the links, and no division of the links is faster"
    return [f"{why}: {count}{each} prove {limit}; --json lists them."]


def _lengths_words(bound: Bound, topology: Topology, demand: Demand) -> list[str]:
    proof = cast("LengthsProof", bound.proof)
    lengths = dict(zip(proof.ends, proof.lengths, strict=True))
    used = [link for link in topology.links if lengths.get((link.source, link.target))]
    limit = f"algbw <= {bound.algbw} {printable(topology.bandwidth_unit)}"
    if len(set(proof.lengths)) > 1:
        weighed = f"{len(used)} links, weighed by the lengths that --json lists"
        return [f"The data of all pairs uses up the bandwidth of {weighed}, so {limit}."]
    pair_rate = bound.algbw / len(demand.members(topology))
    carried = sum((link.bandwidth for link in used), Fraction(0)) / pair_rate
    return [
        f"The blocks of all pairs cross these {len(used)} links, {carried} times in all:",
        *_links(topology, used),
        f"  so {limit}.",
    ]


def _prices_words(bound: Bound, topology: Topology, _demand: Demand) -> list[str]:
    proof = cast("PricesProof", bound.proof)
    count = f"{len(proof.prices)} port{'s' * (len(proof.prices) != 1)}"
    dear = f"Every message costs at least 1 at the prices of {count}, which cost {bound.algbw} in a unit of time"
    return [f"{dear}. So no more than {bound.algbw} messages a unit of time are sent on {printable(topology.name)}."]


def _links(topology: Topology, links: tuple[Link, ...] | list[Link]) -> list[str]:
    return [f"  {line}" for line in link_lines(topology, links)]


def _together(topology: Topology, value: Fraction, by: Fraction) -> str:
    unit = printable(topology.bandwidth_unit)
    return f"  {bandwidth(value, unit)} together, so algbw <= {quotient(value, by, unit)}."


_WORDS: Mapping[str, Callable[[Bound, Topology, Demand], list[str]]] = {
    CutProof.kind: _cut_words,
    ReceiptProof.kind: _receipt_words,
    TreeDualProof.kind: _tree_dual_words,
    LengthsProof.kind: _lengths_words,
    PricesProof.kind: _prices_words,
}
