"""Each condition of a proof is checked by the verifier and by the proof itself, and the message names the condition."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport import compare_series
from forestcoll.schedule.proof import (
    CutProof,
    LengthsProof,
    PartitionProof,
    PricesProof,
    Proof,
    ProofError,
    TreeDualProof,
    WeightedCut,
    proof_document,
    proof_from_document,
)
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Node, NodeKind, Shift, Symmetry, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks import checks
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.question import Question, UnprovenError
from networks import examples, ranks_for, uneven_networks
from oneport_platforms import figure_1, platform_of_costs

RING = build_topology("ring:nodes=4")
ALLREDUCE = NodeDemand(Collective.ALLREDUCE)
EXCHANGE = NodeDemand(Collective.ALL_TO_ALL)
SERIES = NodeDemand(Collective.BROADCAST, root=0)


def question_of(topology: Topology, demand: NodeDemand) -> Question:
    parts, ends = demand.parts(topology), (demand.sources, demand.targets)
    members = demand.members(topology)
    return Question(Network(topology), demand.collective, members, parts, demand.root, demand.matrix, *ends)


def one_way() -> Topology:
    """Return a network where node 1 does not reach node 0."""
    return replace(RING, nodes=RING.nodes[:2], links=RING.links[:1])


def with_hub(*, linked: bool = False) -> Topology:
    """Return the ring with a switch, which copies data. If `linked`, it has links to and from node 0 and node 1."""
    pairs = [(4, 0), (0, 4), (4, 1), (1, 4)] if linked else []
    links = tuple(replace(RING.links[0], source=source, target=target) for source, target in pairs)
    hub = Node("hub", NodeKind.SWITCH, multicast=True)
    return replace(RING, nodes=(*RING.nodes, hub), links=(*RING.links, *links))


def dual(inside: tuple[int, ...], symmetry: Symmetry | None = None) -> TreeDualProof:
    return TreeDualProof((WeightedCut(PhaseOp.BROADCAST, inside, Fraction(1)),), {}, symmetry or Symmetry(()))


def equal_roots() -> TreeDualProof:
    """Return a proof for the ring that uses equal roots: all data must leave each node, and enter it."""
    cuts = tuple(WeightedCut(phase, (node,), Fraction(1)) for phase in PhaseOp for node in range(4))
    return TreeDualProof(cuts, {phase: {} for phase in PhaseOp}, equal_roots=True)


def one_link_slower() -> Topology:
    """Return the ring with one link slower than the opposite one."""
    links = (replace(RING.links[0], bandwidth=Fraction(1, 2)), *RING.links[1:])
    return replace(RING, links=links)


def swaps_the_hub() -> Symmetry:
    return Symmetry((Shift(2, np.array([4, 1, 2, 3, 0], dtype=np.int32)),))


def turn(order: int, image: Sequence[int] = (1, 2, 3, 0)) -> Symmetry:
    return Symmetry((Shift(order, np.array(image, dtype=np.int32)),))


def with_islands() -> Topology:
    """Return the ring with a link between two switches that no other link joins, and a path of links from node 0."""
    switches = tuple(Node(name, NodeKind.SWITCH) for name in "wxyz")
    links = tuple(replace(RING.links[0], source=source, target=target) for source, target in ((4, 5), (0, 6), (6, 7)))
    return replace(RING, nodes=(*RING.nodes, *switches), links=(*RING.links, *links))


def across() -> Symmetry:
    """Return a shift that exchanges the two switches of the island with those of the path."""
    return turn(2, [0, 1, 2, 3, 6, 7, 4, 5])


def prices(*, price: int = 1, weight: int = 1, cut: tuple[int, ...] = (1,), times: int = 1) -> PricesProof:
    return PricesProof(((Port(PortKind.RECEIVE, 1), Fraction(price)),) * times, ((Fraction(weight), cut),))


UNPROVEN: list[tuple[Proof, Topology, NodeDemand, str]] = [
    (dual((0,)), RING, EXCHANGE, "do not support an all-to-all"),
    (dual((0, 1)), RING, NodeDemand(Collective.REDUCE_SCATTER), "set 0 belongs to a broadcast"),
    (dual((0,), swaps_the_hub()), with_hub(), NodeDemand(), "maps a node to one of another kind"),
    (dual((0,), turn(4)), one_link_slower(), NodeDemand(), "maps a link to no link of the same bandwidth"),
    (dual((0,), across()), with_islands(), NodeDemand(), "maps a link to no link of the same bandwidth"),
    (dual((1,)), RING, NodeDemand(Collective.BROADCAST, root=0), "the sets contain no data"),
    (equal_roots(), RING, NodeDemand(), "only a proof about an allreduce can choose equal roots"),
    (equal_roots(), one_link_slower(), ALLREDUCE, "the roots are equal, but a link has no opposite link"),
    (equal_roots(), with_hub(linked=True), ALLREDUCE, "the roots are equal, but a switch can copy data and not add"),
    (
        PartitionProof(((0, 1), (2, 3))),
        RING,
        NodeDemand(),
        "a partition bounds an allreduce only, and this is an allgather",
    ),
    (PartitionProof(((0, 1), (3,))), RING, ALLREDUCE, "a node is in no part"),
    (PartitionProof(((0, 1), (1, 2, 3))), RING, ALLREDUCE, "the list of parts contains a node twice"),
    (PartitionProof(((0, 1), (2, 3, 4))), RING, ALLREDUCE, "contains a number that is not the number of a node"),
    (PartitionProof(((0, 1, 2, 3),)), RING, ALLREDUCE, "there are fewer than two parts"),
    (PartitionProof(((0, 1, 2, 3), (4,))), with_hub(), ALLREDUCE, "or a part has no node that takes part"),
    (PartitionProof(((0, 1, 2, 3), ())), RING, ALLREDUCE, "or a part has no node that takes part"),
    (CutProof((0, 1)), RING, EXCHANGE, "a cut does not bound an all-to-all"),
    (
        LengthsProof.of(RING, (1,) * 8),
        RING,
        NodeDemand(),
        "lengths bound an all-to-all, a gather or a scatter only, and this is an allgather",
    ),
    (LengthsProof.of(RING, (-1,) * 8), RING, EXCHANGE, "a length is negative"),
    (LengthsProof(((0, 2),), (1,)), RING, EXCHANGE, "a length is given for a link that does not exist"),
    (LengthsProof((), ()), RING, EXCHANGE, "all distances are 0"),
    (LengthsProof(((0, 1),), (1,)), one_way(), EXCHANGE, "does not reach"),
    (prices(), figure_1(), NodeDemand(), "prices bound a series of broadcasts, and this is an allgather"),
    (prices(price=0), figure_1(), SERIES, "a price or the weight of a cut is 0 or less"),
    (prices(weight=-1), figure_1(), SERIES, "a price or the weight of a cut is 0 or less"),
    (prices(weight=0), figure_1(), SERIES, "a price or the weight of a cut is 0 or less"),
    (
        prices(),
        figure_1(),
        NodeDemand(Collective.REDUCE, root=0),
        "prices bound a series of broadcasts, and this is a red",
    ),
    (prices(times=2), figure_1(), SERIES, "a port has two prices"),
    (PricesProof((), ()), figure_1(), SERIES, "there is no cut"),
    (prices(cut=()), figure_1(), SERIES, "there is no cut, or one is empty"),
    (prices(cut=(0, 1)), figure_1(), SERIES, "contains the source or a switch"),
    (prices(weight=3), figure_1(), SERIES, "'s' -> '1' costs 1 at the prices, less than 3, the weight of the cuts"),
]


@pytest.mark.parametrize(("proof", "topology", "demand", "words"), UNPROVEN)
def test_the_judge_names_the_condition_that_fails(
    proof: Proof, topology: Topology, demand: NodeDemand, words: str
) -> None:
    with pytest.raises(UnprovenError) as caught:
        proven(proof, question_of(topology, demand))
    assert words in str(caught.value)
    with pytest.raises(ProofError):
        proof.algbw(topology, demand)


@pytest.mark.parametrize(
    ("proof", "topology", "demand", "words"),
    [each for each in UNPROVEN if isinstance(each[0], LengthsProof | PricesProof)],
)
def test_the_proof_gives_the_same_reason(proof: Proof, topology: Topology, demand: NodeDemand, words: str) -> None:
    with pytest.raises(ProofError) as caught:
        proof.algbw(topology, demand)
    assert words in str(caught.value)


def test_a_shift_has_an_order_of_two_or_more() -> None:
    with pytest.raises(UnprovenError, match="applied once as its order says"):
        proven(dual((0,), turn(1, range(4))), question_of(RING, NodeDemand()))


def test_a_link_has_one_length() -> None:
    twice = LengthsProof(((0, 1), (0, 1)), (1, 1))
    with pytest.raises(UnprovenError, match=r"^a link has two lengths$"):
        proven(twice, question_of(RING, EXCHANGE))


def test_a_kind_of_proof_without_a_check_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "CHECKS", {LengthsProof: checks.CHECKS[LengthsProof]})
    with pytest.raises(UnprovenError, match="there is no check for proofs of kind 'cut'"):
        proven(CutProof((0,)), question_of(RING, NodeDemand()))


def by_switch() -> Topology:
    """Return three nodes that share a switch; two of them also have a link of their own."""
    costs = [("a", "x", 1), ("x", "b", 1), ("x", "c", 2), ("b", "c", 3)]
    return platform_of_costs("abc", costs, switches="x")


def without_ports() -> Topology:
    return replace(by_switch(), port_model=None)


@pytest.mark.parametrize("network", [figure_1, by_switch, without_ports])
def test_the_judge_and_the_proof_compute_the_same_throughput(network: Callable[[], Topology]) -> None:
    """The best proof of each network is valid, and the proof of one port model may fail for the other."""
    topology = network()
    schedule = compare_series(topology, topology.nodes[0].id).schedule()
    assert schedule.bound is not None
    proof = schedule.bound.proof
    assert proof.algbw(topology, SERIES) == proven(proof, question_of(topology, SERIES)) == schedule.bound.algbw


def test_ports_of_nodes_have_no_price_without_the_one_port_model() -> None:
    topology = replace(figure_1(), port_model=None)
    with pytest.raises(UnprovenError, match="costs 0 at the prices, less than 1"):
        proven(prices(), question_of(topology, SERIES))
    with pytest.raises(ProofError, match="costs 0 at the prices, less than 1"):
        prices().algbw(topology, SERIES)


@pytest.mark.parametrize("network", [figure_1, by_switch, without_ports])
def test_prices_are_read_back_unchanged(network: Callable[[], Topology]) -> None:
    topology = network()
    schedule = compare_series(topology, topology.nodes[0].id).schedule()
    assert schedule.bound is not None
    document = json.loads(json.dumps(proof_document(schedule.bound.proof)))
    assert proof_from_document(document, topology, "proof") == schedule.bound.proof


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"kind": "prices"}, 'proof has no "prices"'),
        ({"kind": "prices", "prices": []}, 'proof has no "cuts"'),
        (
            {"kind": "prices", "prices": [{"port": "neither"}], "cuts": []},
            "proof.prices[0].port is 'neither'; this version supports 'send', 'receive', 'both', 'link'",
        ),
        (
            {"kind": "prices", "prices": [{"port": "link", "link": 99, "price": 1}], "cuts": []},
            "proof.prices[0].link is 99; expected an integer from 0 to 5",
        ),
        (
            {"kind": "prices", "prices": [{"port": "send", "node": 0, "price": "x"}], "cuts": []},
            "proof.prices[0].price 'x' is not a number",
        ),
        (
            {"kind": "prices", "prices": [], "cuts": [{"weight": 1, "nodes": [9]}]},
            "proof.cuts[0].nodes[0] is 9; expected an integer from 0 to 4",
        ),
    ],
)
def test_invalid_prices_are_refused_with_their_place(document: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        proof_from_document(document, figure_1(), "proof")
    assert str(caught.value).startswith(message)


def test_equal_roots_prove_a_bound_where_links_are_full_duplex() -> None:
    assert equal_roots().algbw(RING, ALLREDUCE) == proven(equal_roots(), question_of(RING, ALLREDUCE)) == 4


@examples(60)
@given(uneven_networks(most=6), st.data())
def test_the_judge_and_the_proof_compute_the_same_bound_of_a_partition(topology: Topology, data: st.DataObject) -> None:
    """No schedule exceeds the bound, on any network."""
    ranks = data.draw(ranks_for(topology))
    members = [topology.compute[place] for place in ranks]
    demand = NodeDemand(Collective.ALLREDUCE, ranks=tuple(members))
    count = data.draw(st.integers(2, len(members)))
    parts: list[list[int]] = [[] for _ in range(count)]
    for place, member in enumerate(members):
        parts[place % count].append(member)
    for node in set(range(len(topology.nodes))).difference(members):
        parts[data.draw(st.integers(0, count - 1))].append(node)
    proof = PartitionProof(tuple(tuple(sorted(part)) for part in parts))
    assert proof_from_document(proof_document(proof), topology, "certificate") == proof
    bound = proof.algbw(topology, demand)
    assert proven(proof, question_of(topology, demand)) == bound
    try:
        best = optimum(topology, "allreduce", ranks=ranks)
    except NoSolutionError:
        return
    assert best.algbw <= bound


def test_roots_in_a_document_are_equal_or_missing() -> None:
    document = proof_document(equal_roots())
    assert document["roots"] == "equal"
    assert proof_from_document(document, RING, "certificate") == equal_roots()
    with pytest.raises(InputError, match=r"certificate\.roots is 'any'; expected 'equal' or no such key"):
        proof_from_document({**document, "roots": "any"}, RING, "certificate")
