"""The whole message of each fault of a step schedule, and schedules that are right although they look wrong."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from test_step_symmetry import compact, shifted, with_an_image_twice
from test_verify_routes import RIGHT, crossing
from test_verify_steps import Steps, listed, with_phases

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import Bound, CutProof, LengthsProof, ReceiptProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.steps.rules import step_rules
from networks import linked

Sent = tuple[int, str, str, int, int]
"""The shard, the begin and the end of the part, the source and the target of a transfer."""

RING = build_topology("ring:nodes=4")


def triangle(*, descending: bool = False) -> Topology:
    """Return three nodes with links between all, with bandwidths from 1 to 6: node 0 sends least or, else, node 2."""
    ends = enumerate(permutations("abc", 2))
    links = (f"{one}>{other}:{6 - place if descending else 1 + place}" for place, (one, other) in ends)
    return linked("a b c", " ".join(links), name="triangle")


TRIANGLE = triangle()
DESCENDING = triangle(descending=True)


def phase_of(*steps: list[Sent], op: PhaseOp = PhaseOp.BROADCAST) -> StepPhase:
    listed = [[Transfer(shard, Fraction(low), Fraction(high), *ends) for shard, low, high, *ends in s] for s in steps]
    return StepPhase(op, Transfers.of(listed))


def allgather(*steps: list[Sent], **changes: Any) -> StepSchedule:
    return replace(StepSchedule(TRIANGLE, Collective.ALLGATHER, (phase_of(*steps),)), **changes)


def whole(shard: int, source: int, target: int) -> Sent:
    return (shard, "0", "1", source, target)


DIRECT = [whole(one, one, other) for one in range(3) for other in range(3) if one != other]
"""Each node sends its shard to each other one."""


def without(*left_out: Sent) -> list[Sent]:
    return [sent for sent in DIRECT if sent not in left_out]


def direct(topology: Topology) -> list[Sent]:
    """Return the transfers in which each node sends each other one its part."""
    count = len(topology.nodes)
    ends = [str(Fraction(place, count)) for place in range(count + 1)]
    return [(one, ends[other], ends[other + 1], one, other) for one, other in permutations(range(count), 2)]


def exchange(*parts: tuple[str, str]) -> StepSchedule:
    """Return an all-to-all in which node 0 sends these parts of its buffer to node 1, which needs [1/3, 2/3)."""
    step = [(0, *part, 0, 1) for part in parts] + [sent for sent in direct(TRIANGLE) if sent[3:] != (0, 1)]
    return StepSchedule(TRIANGLE, Collective.ALL_TO_ALL, (phase_of(step),))


NEEDED = ("1/3", "2/3")
PARTS: list[list[tuple[str, str]]] = [
    [NEEDED],
    [("1/3", "1/2"), ("1/2", "2/3")],
    [("1/2", "2/3"), ("1/3", "1/2")],
    [("0", "1")],
    [("1/2", "1"), ("0", "1/2")],
    [("1/3", "1/2"), ("5/12", "2/3")],
    [("0", "1/6"), NEEDED, ("5/6", "1")],
    [],
    [("1/3", "1/2")],
    [("1/2", "2/3")],
    [("1/3", "5/12"), ("1/2", "2/3")],
    [("0", "1/3"), ("2/3", "1")],
    [("1/3", "1/2"), ("7/12", "1")],
    [("0", "1/6")],
]
"""Parts of the buffer that are sent: the first seven contain what is needed, the others too little."""


def of_exchanges() -> Iterator[tuple[str, StepSchedule]]:
    """Yield all-to-alls, which may send parts in pieces and more than needed."""
    for parts in PARTS:
        yield f"an all-to-all of {', '.join(f'[{low}, {high})' for low, high in parts) or 'nothing'}", exchange(*parts)
    for more, lacks in (((0, "0", "1", 0, 1), (1, 0)), ((0, "0", "1", 0, 2), (0, 1))):
        step = [more, *(sent for sent in direct(TRIANGLE) if sent[3:] != lacks)]
        lacking = StepSchedule(TRIANGLE, Collective.ALL_TO_ALL, (phase_of(step),))
        yield f"an all-to-all in which another node receives what {lacks[1]} needs from {lacks[0]}", lacking


HALVES = [(0, "0", "1/2", 0, 1), (0, "1/2", "1", 0, 1)]


def of_data() -> Iterator[tuple[str, StepSchedule]]:
    """Yield allgathers, each with its name, most of which send data that is missing or too late."""
    late = without(whole(0, 0, 2))
    yield "sent as it arrives", allgather([], [], [*late, whole(0, 1, 2)])
    yield "sent after it arrived", allgather([], [], late, [whole(0, 1, 2)])
    yield "half sent as it arrives", allgather([(0, "0", "1/2", 1, 2), *late], [(0, "1/2", "1", 1, 2)])
    quarters = [(0, "0", "1/4", 0, 1), (0, "1/4", "1/2", 0, 1)]
    rest = without(whole(0, 0, 1), whole(0, 0, 2))
    second = [(0, "0", "1/2", 1, 2), (0, "1/2", "1", 0, 2), (0, "1/2", "1", 0, 1)]
    yield "a part that came in two pieces", allgather([*quarters, *rest], second)
    yield "a part of which the second piece is late", allgather([quarters[0], *rest], [quarters[1], *second])
    yield "half of a shard is missing", allgather([HALVES[1], *without(whole(0, 0, 1))])
    yield "the other half is missing", allgather([HALVES[0], *without(whole(0, 0, 1))])
    yield "half of a shard twice", allgather([HALVES[0], HALVES[0], *without(whole(0, 0, 1))])
    yield "half of another shard is missing", allgather([(1, "1/2", "1", 1, 2), *without(whole(1, 1, 2))])
    of_b = [(1, "0", "1/4", 1, 2), (1, "1/4", "1/2", 1, 2)]
    then = [(1, "0", "1/2", 2, 0), (1, "1/2", "1", 1, 0), (1, "1/2", "1", 1, 2)]
    yield "a part of another shard in two pieces", allgather([*of_b, *without(whole(1, 1, 0), whole(1, 1, 2))], then)
    ends = [(one, "1/2", "1", one, other) for one in range(3) for other in range(3) if one != other]
    yield "all first halves are missing", allgather(ends)
    yield "all second halves are missing", allgather([(each[0], "0", "1/2", *each[3:]) for each in ends])
    last = [(2, "0", "1/2", 2, 1), *without(whole(2, 2, 1), whole(2, 2, 0))]
    yield "the last piece is too short", allgather(last, [whole(2, 1, 0)])
    yield "a shard returns to its owner", allgather(DIRECT, [whole(2, 1, 2), whole(2, 0, 2)])


def of_form() -> Iterator[tuple[str, StepSchedule]]:
    """Yield schedules, each with its name, most of which have a wrong form or claim."""
    empty = (Fraction(1), Fraction(0), Fraction(0))
    only = [whole(0, 0, 1), whole(0, 0, 2)]
    yield "shards of no size need not be sent", allgather(only, shards=empty)
    yield "shards of equal size", allgather(DIRECT, shards=(Fraction(1, 3),) * 3)
    yield "an all-to-all with shards", replace(exchange(NEEDED), shards=(Fraction(1, 3),) * 3)
    both = bfb(RING, "allreduce")
    first, then = both.phases
    lost = then.transfers.only(range(1))
    yield "the second phase of an allreduce ends early", replace(both, phases=(first, replace(then, transfers=lost)))
    turned = then.transfers.backwards()
    yield "the second phase is reversed", replace(both, phases=(first, replace(then, transfers=turned)))
    routes = np.full(len(then.transfers), -1, dtype=np.int32)
    routes[3] = 0
    wrong = replace(then, transfers=replace(then.transfers, routes=routes))
    yield "a route of the second phase", replace(both, phases=(first, wrong), routes=Rows.of([[0, 2]]))
    yield "a first hop without a link", crossing((0, 2, 1), (1, 0, 3))
    yield "another route of the second phase", replace(both, phases=(first, wrong), routes=Rows.of([[0, 1, 2]]))
    long = bfb(build_topology("ring:nodes=9"), "reduce-scatter")
    [(op, steps)] = listed(long)
    steps[-1] *= 2
    yield "a step of a long reduce is sent twice", with_phases(long, [(op, steps)])
    yield "too few phases", replace(both, phases=(first,))
    yield "too many phases", replace(both, collective=Collective.ALLGATHER)
    columns = first.transfers
    doubled = replace(columns, points=(columns.points[0],) * len(columns.points))
    yield "equal points", replace(both, phases=(replace(first, transfers=doubled), then))
    yield "an owner that is no node", allgather([(3, "0", "1", 0, 1), *DIRECT])
    yield "a source that is no node", allgather([(0, "0", "1", -1, 1), *DIRECT])
    for name, proof in (("a receipt", ReceiptProof()), ("a cut", CutProof((0,)))):
        claimed = Bound(Collective.ALL_TO_ALL, Fraction(9, 2), proof)
        yield f"an all-to-all with {name}", replace(exchange(NEEDED), bound=claimed)
    weak = Bound(Collective.ALL_TO_ALL, Fraction(5), LengthsProof.of(TRIANGLE, (1,) * 6))
    yield "a bound of an all-to-all that is not proven", replace(exchange(NEEDED), bound=weak)


def with_a_quarter_twice(steps: Steps) -> None:
    """Node 1 receives the first quarter of shard 0 twice and the last half once; the second quarter is missing."""
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    steps[0].remove(WHOLE)
    steps[0] += [WHOLE._replace(high=quarter), WHOLE._replace(high=quarter), WHOLE._replace(low=half)]


EMPTY = Transfer(0, Fraction(1), Fraction(1), 0, 1)
WHOLE = EMPTY._replace(low=Fraction(0))
CHANGES: dict[str, tuple[str, Callable[[Steps], object]]] = {
    "the last transfer is missing": ("allgather", lambda s: s[1].pop()),
    "steps in reverse": ("allgather", lambda s: s.reverse()),
    "a transfer without a link": ("allgather", lambda s: s[0].append(WHOLE._replace(target=2))),
    "an empty part": ("allgather", lambda s: s[0].append(EMPTY)),
    "a part that is too long": ("allgather", lambda s: s[0].append(WHOLE._replace(high=Fraction(9, 8)))),
    "a shard that is no node": ("allgather", lambda s: s[0].append(WHOLE._replace(shard=9))),
    "a target that is no node": ("allgather", lambda s: s[0].append(WHOLE._replace(target=-1))),
    "a quarter twice": ("allgather", with_a_quarter_twice),
    "the last summand is missing": ("reduce-scatter", lambda s: s[0].pop()),
    "steps of a sum in reverse": ("reduce-scatter", lambda s: s.reverse()),
    "a summand twice": ("reduce-scatter", lambda s: s[1].append(s[1][0])),
    "a sum leaves its node": ("reduce-scatter", lambda s: s[0].append(WHOLE)),
}


def of_transfers() -> Iterator[tuple[str, StepSchedule]]:
    """Yield the allgather or reduce-scatter of the ring with other transfers."""
    for name, (kind, change) in CHANGES.items():
        [(op, steps)] = listed(bfb(RING, kind))
        change(steps)
        yield name, with_phases(bfb(RING, kind), [(op, steps)])
    [reduce, (op, steps)] = listed(bfb(RING, "allreduce"))
    steps[0][0] = steps[0][0]._replace(target=9)
    yield "a target of the second phase", with_phases(bfb(RING, "allreduce"), [reduce, (op, steps)])
    yield "no transfers", with_phases(bfb(RING), [(PhaseOp.BROADCAST, [[]])])


def with_columns(schedule: StepSchedule, **columns: Any) -> StepSchedule:
    (phase,) = schedule.phases
    return replace(schedule, phases=(replace(phase, transfers=replace(phase.transfers, **columns)),))


COLUMNS = {
    "sources": [[0]],
    "starts": [[1, 8, 16], [0, 9, 8, 16], [0, 8], []],
    "lows": [[9] * 16],
    "highs": [[-1] * 16],
}


def of_columns() -> Iterator[tuple[str, StepSchedule]]:
    """Yield schedules whose columns or shards do not fit, as no file has them."""
    for column, lists in COLUMNS.items():
        for values in lists:
            yield f"{column} {values}", with_columns(bfb(RING), **{column: np.array(values, dtype=np.int32)})
    yield "points that fall", with_columns(bfb(RING), points=bfb(RING).phases[0].transfers.points[::-1])
    yield "another collective", replace(bfb(RING), collective=Collective.BROADCAST)
    for shards in ([1], [2, -1, 0, 0], [1, 1, 0, 0]):
        yield f"shards {shards}", replace(bfb(RING), shards=tuple(map(Fraction, shards)))


def of_routes() -> Iterator[tuple[str, StepSchedule]]:
    """Yield schedules with a wrong route, with other ranks, or with columns of routes that do not fit."""
    for first, second in WRONG_ROUTES:
        yield f"routes {first} and {second}", crossing(first, second)
    yield "a transfer to a switch", crossing((0, 2), (1, 2, 0), sent=((0, 2, 0), (1, 0, 1)))
    yield "a transfer without a route", crossing(*RIGHT, sent=((0, 1, None), (1, 0, 1)))
    yield "a route after the last one", crossing(*RIGHT, sent=((0, 1, 0), (1, 0, 2)))
    yield "a negative route", crossing(*RIGHT, sent=((0, 1, 0), (1, 0, -2)))
    right = crossing(*RIGHT)
    for ranks in ((0,), (1, 0), (0, 2), (0, 9), (0, 0), (0, 4)):
        yield f"ranks {ranks}", replace(right, ranks=ranks)
    yield "an idle node receives", replace(bfb(build_topology("ring:nodes=3")), ranks=(0, 1))
    yield "a column of routes that is too short", with_columns(right, routes=np.array([0], dtype=np.int32))
    falling = Rows(np.array([0, 3, 1, 7]), np.array([0, 2, 1, 1, 3, 2, 0]))
    yield "starts of routes that fall", replace(right, routes=falling)


WRONG_ROUTES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((0, 2, 1), (1,)),
    ((0, 2, 1), ()),
    ((0, 2, 1), (1, 2, 3, 2, 0)),
    ((0, 2, 1), (1, 0)),
    ((0, 2, 3, 0, 1), (1, 2, 0)),
    ((1, 2, 0), (1, 2, 0)),
    ((0, 2), (1, 2, 0)),
    ((2, 1), (1, 2, 0)),
    ((0, 2, 1), (1, 9, 0)),
]


def of_claims() -> Iterator[tuple[str, StepSchedule]]:
    """Yield the allreduce of the ring with a wrong claim."""
    right = generate(RING, "allreduce", "bfb")
    yield "a bound of an allgather", replace(right, bound=Bound(Collective.ALLGATHER, Fraction(2), CutProof((0,))))
    yield "another algbw", replace(right, algbw=Fraction(1, 7))
    yield "a wrong bound in a claim", replace(right, bound=Bound(right.collective, Fraction(1, 7), ReceiptProof()))
    for name, inside in (("a node twice", (0, 0)), ("all nodes", (0, 1, 2, 3)), ("no nodes", ())):
        yield f"{name} in a claim", replace(right, bound=Bound(right.collective, Fraction(2), CutProof(inside)))
    lengths = LengthsProof((), ())
    yield "lengths in a claim", replace(right, bound=Bound(right.collective, Fraction(2), lengths))


def of_symmetries() -> Iterator[tuple[str, StepSchedule]]:
    """Yield schedules with a symmetry that does not fit."""
    base, sum_of_all = compact("ring:nodes=4"), compact("ring:nodes=4", "reduce-scatter")
    yield "an image twice", with_an_image_twice(sum_of_all)
    for order, image in SHIFTS:
        yield f"a shift {image} of order {order}", shifted(base, order, image)
    sizes = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), Fraction(0))
    yield "shards of an orbit that differ", replace(base, shards=sizes)
    yield "another algbw with a symmetry", replace(base, algbw=Fraction(2))
    yield "an orbit that is not free", shifted(compact("complete:nodes=6"), 4, [1, 2, 3, 0, 5, 4])
    yield "a shift of ranks to idle nodes", shifted(replace(base, ranks=(0, 1)), 2, [2, 3, 0, 1])
    exchanged = generate("ring:nodes=4", "all-to-all", "steps")
    yield "a symmetry of an all-to-all", shifted(exchanged, 4, [1, 2, 3, 0])


ELSEWHERE = {"certificate-beaten", "certificate-data", "certificate-exit", "symmetry-commute"}
SHIFTS: list[tuple[int, list[int]]] = [
    (4, [1, 2, 3, 3]),
    (8, [1, 2, 3, 0]),
    (2, [1, 0, 2, 3]),
    (3, [1, 2, 3, 0]),
    (2, [0, 3, 2, 1]),
    (2, [2, 3, 0, 1]),
]


def test_every_message_of_steps() -> None:
    """The other rules are those of trees, in its list."""
    cases = [*of_exchanges(), *of_data(), *of_form(), *of_transfers(), *of_columns(), *of_routes(), *of_claims()]
    found = [(name, verify(each).fault) for name, each in (*cases, *of_symmetries())]
    fault_lists.check("steps", found)
    violated = {fault.rule for _, fault in found if fault is not None}
    assert {name for name, _ in step_rules()} - violated == ELSEWHERE


def pairs() -> Topology:
    """Return two pairs of nodes: fast links in the pairs, and slow ones between them."""
    return linked("a b c d", "a=b:100 a=c a=d b=c b=d c=d:100", name="pairs")


SLOW = LengthsProof.of(pairs(), tuple(int(link.bandwidth == 1) for link in pairs().links))


@pytest.mark.parametrize(
    ("topology", "claimed", "algbw", "proof"),
    [
        (TRIANGLE, None, "9/2", LengthsProof(((0, 1), (0, 2)), (1, 1))),
        (TRIANGLE, LengthsProof.of(TRIANGLE, (1,) * 6), "9/2", LengthsProof(((0, 1), (0, 2)), (1, 1))),
        (TRIANGLE.transposed(), None, "9/2", LengthsProof(((1, 0), (2, 0)), (1, 1))),
        (DESCENDING, None, "9/2", LengthsProof(((2, 0), (2, 1)), (1, 1))),
        (DESCENDING.transposed(), None, "9/2", LengthsProof(((0, 2), (1, 2)), (1, 1))),
        (RING, None, "2", LengthsProof.of(RING, (1,) * 8)),
        (pairs(), SLOW, "4", SLOW),
    ],
    ids=["egress", "a weaker claim", "ingress", "egress of c", "ingress of c", "all links", "the claim"],
)
def test_the_bound_of_an_all_to_all_is_the_least_of_the_claim_and_of_what_the_judge_finds(
    topology: Topology, claimed: LengthsProof | None, algbw: str, proof: LengthsProof
) -> None:
    demand = NodeDemand(Collective.ALL_TO_ALL)
    bound = None if claimed is None else Bound(demand.collective, claimed.algbw(topology, demand), claimed)
    schedule = StepSchedule(topology, demand.collective, (phase_of(direct(topology)),), bound=bound)
    if topology is RING:
        schedule = generate(RING, demand.collective, "steps")
        schedule = replace(schedule, bound=None)
    report = verify(schedule)
    assert report.fault is None
    assert report.bound == Bound(demand.collective, Fraction(algbw), proof)


BACK = [(other, "0", "1", one, other) for one, other in permutations(range(3), 2)]
"""Each node sends its part of the sum that ends on another node to this node."""

LARGE_A = (Fraction(9, 10), Fraction(1, 20), Fraction(1, 20))


@pytest.mark.parametrize(
    ("topology", "collective", "shards", "algbw"),
    [
        (TRIANGLE.transposed(), Collective.ALLGATHER, None, "9/2"),
        (TRIANGLE.transposed(), Collective.ALLGATHER, LARGE_A, "140/19"),
        (TRIANGLE, Collective.REDUCE_SCATTER, None, "9/2"),
        (TRIANGLE, Collective.REDUCE_SCATTER, LARGE_A, "140/19"),
        (TRIANGLE.transposed(), Collective.ALLREDUCE, LARGE_A, "3"),
        (TRIANGLE, Collective.ALLREDUCE, LARGE_A, "3"),
        (RING, Collective.ALLREDUCE, None, "4/3"),
    ],
)
def test_the_bound_is_that_of_the_slowest_node_or_of_all_that_is_received(
    topology: Topology, collective: Collective, shards: tuple[Fraction, ...] | None, algbw: str
) -> None:
    phases = {
        Collective.ALLGATHER: (phase_of(DIRECT),),
        Collective.REDUCE_SCATTER: (phase_of(BACK, op=PhaseOp.REDUCE),),
        Collective.ALLREDUCE: (phase_of(BACK, op=PhaseOp.REDUCE), phase_of(DIRECT)),
    }
    schedule = StepSchedule(topology, collective, phases[collective], shards=shards)
    report = verify(bfb(RING, collective) if topology is RING else schedule)
    assert report.fault is None
    assert report.bound is not None
    assert str(report.bound.algbw) == algbw


@pytest.mark.parametrize(
    ("parts", "unit", "times"),
    [(2**62, 2, 1), (2**61, 2, 4), (2**40, 2**30, 1), (10**200 + 7, 2, 1)],
    ids=["fine points", "many transfers", "fine shards", "hundreds of digits"],
)
def test_loads_that_do_not_fit_64_bits_are_exact(parts: int, unit: int, times: int) -> None:
    """Nodes send their shards several times, in parts whose sizes have large denominators."""
    cut, pair = str(Fraction(1, parts)), build_topology("ring:nodes=2")
    sent = [(0, "0", cut, 0, 1), (0, cut, "1", 0, 1)] * times
    shards = (1 - Fraction(1, unit), Fraction(1, unit))
    phase = phase_of([*sent, whole(1, 1, 0)])
    report = verify(StepSchedule(pair, Collective.ALLGATHER, (phase,), shards=shards))
    link = pair.links[0].bandwidth
    assert (report.fault, report.step_times) == (None, (shards[0] * times / link,))
