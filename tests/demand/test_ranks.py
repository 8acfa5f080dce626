"""Ranks and roots by position and by id. Some ids look like positions of other nodes."""

from collections.abc import Collection
from itertools import pairwise
from typing import Any

import numpy as np

from forestcoll.demand.ranks import rank_parts, ranks_of, root_number
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.registry import build_topology
from networks import built
from refusal import refusal


def line(*ids: NodeId, switches: Collection[NodeId] = ()) -> Topology:
    """Return a line of compute nodes and switches with these ids, in this order."""
    return built(ids, [(*pair, 1) for pair in pairwise(ids)], switches=switches, name="line")


BOXES = build_topology("dgx-a100:boxes=2,gpus=4")  # b0/gpu0 to b0/gpu3, b1/gpu0 to b1/gpu3, then switches
NUMBERED = line(10, 3, 2, 1, 0)
RANGES = line("0-1", "2-1", "sw", "c", "d", switches=["sw"])


RANKS: list[tuple[Topology, Any, tuple[int, ...]]] = [
    (BOXES, "0-1,4", (0, 1, 4)),
    (BOXES, "b0/gpu0,b1/gpu3", (0, 7)),
    (BOXES, " b1/gpu0 , 3 ,0-1", (0, 1, 3, 4)),
    (BOXES, [0, 5], (0, 5)),
    (BOXES, [np.int64(0), "b1/gpu1", "2-3"], (0, 2, 3, 5)),
    (BOXES, iter(["b0/gpu3", 0]), (0, 3)),
    (NUMBERED, "0,3", (0, 3)),  # positions take precedence
    (NUMBERED, [0, 3], (0, 3)),
    (NUMBERED, "0-2", (0, 1, 2)),
    (RANGES, "0-1", (0, 1)),  # positions take precedence in a range too
    (RANGES, "2-1,d", (1, 4)),  # not a range
    (RANGES, ["c", "2-1"], (1, 3)),
    (RANGES, "1-2", (1, 3)),
    (line("a,b", "c", 3), ["a,b", "c"], (0, 1)),
    (NUMBERED, "1,10", (0, 1)),  # no position 10, so the id
    (NUMBERED, [10, 4], (0, 4)),
    (line(-7, "08", "x"), [-7, "08"], (0, 1)),
]


def test_ranks_are_positions_and_ids() -> None:
    for topology, ranks, numbers in RANKS:
        assert ranks_of(topology, ranks) == numbers


FIVE = "line has 5 compute nodes, ranks 0 to 4"
EIGHT = "dgx-a100:boxes=2,gpus=4 has 8 compute nodes, ranks 0 to 7"


UNKNOWN_RANKS: list[tuple[Topology, object, str]] = [
    (BOXES, "8,0", f"there is no rank 8; {EIGHT}"),
    (BOXES, [-1, 0], f"there is no rank -1; {EIGHT}"),
    (NUMBERED, "0,10", "rank 0 is named twice; name it once"),
    (NUMBERED, "3-10", f"there is no rank 10; {FIVE}; the node with id 10 is rank 0"),
    (line("a", 10, "b", switches=[10]), "0,10", "line: rank '10' is a switch; name compute nodes"),
    (BOXES, "b0/gpux,1", f"there is no rank 'b0/gpux'; did you mean 'b0/gpu0'? {EIGHT}, or ids of these nodes"),
    (BOXES, "1-x,1", f"there is no rank '1-x'; {EIGHT}, or ids of these nodes"),
    (BOXES, f"{'1' * 19},1", f"there is no rank '{'1' * 19}'; {EIGHT}, or ids of these nodes"),
    (BOXES, ["", 0], f"there is no rank ''; {EIGHT}, or ids of these nodes"),
    (BOXES, "ib,0", "dgx-a100:boxes=2,gpus=4: rank 'ib' is a switch; name compute nodes"),
    (BOXES, "3-1", "the range '3-1' runs backwards; write 1-3"),
    (BOXES, "0,b0/gpu0", "rank 0 is named twice; name it once"),
    (BOXES, ["b1/gpu0", "b1/gpu0"], "rank 4 is named twice; name it once"),
    (BOXES, "b1/gpu0", "1 rank is named; a collective needs two"),
    (BOXES, [], "0 ranks are named; a collective needs two"),
    (BOXES, "0,", "'0,' has an empty part; write ranks as in '0-7,16' or 'gpu0,gpu3'"),
    (BOXES, [None], "rank null is neither an integer nor a text; give a position or an id"),
    (BOXES, [True, 1], "rank true is neither an integer nor a text; give a position or an id"),
    (BOXES, [0.5, 1], "rank 0.5 is neither an integer nor a text; give a position or an id"),
    (BOXES, 3, "ranks are 3; expected a text such as '0-7,16-23', or a list of ranks"),
]


def test_unknown_ranks_are_refused() -> None:
    for topology, ranks, message in UNKNOWN_RANKS:
        assert refusal(ranks_of, topology, ranks) == message


def test_an_empty_part_of_the_ranks_is_refused_before_the_network_is_read() -> None:
    assert rank_parts("0-7, 3-1,a;b") == ("0-7", "3-1", "a;b")
    for text in ("", ",", "0,,1", " "):
        assert "has an empty part" in refusal(rank_parts, text)


ROOTS: list[tuple[Topology, Any, int]] = [
    (BOXES, "b1/gpu0", 4),
    (BOXES, 4, 4),
    (BOXES, "4", 4),
    (BOXES, np.int64(4), 4),
    (NUMBERED, 3, 1),  # ids take precedence
    (NUMBERED, "3", 1),
    (NUMBERED, 4, 4),  # no node has the id 4
    (line("3", "2", "1"), 3, 0),
    (line("3", "2", "1"), 0, 0),
    (line(1, "1", 2), 1, 0),
    (RANGES, 2, 3),
]


def test_a_root_is_an_id_or_else_a_position() -> None:
    for topology, root, number in ROOTS:
        assert root_number(topology, root) == number


ANY = "give the id of a compute node, or its position from 0 to 7"


INVALID_ROOTS: list[tuple[object, str]] = [
    ("b1/gpuu0", f"there is no node 'b1/gpuu0' for the root; did you mean 'b1/gpu0'? {ANY}"),
    ("zzz", f"there is no node 'zzz' for the root; {ANY}"),
    ("8", f"there is no node '8' for the root; {ANY}"),
    (8, f"there is no node 8 for the root; {ANY}"),
    (-1, f"there is no node -1 for the root; {ANY}"),
    ("", f"there is no node '' for the root; {ANY}"),
    ("9" * 5000, f"there is no node '{'9' * 57}...' for the root; {ANY}"),
    ("ib", f"root 'ib' is a switch; {ANY}"),
    (True, f"root is true; {ANY}"),
    (1.0, f"root is 1.0; {ANY}"),
    (None, f"root is null; {ANY}"),
    ("b1/gpu0", "root 'b1/gpu0' is not among the ranks; add it to the ranks"),
]


def test_an_invalid_root_is_refused() -> None:
    for root, message in INVALID_ROOTS:
        assert refusal(root_number, BOXES, root, (0, 1)) == f"dgx-a100:boxes=2,gpus=4: {message}"


def test_an_ambiguous_root_is_refused() -> None:
    message = "line: '1' is the id of two nodes, an integer and a text; rename one"
    assert refusal(root_number, line(1, "1", 2), "1") == message
