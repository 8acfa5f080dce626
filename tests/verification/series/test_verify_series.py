"""Every rule of the verifier of periodic schedules, with a schedule that violates it."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.demand.collective import Collective
from forestcoll.oneport import compare_series
from forestcoll.schedule.proof import Bound, CutProof, PricesProof, Proof
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import Round, SeriesSchedule, SeriesTree, Transfer
from forestcoll.topology import TopologyBuilder
from forestcoll.verification import verify
from forestcoll.verification.claims import Claim
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.rule import first_fault
from forestcoll.verification.series.verifier import CLAIMS, RULES, series_rules
from oneport_platforms import FIGURE_1, figure_1, platform_of_costs

GOOD = compare_series(figure_1(), "s").schedule()
ROUND = GOOD.rounds[0]
Schedule = SeriesSchedule


def with_tree(schedule: Schedule, number: int, tree: SeriesTree) -> Schedule:
    return replace(schedule, trees=(*schedule.trees[:number], tree, *schedule.trees[number + 1 :]))


def with_routes(*routes: tuple[int, ...]) -> Schedule:
    return with_tree(GOOD, 0, SeriesTree(GOOD.trees[0].weight, routes))


def with_rounds(*rounds: Round) -> Schedule:
    return replace(GOOD, rounds=rounds)


def with_certificate(**changes: object) -> Schedule:
    assert GOOD.bound is not None
    assert isinstance(GOOD.bound.proof, PricesProof)
    proof = replace(GOOD.bound.proof, **changes)  # type: ignore[arg-type]
    return replace(GOOD, bound=replace(GOOD.bound, proof=proof))


def with_bound(throughput: int, collective: Collective = Collective.BROADCAST, proof: Proof | None = None) -> Schedule:
    assert GOOD.bound is not None
    return replace(GOOD, bound=Bound(collective, Fraction(throughput), proof or GOOD.bound.proof))


def half_rounds() -> Schedule:
    """Return rounds in another order, so that links stop in the middle of a message."""
    first, second, third, fourth = GOOD.rounds
    return with_rounds(first, third, second, fourth)


BROKEN: list[tuple[str, Callable[[], Schedule], str]] = [
    ("trees", lambda: with_routes((0, 1), (1, 2), (2, 4), (1, 4)), "tree 0: there is no link '1' -> '4'"),
    ("trees", lambda: with_routes((0, 1), (2, 4), (1, 2), (1, 3)), "tree 0: '2' sends before it is reached"),
    (
        "trees",
        lambda: with_routes((0, 1), (0, 2), (1, 2), (1, 3)),
        "tree 0: '2' is entered twice, or is a switch",
    ),
    ("trees", lambda: with_routes((0, 1), (1, 2), (1, 3)), "tree 0 does not reach '4'"),
    ("trees", lambda: with_routes((0, 1, 2), (2, 4)), "tree 0: a route goes through a compute node"),
    (
        "weights",
        lambda: with_tree(GOOD, 0, replace(GOOD.trees[0], weight=Fraction(3, 4))),
        "tree 0: its weight makes 3/2 messages a period; expected 1 or more, whole",
    ),
    (
        "weights",
        lambda: with_tree(GOOD, 0, replace(GOOD.trees[0], weight=Fraction(0))),
        "tree 0: its weight makes 0 messages a period; expected 1 or more, whole",
    ),
    ("weights", lambda: replace(GOOD, messages=3), "the trees carry 2 messages a period; expected 3"),
    (
        "rounds",
        lambda: with_rounds(replace(ROUND, duration=Fraction(0)), *GOOD.rounds[1:]),
        "round 0 takes 0; expected more than 0",
    ),
    (
        "rounds",
        lambda: with_rounds(*GOOD.rounds, ROUND),
        "the rounds take 5/2 in total, more than the period of 2",
    ),
    (
        "ports",
        lambda: with_rounds(replace(ROUND, transfers=ROUND.transfers * 2), *GOOD.rounds[1:]),
        "round 0: a link is used twice at the same time ('s' -> '1' of tree 0, 's' -> '1' of tree 0)",
    ),
    (
        "ports",
        lambda: with_rounds(
            replace(ROUND, transfers=(*GOOD.rounds[0].transfers, *GOOD.rounds[2].transfers)), *GOOD.rounds[1:]
        ),
        "round 0: '1' sends two messages at the same time ('1' -> '2' of tree 0, '1' -> '3' of tree 0)",
    ),
    (
        "work",
        lambda: with_rounds(*GOOD.rounds[1:]),
        "'s' -> '1' of tree 0 carries 1/2 messages a period; expected 1",
    ),
    (
        "work",
        lambda: with_rounds(*(replace(each, transfers=()) for each in GOOD.rounds)),
        "'s' -> '1' of tree 0 carries 0 messages a period; expected 1",
    ),
    ("whole-messages", half_rounds, "'s' -> '1' of tree 0 is interrupted within a message when round 1 begins"),
    (
        "certificate",
        lambda: with_certificate(prices=((Port(PortKind.RECEIVE, 1), Fraction(-1)),)),
        "a price or the weight of a cut is 0 or less",
    ),
    (
        "certificate",
        lambda: with_certificate(prices=((Port(PortKind.RECEIVE, 1), Fraction(1)),) * 2),
        "a port has two prices",
    ),
    (
        "certificate",
        lambda: with_certificate(cuts=((Fraction(1), (0, 1)),)),
        "there is no cut, or one is empty or contains the source or a switch",
    ),
    (
        "certificate",
        lambda: with_certificate(cuts=((Fraction(3), (1,)),)),
        "'s' -> '1' costs 1 at the prices, less than 3, the weight of the cuts that it enters",
    ),
    (
        "optimum",
        lambda: with_bound(2),
        "the certificate proves 1, not the claimed 2",
    ),
    (
        "certificate",
        lambda: with_bound(1, Collective.ALLGATHER),
        "the bound is one of an allgather; expected one of a broadcast",
    ),
    (
        "certificate",
        lambda: with_bound(1, proof=CutProof((0,))),
        "the certificate is a proof of kind 'cut'; expected 'prices'",
    ),
]


def test_the_unchanged_schedule_is_correct() -> None:
    assert verify(GOOD).ok
    assert verify(GOOD).optimal


@pytest.mark.parametrize(("rule", "broken", "message"), BROKEN)
def test_the_fault_names_the_violated_rule_and_the_place(
    rule: str, broken: Callable[[], Schedule], message: str
) -> None:
    fault = verify(broken()).fault
    assert fault is not None
    assert (fault.rule, fault.message) == (rule, message)


def test_a_switch_cannot_be_the_source() -> None:
    topology = platform_of_costs("ab", [("a", "w", 1), ("w", "b", 1)], switches="w")
    fault = verify(replace(compare_series(topology, "a").schedule(), source=2)).fault
    assert fault is not None
    assert (fault.rule, fault.message) == ("source", "the source 'w' is a switch")


def test_with_a_weaker_certificate_the_schedule_is_not_optimal() -> None:
    prices = tuple((Port(PortKind.RECEIVE, node), Fraction(1)) for node in (1, 2))
    weaker = with_bound(2, proof=PricesProof(prices, ((Fraction(1), (1,)),)))
    report = verify(weaker)
    assert (report.fault, report.optimal) == (None, False)


def test_without_a_certificate_nothing_is_proven() -> None:
    report = verify(replace(GOOD, bound=None))
    assert (report.ok, report.optimal, str(report.throughput)) == (True, False, "1")


def test_a_throughput_above_the_proven_bound_is_a_fault() -> None:
    """No correct schedule exceeds a valid proof, so the claim gets a throughput that the schedule does not have."""
    claim = Claim(GOOD, Network(GOOD.topology), Fraction(3, 2), (PricesProof,))
    fault = first_fault(claim, CLAIMS)
    assert fault is not None
    assert (fault.rule, fault.message) == ("optimum", "the throughput is above the 1 that the certificate proves")
    assert first_fault(replace(claim, achieved=Fraction(1)), CLAIMS) is None
    assert first_fault(replace(claim, achieved=None), CLAIMS) is None


def test_a_claim_without_a_bound_proves_nothing() -> None:
    claim = Claim(replace(GOOD, bound=None), Network(GOOD.topology), GOOD.algbw, (PricesProof,))
    with pytest.raises(UnprovenError, match="there is no proof"):
        _ = claim.proven


def test_receiving_two_messages_at_the_same_time_is_a_fault() -> None:
    edges = [tree.edges for tree in GOOD.trees]
    clash = (Transfer(0, edges[0].index((0, 1))), Transfer(1, edges[1].index((2, 1))))
    fault = verify(with_rounds(replace(ROUND, transfers=clash), *GOOD.rounds[1:])).fault
    assert fault is not None
    assert (
        fault.message
        == "round 0: '1' receives two messages at the same time ('s' -> '1' of tree 0, '2' -> '1' of tree 1)"
    )


def test_the_report_of_a_wrong_schedule_claims_nothing() -> None:
    right, wrong = verify(GOOD), verify(half_rounds())
    assert (right.bound, right.optimal) == (GOOD.bound, True)
    assert (wrong.bound, wrong.optimal) == (None, False)


def test_the_rules_are_listed_in_their_order() -> None:
    assert [name for name, _ in series_rules()] == [rule.id for rule in RULES] + [rule.id for rule in CLAIMS]


def test_a_message_needs_its_whole_time_on_a_slow_link() -> None:
    slow = compare_series(
        platform_of_costs("s1234", [(one, other, 4 * cost) for one, other, cost in FIGURE_1]), "s"
    ).schedule()
    assert verify(slow).ok
    first, second, third, fourth = slow.rounds
    fault = verify(replace(slow, rounds=(first, third, second, fourth))).fault
    assert fault is not None
    assert fault.rule == "whole-messages"


def through_a_switch(*routes: tuple[int, ...], node: str = "b") -> Schedule:
    """Return a series from node 0 over switch 2 to `node`, with these routes in each tree."""
    builder = TopologyBuilder("line", port_model="one-port")
    for name in ("a", node):
        builder.add_compute(name)
    builder.add_switch("w")
    builder.add_link("a", "w", 1)
    builder.add_link("w", node, 1)
    good = compare_series(builder.build(), "a").schedule()
    return replace(good, trees=tuple(replace(tree, routes=routes or tree.routes) for tree in good.trees))


def test_a_route_may_go_through_a_switch() -> None:
    assert verify(through_a_switch()).ok
    assert through_a_switch().trees[0].routes == ((0, 2, 1),)


@pytest.mark.parametrize(
    ("routes", "node"), [([(0, 2, 1), (0, 2, 1)], "'b'"), ([(0, 2)], "'w'"), ([(0, 2), (2, 1)], "'w'")]
)
def test_a_route_ends_on_a_new_compute_node(routes: list[tuple[int, ...]], node: str) -> None:
    fault = verify(through_a_switch(*routes)).fault
    assert fault is not None
    assert fault.message == f"tree 0: {node} is entered twice, or is a switch"


@pytest.mark.parametrize(("length", "shown"), [(98, repr("n" * 98)), (99, "'" + "n" * 99 + "...")])
def test_a_long_id_is_cut(length: int, shown: str) -> None:
    fault = verify(through_a_switch((0, 2, 1), (0, 2, 1), node="n" * length)).fault
    assert fault is not None
    assert fault.message == f"tree 0: {shown} is entered twice, or is a switch"


def test_a_half_duplex_node_does_not_send_while_it_receives() -> None:
    builder = TopologyBuilder("path", port_model="half-duplex")
    for node in "sab":
        builder.add_compute(node)
    builder.add_duplex("s", "a", 1)
    builder.add_duplex("a", "b", 1)
    good = compare_series(builder.build(), "s").schedule()
    together = Round(good.period, tuple(transfer for each in good.rounds for transfer in each.transfers))
    fault = verify(replace(good, rounds=(together,))).fault
    assert fault is not None
    assert "'a' sends or receives two messages at the same time" in fault.message
