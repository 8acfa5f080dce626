"""The rules about ranks and idle nodes. Each is violated by a small change of a correct schedule."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.verification import Fault, verify
from verify_drafts import Draft, DraftTree, fault_of, relayed, reversed_draft, rotated_relayed


def relayed_allreduce() -> Draft:
    """An allreduce over the idle node: 2/3 and 1/3 of M over each link, half as fast as the least cut allows."""
    draft, back = relayed(), reversed_draft(relayed())
    draft.collective, draft.algbw, draft.optimal, draft.cut = Collective.ALLREDUCE, Fraction(10), Fraction(10), [0]
    count = len(draft.routes)
    draft.routes += back.routes
    draft.reduced = [DraftTree(tree.root, tree.share, [count + each for each in tree.routes]) for tree in back.trees]
    return draft


def _rank_unknown(draft: Draft) -> None:
    draft.ranks = [0, 1, 9]


def _rank_twice(draft: Draft) -> None:
    draft.ranks = [0, 1, 1]


def _ranks_fall(draft: Draft) -> None:
    draft.ranks = [0, 2, 1]


def _lonely_rank(draft: Draft) -> None:
    draft.ranks = [0]


def _more_ranks(draft: Draft) -> None:
    draft.ranks = [0, 1, 2, 4]


def _all_take_part(draft: Draft) -> None:
    draft.ranks = None


def _rooted_at_idle(draft: Draft) -> None:
    draft.trees[1].root = 3


def _through_relay(draft: Draft) -> None:
    draft.routes[1] = [0, 3, 1]
    draft.trees[0].routes = [1, 2]


def _misses_rank(draft: Draft) -> None:
    draft.trees[0].routes.pop()


def _relay_reached_twice(draft: Draft) -> None:
    draft.trees[0].routes.append(draft.routes.index([1, 3]))


def _cut_without_rank(draft: Draft) -> None:
    draft.cut = [3, 4]


def _cut_with_all_ranks(draft: Draft) -> None:
    draft.cut = [0, 1, 2]


def _bound_counts_idle(draft: Draft) -> None:
    draft.optimal = Fraction(10) / Fraction(3, 4)


BROKEN: list[tuple[Callable[[Draft], None], str, str]] = [
    (_rank_unknown, "ranks-wrong", "ranks: there is no node number 9; expected 0 to 4"),
    (_rank_twice, "ranks-wrong", "ranks are (0, 1, 1); expected two or more numbers of nodes in ascending order"),
    (_ranks_fall, "ranks-wrong", "ranks are (0, 2, 1)"),
    (_lonely_rank, "ranks-wrong", "ranks are (0)"),
    (_more_ranks, "tree-not-spanning", "tree 0 (root 'g0') of phase 0 does not reach 'g4'; expected all 4 ranks"),
    (_all_take_part, "tree-not-spanning", "does not reach 'g4'; expected all 5 compute nodes"),
    (_rooted_at_idle, "tree-root", "tree 1 (root 'g3') of phase 0 is rooted at an idle node; expected a rank"),
    (_through_relay, "route-interior-compute", "passes through compute node 'g3' (position 1); end a route there"),
    (_misses_rank, "tree-not-spanning", "does not reach 'g2'; expected all 3 ranks"),
    (_relay_reached_twice, "tree-node-repeated", "ends on 'g3', reached before at position 0"),
    (_cut_without_rank, "certificate-inside", "cut: none of its 2 nodes is a rank; expected one or more"),
    (_cut_with_all_ranks, "certificate-outside", "cut: contains all 3 ranks; expected one or more outside"),
    (_bound_counts_idle, "certificate-bound", "contains 2 of 3 ranks and has exit bandwidth 10; 2/3 of the data"),
]


@pytest.mark.parametrize(("mutate", "rule", "words"), BROKEN)
def test_a_violated_rule_is_named_with_its_place(mutate: Callable[[Draft], None], rule: str, words: str) -> None:
    draft = relayed()
    mutate(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == rule
    assert words in fault.message


def test_a_broadcast_can_leave_data_on_an_idle_node() -> None:
    draft = relayed()
    draft.trees[0].routes.append(draft.routes.index([3, 4]))
    assert verify(draft.freeze()).optimal


@pytest.mark.parametrize("make", [lambda: reversed_draft(relayed()), relayed_allreduce])
def test_an_idle_node_that_received_nothing_cannot_send(make: Callable[[], Draft]) -> None:
    draft = make()
    assert verify(draft.freeze()).ok
    tree = (draft.reduced or draft.trees)[2]
    tree.routes.insert(0, draft.routes.index([4, 3]))
    assert fault_of(draft.freeze()) == Fault(
        "tree-relay-empty",
        "tree 2 (root 'g2') of phase 0: idle node 'g4' sends, but no route of the tree ends there; "
        "expected data from others",
    )


def test_a_switch_is_refused_as_a_rank() -> None:
    draft = relayed()
    nodes = list(draft.topology.nodes)
    draft.ranks = [0, 1, 2, 3]
    nodes[3] = type(nodes[3])("sw", kind=type(nodes[3].kind)("switch"), multicast=True)
    draft.topology = type(draft.topology)("relayed", tuple(nodes), draft.topology.links)
    assert fault_of(draft.freeze()) == Fault("ranks-wrong", "ranks: 'sw' is a switch; expected compute nodes")


def test_a_shift_that_maps_a_rank_to_an_idle_node_is_refused() -> None:
    draft = rotated_relayed()
    draft.shifts = [(2, [4, 1, 2, 3, 0])]
    fault = fault_of(draft.freeze())
    assert fault.rule == "symmetry-kind"
    assert "sends rank 'g0' to idle node 'g4'; expected a node of the same kind" in fault.message


def test_a_shift_can_leave_idle_nodes_in_place() -> None:
    schedule = rotated_relayed().freeze()
    assert verify(schedule).optimal
    assert verify(expanded(schedule)).optimal
    assert expanded(schedule).ranks == (0, 1, 2)


def test_a_file_is_read_back_with_its_ranks(tmp_path: Path) -> None:
    schedule, path = relayed().freeze(), tmp_path / "s.json"
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    assert json.loads(path.read_text())["ranks"] == [0, 1, 2]


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([0, 1, 5], "ranks[2] is 5; expected an integer from 0 to 4"),
        ([0, "1"], "ranks[1] is '1'; expected an integer from 0 to 4"),
        ([0, 1, 0], "ranks[2]: node 0 is named twice; name it once"),
        ([2], "ranks: lists 1; a collective needs at least two"),
        ("0-2", "ranks is '0-2'; expected a list"),
    ],
)
def test_a_file_with_invalid_ranks_is_refused(tmp_path: Path, ranks: object, message: str) -> None:
    path = tmp_path / "s.json"
    write_schedule(relayed().freeze(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"ranks": ranks}))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert str(caught.value) == f"{path}: {message}"


def test_only_ranks_must_reach_each_other(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_schedule(relayed().freeze(), path)
    document = json.loads(path.read_text())
    links = [edge for edge in document["topology"]["edges"] if edge["target"] != "g4"]
    document["topology"]["edges"] = links
    document["routes"].remove([3, 4])
    path.write_text(json.dumps(document))
    assert verify(read_schedule(path)).optimal
    path.write_text(json.dumps(document | {"ranks": [0, 1, 4]}))
    with pytest.raises(InputError, match="relayed: rank 'g0' cannot reach rank 'g4'; add links on the way"):
        read_schedule(path)
