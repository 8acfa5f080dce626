"""The optimum of pieces of data: compared with a program over all trees, and with the collectives that pieces make."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from random import Random

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.pieces import Piece, groups_of_pieces
from forestcoll.demand.ranks import nodes_of
from forestcoll.solver.groups.bundling import bundle_for
from forestcoll.solver.groups.gains import group_gains
from forestcoll.solver.groups.search import group_search
from forestcoll.solver.groups.value import GroupsOptimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import drawn_network, seeds
from tree_programs import PieceNodes, best_of_pieces


def drawn_pieces(topology: Topology, seed: int, count: int) -> list[Piece]:
    """Return pieces with up to three sources and targets. Each has a node that needs it and does not hold it."""
    random = Random(seed)  # noqa: S311 (a test)
    compute = range(len(topology.compute))
    pieces = []
    for place in range(count):
        sources = random.sample(compute, random.randint(1, min(3, len(compute) - 1)))
        targets = random.sample(compute, random.randint(1, min(3, len(compute))))
        if set(targets) <= set(sources):
            targets.append(random.choice([node for node in compute if node not in sources]))
        keys = {random.choice(["held_by", "sum_of"]): sources}
        pieces.append(Piece(f"piece {place}", targets, size=random.choice(["1", "2", "1/3"]), **keys))
    return pieces


def in_numbers(topology: Topology, pieces: Iterable[Piece]) -> list[PieceNodes]:
    """Return pieces as the program over all trees takes them."""
    found: list[PieceNodes] = []
    for piece in pieces:
        held = piece.held_by if piece.sum_of is None else piece.sum_of
        sources, targets = (nodes_of(topology, each or ()) for each in (held, piece.needed_by))
        found.append((piece.sum_of is not None, sources, targets, Fraction(str(piece.size))))
    return found


def solved(topology: Topology, pieces: Iterable[Piece]) -> GroupsOptimum:
    """Return the optimum of pieces, whose bundle is verified."""
    found = group_search(topology, groups_of_pieces(topology, pieces))
    report = verify(bundle_for(found))
    assert report.fault is None
    assert report.algbw == found.algbw
    assert report.optimal == found.is_optimal
    return found


@pytest.mark.parametrize("seed", seeds(16, 320))
def test_random_pieces_equal_the_program_over_all_trees(seed: int) -> None:
    topology = drawn_network(seed, nodes=5, kinds="cams", one_way=seed % 2 == 0)
    pieces = drawn_pieces(topology, seed, 2 + seed % 2)
    found = solved(topology, pieces)
    assert found.algbw == found.bound.algbw == best_of_pieces(topology, in_numbers(topology, pieces))


def pieces_of(collective: Collective, count: int) -> list[Piece]:
    """Return a collective over `count` nodes, with the first node as its root, as pieces."""
    others, size = list(range(count)), Fraction(1, count)
    pairs = [(one, other) for one in others for other in others if one != other]
    listed = {
        Collective.ALLGATHER: [Piece(f"{node}", others, held_by=[node], size=size) for node in others],
        Collective.REDUCE_SCATTER: [Piece(f"{node}", [node], sum_of=others, size=size) for node in others],
        Collective.ALLREDUCE: [Piece("all", others, sum_of=others)],
        Collective.BROADCAST: [Piece("all", others, held_by=[0])],
        Collective.REDUCE: [Piece("all", [0], sum_of=others)],
        Collective.ALL_TO_ALL: [Piece(f"{one} {other}", [other], held_by=[one], size=size) for one, other in pairs],
        Collective.GATHER: [Piece(f"{node}", [0], held_by=[node], size=size) for node in others],
        Collective.SCATTER: [Piece(f"{node}", [node], held_by=[0], size=size) for node in others],
    }
    return listed[collective]


@pytest.mark.parametrize("collective", Collective)
@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=2", "mesh:dims=2x3"])
def test_a_collective_as_pieces_has_its_optimum(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    found = solved(topology, pieces_of(collective, len(topology.compute)))
    root = topology.nodes[topology.compute[0]].id if collective.has_root else None
    expected = optimum(topology, Demand(collective, root=root))
    assert found.is_optimal
    assert found.algbw == expected.algbw


def test_a_piece_with_two_holders_is_twice_as_fast_on_a_line() -> None:
    line = build_topology("mesh:dims=4")
    one, two = (solved(line, [Piece("a", [1, 2], held_by=nodes)]) for nodes in ([0], [0, 3]))
    assert (one.algbw, two.algbw) == (Fraction(1), Fraction(2))
    assert one.is_optimal
    assert two.is_optimal


def test_nodes_outside_a_piece_relay_it() -> None:
    ring = build_topology("ring:nodes=6")
    found = solved(ring, [Piece("a", [2, 4], held_by=[0])])
    assert (found.algbw, found.uses_relays(0)) == (Fraction(2), True)


def test_a_switch_that_adds_up_and_copies_is_the_root_of_a_sum() -> None:
    switch = build_topology("dgx-h100:boxes=1,nvls=true")
    found = solved(switch, [Piece("a", [2, 3], sum_of=[0, 1])])
    assert found.is_optimal


def test_too_many_roots_are_refused_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.groups.search.MOST_ROOTS", 5)
    with pytest.raises(InputError, match="there are 6 pairs of an allreduce and a root of its trees; at most 5"):
        solved(build_topology("ring:nodes=6"), [Piece("a", [0, 1, 2], sum_of=[3, 4])])


@pytest.mark.parametrize("use", [group_gains, lambda best: best._repr_html_()])
def test_an_optimum_of_pieces_has_gains_and_a_picture(use: Callable[[GroupsOptimum], object]) -> None:
    assert use(solved(build_topology("ring:nodes=6"), [Piece("a", [1, 2], held_by=[0, 3])]))


def test_what_a_piece_with_two_holders_has_alone_counts_both() -> None:
    pieces = [Piece("a", [1, 2], held_by=[0, 3]), Piece("b", [1], held_by=[0])]
    gain = group_gains(solved(build_topology("mesh:dims=4"), pieces)).groups[0]
    assert (gain.algbw_alone, gain.algbw_alone_without_relays) == (Fraction(2), Fraction(2))
