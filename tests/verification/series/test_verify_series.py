"""Every rule of the verifier of periodic schedules, with a schedule that violates it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

import fault_lists
from forestcoll.demand.collective import Collective
from forestcoll.oneport import compare_series
from forestcoll.schedule.proof import Bound, CutProof, PricesProof, Proof
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.series.value import Round, SeriesSchedule, SeriesTree, Transfer
from forestcoll.verification import verify
from forestcoll.verification.claims import Claim
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.rule import first_fault
from forestcoll.verification.series.verifier import CLAIMS, RULES, series_rules
from networks import linked
from oneport_platforms import FIGURE_1, figure_1, platform_of_costs

GOOD = compare_series(figure_1(), "s").schedule()
ROUND, *OTHERS = GOOD.rounds
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


def through_a_switch(*routes: tuple[int, ...], node: str = "b") -> Schedule:
    """Return a series from node 0 over switch 2 to `node`, with these routes in each tree."""
    line = linked(f"a {node}", f"a>w w>{node}", switches="w", name="line", port_model="one-port")
    good = compare_series(line, "a").schedule()
    return replace(good, trees=tuple(replace(tree, routes=routes or tree.routes) for tree in good.trees))


def slow() -> Schedule:
    costs = [(one, other, 4 * cost) for one, other, cost in FIGURE_1]
    return compare_series(platform_of_costs("s1234", costs), "s").schedule()


def half_duplex() -> Schedule:
    return compare_series(linked("s a b", "s=a a=b", name="path", port_model="half-duplex"), "s").schedule()


def of_trees() -> Iterator[tuple[str, Schedule]]:
    """Yield schedules with wrong trees, weights or sources."""
    yield "a tree without a link", with_routes((0, 1), (1, 2), (2, 4), (1, 4))
    yield "a node sends before it is reached", with_routes((0, 1), (2, 4), (1, 2), (1, 3))
    yield "a node is entered twice", with_routes((0, 1), (0, 2), (1, 2), (1, 3))
    yield "a node is not reached", with_routes((0, 1), (1, 2), (1, 3))
    yield "a route through a node", with_routes((0, 1, 2), (2, 4))
    first = GOOD.trees[0]
    for weight in (Fraction(3, 4), Fraction(0)):
        yield f"a weight of {weight}", with_tree(GOOD, 0, replace(first, weight=weight))
    yield "a message too many", replace(GOOD, messages=3)
    topology = platform_of_costs("ab", [("a", "w", 1), ("w", "b", 1)], switches="w")
    yield "a source that is a switch", replace(compare_series(topology, "a").schedule(), source=2)
    yield "a node behind a switch is entered twice", through_a_switch((0, 2, 1), (0, 2, 1))
    yield "a route to a switch", through_a_switch((0, 2))
    yield "a route to a switch and one from it", through_a_switch((0, 2), (2, 1))
    for length in (98, 99):
        yield f"an id of {length} letters", through_a_switch((0, 2, 1), (0, 2, 1), node="n" * length)


def of_rounds() -> Iterator[tuple[str, Schedule]]:
    """Yield schedules with wrong rounds."""
    yield "a round without time", with_rounds(replace(ROUND, duration=Fraction(0)), *OTHERS)
    yield "a round too many", with_rounds(*GOOD.rounds, ROUND)
    yield "a link is used twice", with_rounds(replace(ROUND, transfers=ROUND.transfers * 2), *OTHERS)
    both = replace(ROUND, transfers=(*ROUND.transfers, *GOOD.rounds[2].transfers))
    yield "a node sends twice", with_rounds(both, *OTHERS)
    edges = [tree.edges for tree in GOOD.trees]
    clash = (Transfer(0, edges[0].index((0, 1))), Transfer(1, edges[1].index((2, 1))))
    yield "a node receives twice", with_rounds(replace(ROUND, transfers=clash), *OTHERS)
    good = half_duplex()
    together = Round(good.period, tuple(transfer for each in good.rounds for transfer in each.transfers))
    yield "a half-duplex node sends while it receives", replace(good, rounds=(together,))
    yield "a round too few", with_rounds(*OTHERS)
    yield "rounds without transfers", with_rounds(*(replace(each, transfers=()) for each in GOOD.rounds))
    yield "links stop within a message", half_rounds()
    first, second, third, fourth = slow().rounds
    yield "slow links stop within a message", replace(slow(), rounds=(first, third, second, fourth))


def of_claims() -> Iterator[tuple[str, Schedule]]:
    """Yield schedules whose certificate does not prove their bound."""
    port = Port(PortKind.RECEIVE, 1)
    yield "a negative price", with_certificate(prices=((port, Fraction(-1)),))
    yield "two prices of a port", with_certificate(prices=((port, Fraction(1)),) * 2)
    yield "a cut with the source", with_certificate(cuts=((Fraction(1), (0, 1)),))
    yield "a heavy cut", with_certificate(cuts=((Fraction(3), (1,)),))
    yield "another bound", with_bound(2)
    yield "a bound of an allgather", with_bound(1, Collective.ALLGATHER)
    yield "a cut as a certificate", with_bound(1, proof=CutProof((0,)))


def test_every_message_of_a_series() -> None:
    found = [(name, verify(schedule).fault) for name, schedule in (*of_trees(), *of_rounds(), *of_claims())]
    fault_lists.check("series", found)
    violated = {fault.rule for _, fault in found if fault is not None}
    assert {name for name, _ in series_rules()} - violated == {"bandwidths", "shared"}  # in test_shared_bandwidth


@pytest.mark.parametrize("make", [lambda: GOOD, slow, half_duplex, through_a_switch])
def test_unchanged_schedules_are_correct(make: Callable[[], Schedule]) -> None:
    assert (verify(make()).fault, verify(make()).optimal) == (None, True)
    assert through_a_switch().trees[0].routes == ((0, 2, 1),)


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


def test_the_report_of_a_wrong_schedule_claims_nothing() -> None:
    right, wrong = verify(GOOD), verify(half_rounds())
    assert (right.bound, right.optimal) == (GOOD.bound, True)
    assert (wrong.bound, wrong.optimal) == (None, False)


def test_the_rules_are_listed_in_their_order() -> None:
    assert [name for name, _ in series_rules()] == [rule.id for rule in RULES] + [rule.id for rule in CLAIMS]
