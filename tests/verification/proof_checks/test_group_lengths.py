"""Lengths of links that bound collectives at the same time: the verifier, the proof and values by hand."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proof_questions import ALLREDUCE, question_of

from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof import GroupLengthsProof, ProofError
from forestcoll.schedule.proof.lengths import group_lengths as proof_module
from forestcoll.topology import Topology
from forestcoll.verification.proof_checks import group_lengths
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.group_lengths import groups_bound
from forestcoll.verification.proof_checks.question import UnprovenError
from networks import examples, linked, ranks_for, shards_for, uneven_networks, with_abilities

PERSONALISED = (Collective.ALL_TO_ALL, Collective.GATHER, Collective.SCATTER)


@st.composite
def demands(draw: st.DrawFn, topology: Topology) -> NodeDemand:
    """Return a demand of any collective, with everything that it can have."""
    collective = draw(st.sampled_from((*SCHEDULED, *PERSONALISED)))
    places = draw(st.none() | ranks_for(topology))
    ranks = None if places is None else tuple(sorted(topology.compute[place] for place in places))
    members = topology.compute if ranks is None else ranks
    demand = NodeDemand(collective, draw(st.sampled_from(members)) if collective.has_root else None, ranks=ranks)
    if collective in {Collective.ALLGATHER, Collective.REDUCE_SCATTER} and ranks is None and draw(st.booleans()):
        by_node = draw(shards_for(topology.compute))
        return replace(demand, shards=tuple(by_node[node] for node in topology.compute))
    if collective is Collective.ALL_TO_ALL and draw(st.booleans()):
        part = st.builds(Fraction, st.integers(0, 3), st.integers(1, 3))
        row = st.lists(part, min_size=len(members), max_size=len(members)).map(tuple)
        return replace(demand, matrix=tuple(draw(row) for _ in members))
    if collective in {Collective.BROADCAST, Collective.ALLREDUCE} and draw(st.booleans()):
        some = st.sets(st.sampled_from(members), min_size=1)
        sources, targets = sorted(draw(some)), sorted(draw(some))
        both = tuple(sorted({*sources, *targets}))
        root = sources[0] if collective.has_root else None
        return replace(demand, root=root, ranks=both, sources=tuple(sources), targets=tuple(targets))
    return demand


def by_proof(proof: GroupLengthsProof, topology: Topology, groups: Sequence[Group]) -> Fraction | None:
    try:
        return proof.algbw_of_groups(topology, groups)
    except ProofError:
        return None


def by_judge(proof: GroupLengthsProof, topology: Topology, groups: Sequence[Group]) -> Fraction | None:
    try:
        return groups_bound(proof, [(each.size, question_of(topology, each.demand)) for each in groups])
    except UnprovenError:
        return None


@pytest.mark.parametrize("most", [10, 1], ids=["least trees", "least arborescences"])
def test_random_groups_have_the_bound_that_the_proof_computes(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of more than `most` nodes are replaced by arborescences, which are not longer: the bound is not less."""

    @examples(40)
    @given(uneven_networks(most=6), st.data())
    def check(topology: Topology, data: st.DataObject) -> None:
        topology = with_abilities(topology, data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3)))
        demanded = data.draw(st.lists(demands(topology), min_size=1, max_size=3))
        sizes = st.builds(Fraction, st.integers(1, 5), st.integers(1, 3))
        groups = [Group(demand, data.draw(sizes)) for demand in demanded]
        unit = data.draw(st.sampled_from([1, 10**30]))
        lengths = st.lists(st.integers(0, 4), min_size=len(topology.links), max_size=len(topology.links))
        proof = GroupLengthsProof.of(topology, tuple(unit * length for length in data.draw(lengths)))
        bound = by_judge(proof, topology, groups)
        assert bound == by_proof(proof, topology, groups)
        with pytest.MonkeyPatch.context() as exact:
            exact.setattr(group_lengths, "MOST_MEMBERS", 10)
            least = by_judge(proof, topology, groups)
        assert bound is None or (least is not None and least <= bound)

    monkeypatch.setattr(group_lengths, "MOST_MEMBERS", most)
    monkeypatch.setattr(proof_module, "MOST_MEMBERS", most)
    check()


def grid() -> Topology:
    """Return six nodes in two rows, with another bandwidth of each link, and a one-way switch between four of them."""
    links = "a>b:1 b>a:2 b>c:2 c>b:4 d>e:3 e>d:6 e>f:4 f>e:8 a>d:5 d>a:10 b>e:6 e>b:12 c>f:7 f>c:14"
    topology = linked("a b c d e f", f"{links} a>s:20 d>s:25 s>c:30 s>f:35", switches="s")
    return with_abilities(topology, [(True, False)])


GRID = grid()
LENGTHS = tuple(1 + 3 * place % 7 for place in range(len(GRID.links)))
BROADCAST = NodeDemand(Collective.BROADCAST, root=0)
HALF, ZERO = Fraction(1, 2), Fraction(0)
SUM = replace(ALLREDUCE, ranks=(0, 2, 3, 5))
VALUES: list[tuple[list[tuple[NodeDemand, int]], str, str]] = [
    ([(NodeDemand(), 1)], "2457/37", "819/11"),
    ([(NodeDemand(ranks=(0, 1, 2, 5)), 1)], "91", "3276/25"),
    ([(NodeDemand(shards=(HALF, ZERO, HALF, ZERO, ZERO, ZERO)), 1)], "1638/23", "78"),
    ([(NodeDemand(Collective.REDUCE_SCATTER, ranks=(1, 3, 5)), 2)], "2457/58", "2457/44"),
    ([(BROADCAST, 1)], "819/11", "91"),
    ([(NodeDemand(Collective.REDUCE, root=5), 1)], "273/4", "273/4"),
    ([(ALLREDUCE, 1)], "819/23", "39"),
    ([(SUM, 1)], "39", "273/5"),
    ([(replace(SUM, sources=(0, 2), targets=(2, 3, 5)), 1)], "117/2", "819/8"),
    ([(replace(BROADCAST, ranks=(0, 2, 3, 4, 5), sources=(0, 4), targets=(2, 3, 4, 5)), 1)], "819/8", "273/2"),
    ([(replace(BROADCAST, root=2, ranks=(0, 2, 3, 5), sources=(2, 5), targets=(0, 3)), 1)], "819/10", "273/2"),
    ([(NodeDemand(Collective.ALL_TO_ALL), 1)], "4914/151", "4914/151"),
    ([(NodeDemand(Collective.GATHER, root=2), 1)], "182", "182"),
    ([(NodeDemand(Collective.SCATTER, root=2, ranks=(0, 2, 5)), 1)], "273", "273"),
    ([(NodeDemand(Collective.ALL_TO_ALL, ranks=(0, 2), matrix=((ZERO, HALF), (ZERO, ZERO))), 1)], "234", "234"),
    (
        [
            (NodeDemand(ranks=(0, 5)), 1),
            (NodeDemand(Collective.REDUCE_SCATTER, ranks=(0, 5)), 1),
            (NodeDemand(Collective.ALL_TO_ALL, ranks=(1, 3)), 3),
        ],
        "1638/61",
        "1638/43",
    ),
    ([(replace(ALLREDUCE, ranks=(0, 5)), 1), (NodeDemand(ranks=(0, 5)), 5)], "234/17", "234/7"),
]


def bounds_on_grid(groups: list[tuple[NodeDemand, int]], unit: int) -> set[str]:
    """Return the bound of the verifier and that of the proof, which should be equal."""
    proof = GroupLengthsProof.of(GRID, tuple(unit * length for length in LENGTHS))
    sized = [Group(demand, Fraction(size)) for demand, size in groups]
    return {str(by_judge(proof, GRID, sized)), str(by_proof(proof, GRID, sized))}


@pytest.mark.parametrize("unit", [1, 2**53], ids=["small", "large"])
@pytest.mark.parametrize(("groups", "of_trees", "of_arborescences"), VALUES)
def test_the_bound_of_groups_on_a_grid(
    groups: list[tuple[NodeDemand, int]],
    of_trees: str,
    of_arborescences: str,
    unit: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert bounds_on_grid(groups, unit) == {of_trees}
    monkeypatch.setattr(group_lengths, "MOST_MEMBERS", 1)
    monkeypatch.setattr(proof_module, "MOST_MEMBERS", 1)
    assert bounds_on_grid(groups, unit) == {of_arborescences}


def test_trees_of_the_most_members_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_lengths, "MOST_MEMBERS", 4)
    assert bounds_on_grid([(SUM, 1)], 1) == {"39"}


def test_another_node_may_be_merged_with_any_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """All data is for node 4. A node without data of its own brings the second source to it for free."""
    monkeypatch.setattr(group_lengths, "MOST_MEMBERS", 1)
    monkeypatch.setattr(proof_module, "MOST_MEMBERS", 1)
    proof = GroupLengthsProof.of(GRID, (0, 5, 2, 5, 5, 4, 3, 4, 5, 1, 2, 2, 4, 3, 4, 3, 4, 0))
    demand = replace(BROADCAST, ranks=(0, 3, 4), sources=(0, 3), targets=(4,))
    assert by_judge(proof, GRID, [Group(demand)]) is by_proof(proof, GRID, [Group(demand)]) is None


def one_way() -> Topology:
    """Return a line of three nodes in which data moves in one direction."""
    return linked("a b c", "a>b b>c:2", connected=False, name="one way")


def test_a_length_may_be_0_and_only_roots_with_data_need_a_tree() -> None:
    line = one_way()
    for lengths, value in (((0, 3), Fraction(2)), ((1, 1), Fraction(3, 2))):
        proof = GroupLengthsProof(((0, 1), (1, 2)), lengths)
        assert proven(proof, question_of(line, BROADCAST)) == proof.algbw(line, BROADCAST) == value
