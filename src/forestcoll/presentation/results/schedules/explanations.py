"""Explanations of bounds in words: why no schedule is faster. There is one function for each kind of proof."""

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from forestcoll.base.errors import plural, times
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.names import link_lines, node_names, noun, others
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import bandwidth, capitalized, quotient
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.proof import proof_document
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.part import usable_part

if TYPE_CHECKING:
    from forestcoll.schedule.proof.cut import CutProof
    from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
    from forestcoll.schedule.proof.lengths.lengths import LengthsProof
    from forestcoll.schedule.proof.lengths.tree_distances import TreeDistancesProof
    from forestcoll.schedule.proof.lengths.tree_lengths import TreeLengthsProof
    from forestcoll.schedule.proof.partition import PartitionProof
    from forestcoll.schedule.proof.prices import PricesProof
    from forestcoll.schedule.proof.proof import Proof
    from forestcoll.schedule.proof.receipt import ReceiptProof
    from forestcoll.schedule.proof.tree_dual import TreeDualProof

_MOST_SETS = 2000
"""The most images of sets in the JSON object of a proof with a symmetry; larger proofs keep the symmetry."""


def explain(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    """Return sentences that explain why no schedule is faster than `bound`. Links are listed on indented lines.

    Args:
        bound: the bound, with its proof.
        topology: the network.
        demand: the collective and its parameters.

    Example:
        >>> from forestcoll import optimum
        >>> best = optimum("ring:nodes=3")
        >>> for line in explain(best.bound, best.topology, best.demand):
        ...     print(line)
        Compute node 0 must receive 2/3 of the data from the other 2 compute nodes. All of it enters over these links:
          2 links of 1 GB/s (1 -> 0, 2 -> 0)
          2 GB/s together, so algbw <= 2 / (2/3) = 3 GB/s.
    """
    return _EXPLANATIONS[bound.proof.kind](bound, topology, demand)


def bottleneck(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    """Return the lines of `explain` below a result."""
    first, *more = explain(bound, topology, demand)
    return [f"Bottleneck: {first}", *more]


def proof_page(proof: "Proof") -> Page:
    """Return the page of a proof without its network."""
    kind = row(kind=proof.kind, trees_only=proof.trees_only)
    which = "schedules along trees" if proof.trees_only else "all schedules"
    return Page(f"proof of kind {proof.kind}, for {which}", (kind, proof.words()))


def bound_page(bound: Bound) -> Page:
    """Return the page of a bound without its network."""
    along = " along trees" * bound.proof.trees_only
    values = row(collective=bound.collective, algbw=bound.algbw, proof=bound.proof.kind)
    return Page(f"no {bound.collective}{along} exceeds an algbw of {bound.algbw}", (values, bound.proof.words()))


def cut_document(cut: "CutProof", topology: Topology, members: Collection[int]) -> dict[str, object]:
    """Return what JSON says of a cut that limits a collective of `members`."""
    return {
        "cut": topology.ids(cut.inside),
        "compute_inside": len(set(cut.inside).intersection(members)),
        "exit_bandwidth": cut.exit_bandwidth(topology),
    }


def document(bound: Bound, topology: Topology) -> dict[str, object]:
    """Return the JSON object of the proof of `bound`, with the ids of nodes.

    If the proof has a symmetry, all images of its sets are listed, unless there are more than `_MOST_SETS`.
    """
    proof = bound.proof
    if proof.kind == "tree-dual":
        weighted = cast("TreeDualProof", proof)
        few = len(weighted.cuts) * weighted.symmetry.order <= _MOST_SETS
        proof = weighted.expanded(topology) if few else proof
    return proof_document(proof, lambda number: topology.nodes[number].id)


def _explain_cut(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
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
    statement = _crossing(demand, names, amount, others(rest, noun(topology, demand.ranks)), enters=enters)
    verb = "enters" if enters else "leaves"
    return [
        f"{capitalized(statement)}. All of it {verb} over these links:",
        *_links(topology, proof.leaving(topology)),
        _together(topology, proof.exit_bandwidth(topology), part),
    ]


def _crossing(demand: NodeDemand, names: str, amount: str, rest: str, *, enters: bool) -> str:
    """Return the sentence about what a set of nodes must receive or, if not `enters`, send."""
    sums = demand.collective.only_reduces or demand.collective is Collective.ALLREDUCE
    what = f"partial sums for {amount}" if sums else amount
    return f"{names} must receive {what} from {rest}" if enters else f"{names} must send {what} to {rest}"


def _explain_receipt(bound: Bound, topology: Topology, _demand: NodeDemand) -> list[str]:
    proof = cast("ReceiptProof", bound.proof)
    what, count = noun(topology), proof.times(topology)
    verb = "enters" if proof.counts_entering(topology) else "leaves"
    statement = (
        f"In each tree, every {what} but the root sends its sum once and receives the result once. So all of the data "
        f"is sent 2 x {count // 2} = {times(count)} from {what} to {what}. All of it {verb} {what}s over these links:"
    )
    links = _links(topology, proof.links(topology))
    return [statement, *links, _together(topology, proof.bandwidth(topology), Fraction(count))]


def _explain_partition(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    proof = cast("PartitionProof", bound.proof)
    count = len(proof.parts)
    between = proof.between(usable_part(topology, demand.members(topology)))
    statement = (
        f"The nodes are divided into {count} parts. In each tree, data leaves every part but that of the root in the "
        f"reduce, and enters it in the broadcast. So all of the data crosses these links 2 x {count - 1} = "
        f"{times(proof.times)}:"
    )
    total = sum((link.bandwidth for link in between), Fraction(0))
    return [statement, *_links(topology, between), _together(topology, total, Fraction(proof.times))]


def _explain_tree_dual(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    proof = cast("TreeDualProof", bound.proof)
    images = proof.symmetry.order
    count = f"{len(proof.cuts)} weighted set{'s' * (len(proof.cuts) != 1)} of nodes"
    each = f", each at {images} symmetric places," if images > 1 else ""
    prove = "prove" if len(proof.cuts) > 1 else "proves"
    limiting = proof.limiting(usable_part(topology, demand.members(topology)))
    why = "Switches that cannot copy or add up data send only what they receive, so trees cannot use all links fully"
    if demand.collective is Collective.ALLREDUCE:
        why = "The reduce and the broadcast share the links, and no division of the links gives faster trees"
    if len(set(limiting.values())) > 1:
        limit = f"algbw <= {bandwidth(bound.algbw, topology.bandwidth_unit)}"
        return [f"{why}: {count}{each} {prove} {limit}; --json lists them."]
    total = sum((link.bandwidth for link in limiting), Fraction(0))
    crossed = total / bound.algbw
    proven = f"({count}{each} {prove} it; --json lists them)"
    return [
        f"{why}: all of the data crosses these links at least {times(crossed)} {proven}:",
        *_links(topology, list(limiting)),
        _together(topology, total, crossed),
    ]


def _explain_tree_lengths(bound: Bound, topology: Topology, _demand: NodeDemand) -> list[str]:
    proof = cast("TreeLengthsProof | GroupLengthsProof | TreeDistancesProof", bound.proof)
    limit = f"algbw <= {bandwidth(bound.algbw, topology.bandwidth_unit)}"
    needed = f"Each tree needs a part of the bandwidth of {len(proof.lengths)} links, weighted by the lengths that"
    return [f"{needed} --json lists. The shortest trees for these lengths prove {limit}."]


def _explain_lengths(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    proof = cast("LengthsProof", bound.proof)
    lengths = dict(zip(proof.ends, proof.lengths, strict=True))
    used = [link for link in topology.links if lengths.get((link.source, link.target))]
    limit = f"algbw <= {bound.algbw} {topology.bandwidth_unit}"
    if len(set(proof.lengths)) > 1:
        weighted = f"{len(used)} links, weighted by the lengths that --json lists"
        return [f"The data of all pairs needs the total bandwidth of {weighted}, so {limit}."]
    total = sum((link.bandwidth for link in used), Fraction(0))
    if demand.matrix is not None or demand.collective is not Collective.ALL_TO_ALL:
        crossing = f"The data of all pairs crosses these {plural(len(used), 'link')}; in total, they carry at least"
        return [f"{crossing} {total / bound.algbw} M:", *_links(topology, used), f"  so {limit}."]
    carried = total / (bound.algbw / len(demand.members(topology)))
    return [
        f"The blocks of all pairs cross these {plural(len(used), 'link')} {times(carried)} in total:",
        *_links(topology, used),
        f"  so {limit}.",
    ]


def _explain_prices(bound: Bound, topology: Topology, demand: NodeDemand) -> list[str]:
    proof = cast("PricesProof", bound.proof)
    most = proof.operations(demand.collective, len(topology.compute))
    each, every = ("message", "sends") if demand.collective is Collective.BROADCAST else ("operation", "does")
    count = f"{len(proof.prices)} port{'s' * (len(proof.prices) != 1)}"
    cost = f"At the prices of {count}, every {each} costs at least 1, and a unit of time at all ports costs {most}"
    return [f"{cost}. So no schedule on {topology.name} {every} more than {most} {each}s per unit of time."]


def _links(topology: Topology, links: tuple[Link, ...] | list[Link]) -> list[str]:
    return [f"  {line}" for line in link_lines(topology, links)]


def _together(topology: Topology, value: Fraction, by: Fraction) -> str:
    unit = topology.bandwidth_unit
    return f"  {bandwidth(value, unit)} together, so algbw <= {quotient(value, by, unit)}."


_EXPLANATIONS: Mapping[str, Callable[[Bound, Topology, NodeDemand], list[str]]] = {
    "cut": _explain_cut,
    "receipt": _explain_receipt,
    "tree-dual": _explain_tree_dual,
    "partition": _explain_partition,
    "tree-lengths": _explain_tree_lengths,
    "group-lengths": _explain_tree_lengths,
    "tree-distances": _explain_tree_lengths,
    "lengths": _explain_lengths,
    "prices": _explain_prices,
}
