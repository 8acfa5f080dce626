"""Schedules as documents and files: round trips, and one-line errors for malformed input."""

import gzip
import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from changed_documents import MISSING, changed
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.proof import Bound, CutProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import Phase, Tree, TreeSchedule
from forestcoll.topology import Shift, Symmetry, TopologyBuilder
from networks import built, examples
from refusal import refusal

Document = dict[str, Any]


def path_schedule() -> TreeSchedule:
    """Return an allgather of three GPUs on a switch with links of bandwidth 10. Each tree is a chain."""
    builder = TopologyBuilder("path")
    names = [builder.add_compute(f"g{number}", box=0) for number in range(3)]
    builder.add_switch("sw", multicast=True)
    for name in names:
        builder.add_duplex(name, "sw", 10, latency_us="1/2")
    phase = Phase(
        op=PhaseOp.BROADCAST, roots=(0, 1, 2), shares=(Fraction(1, 3),) * 3, routes=Rows.of([[0, 1], [1, 2], [2, 0]])
    )
    return TreeSchedule(
        topology=builder.build(),
        collective=Collective.ALLGATHER,
        routes=Rows.of([[0, 3, 1], [1, 3, 2], [2, 3, 0]]),
        phases=(phase,),
        algbw=Fraction(15),
        bound=Bound(Collective.ALLGATHER, Fraction(15), CutProof((0, 1, 3))),
        trees_per_root=1,
    )


def document() -> Document:
    loaded: Document = json.loads(text_of(path_schedule()))
    return loaded


def text_of(schedule: TreeSchedule) -> str:
    return "".join(schedule_text(schedule))


def again(schedule: TreeSchedule) -> Schedule:
    """Return the schedule that the text of a schedule describes."""
    return schedule_from_document(json.loads(text_of(schedule)), where="x")


def test_a_written_schedule_is_read_back_equal_and_gives_the_same_bytes(tmp_path: Path) -> None:
    schedule = path_schedule()
    for name in ("schedule.json", "schedule.json.gz"):
        write_schedule(schedule, tmp_path / name)
        written = (tmp_path / name).read_bytes()
        assert read_schedule(tmp_path / name) == schedule
        write_schedule(read_schedule(tmp_path / name), tmp_path / name)
        assert (tmp_path / name).read_bytes() == written
        text = gzip.decompress(written) if name.endswith(".gz") else written
        assert text.decode() == text_of(schedule)


def test_the_written_text_is_the_documented_json() -> None:
    written = document()
    assert written["format"] == "forestcoll.schedule/1"
    assert written["collective"] == "allgather"
    assert (written["algbw"], written["optimal_algbw"]) == ("15", "15")
    assert written["certificate"] == {"cut": [0, 1, 3]}
    assert (written["trees_per_root"], written["shards"]) == (1, None)
    assert written["routes"] == [[0, 3, 1], [1, 3, 2], [2, 3, 0]]
    trees = [
        {"root": 0, "share": "1/3", "routes": [0, 1]},
        {"root": 1, "share": "1/3", "routes": [1, 2]},
        {"root": 2, "share": "1/3", "routes": [2, 0]},
    ]
    assert written["phases"] == [{"op": "broadcast", "trees": trees}]


def test_attributes_of_the_network_keep_their_digits(tmp_path: Path) -> None:
    made = changed(document(), ("topology", "nodes", 0, "temp"), 7654321)
    text = json.dumps(made).replace("7654321", "0.12345678901234567890")
    (tmp_path / "s.json").write_text(text)
    assert '"temp": 0.12345678901234567890}' in "".join(schedule_text(read_schedule(tmp_path / "s.json")))


def test_routes_written_in_blocks_are_one_list() -> None:
    for count in (0, 1, 4095, 4096, 4097, 8193):
        routes = Rows.of([[place % 3, 3, (place + 1) % 3] for place in range(count)])
        phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([list(range(count))]))
        schedule = replace(path_schedule(), routes=routes, phases=(phase,))
        assert again(schedule) == schedule, count


def test_empty_lists_are_well_formed() -> None:
    bare = replace(path_schedule(), routes=Rows.of([]), phases=(), bound=None, trees_per_root=None)
    phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([[]]))
    treeless = replace(bare, phases=(phase, Phase(PhaseOp.BROADCAST, (), (), Rows.of([]))))
    assert [again(bare), again(treeless)] == [bare, treeless]


@examples(100)
@given(
    shares=st.lists(st.fractions(max_denominator=10**30), min_size=1, max_size=5),
    algbw=st.fractions(max_denominator=10**30),
    rows=st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=6),
)
def test_any_well_formed_schedule_is_read_back_equal(
    shares: list[Fraction], algbw: Fraction, rows: list[list[int]]
) -> None:
    listed = Rows.of([list(range(len(rows)))] * len(shares))
    phase = Phase(PhaseOp.BROADCAST, (1,) * len(shares), tuple(shares), listed)
    schedule = replace(path_schedule(), routes=Rows.of(rows), phases=(phase,), algbw=algbw)
    assert again(schedule) == schedule


def rotated() -> TreeSchedule:
    """Return `path_schedule` as the tree of one root and a rotation of the GPUs."""
    whole = path_schedule()
    phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1, 3),), Rows.of([[0, 1]]))
    turn = Shift(3, np.array([1, 2, 0, 3], dtype=np.int32))
    return replace(whole, phases=(phase,), routes=Rows.of([[0, 3, 1], [1, 3, 2]]), symmetry=Symmetry((turn,)))


def test_a_symmetry_is_written_after_the_shards_and_read_back_equal(tmp_path: Path) -> None:
    for symmetry in (rotated().symmetry, Symmetry(()), None):
        schedule = replace(rotated(), symmetry=symmetry)
        write_schedule(schedule, tmp_path / "s.json")
        assert read_schedule(tmp_path / "s.json") == again(schedule) == schedule
    written = json.loads(text_of(rotated()))
    keys = list(written)
    assert keys[keys.index("shards") + 1] == "symmetry"
    assert written["symmetry"] == [{"order": 3, "image": [1, 2, 0, 3]}]
    assert "symmetry" not in document()


def test_symmetries_are_equal_by_value() -> None:
    symmetry = rotated().symmetry
    assert symmetry == rotated().symmetry
    assert symmetry != Symmetry((Shift(3, np.array([2, 0, 1, 3], dtype=np.int32)),))
    assert symmetry != Symmetry((Shift(6, np.array([1, 2, 0, 3], dtype=np.int32)),))
    assert Shift(2, np.array([1, 0], dtype=np.int32)) != [1, 0]


@pytest.mark.parametrize("name", ["all_gather", "all-gather", "AllGather", "allgather"])
def test_a_collective_is_read_in_any_spelling_and_written_in_one(name: str) -> None:
    schedule = schedule_from_document(document() | {"collective": name}, where="here")
    assert schedule == path_schedule()
    assert json.loads("".join(schedule_text(schedule)))["collective"] == "allgather"


def test_claims_and_shards_can_be_omitted() -> None:
    short = document()
    for key in ("optimal_algbw", "certificate", "trees_per_root", "shards"):
        del short[key]
    schedule = schedule_from_document(short, where="x")
    assert isinstance(schedule, TreeSchedule)
    assert (schedule.bound, schedule.trees_per_root) == (None, None)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ('"0.1"', Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("1", Fraction(1)),
        ('"2/6"', Fraction(1, 3)),
        ('"-1/3"', Fraction(-1, 3)),
        ("0.1000000000000000055", Fraction(1000000000000000055, 10**19)),
    ],
)
def test_shares_are_read_exactly_as_written(tmp_path: Path, text: str, share: Fraction) -> None:
    file = tmp_path / "s.json"
    file.write_text(text_of(path_schedule()).replace('"share": "1/3"', f'"share": {text}'))
    schedule = read_schedule(file)
    assert isinstance(schedule, TreeSchedule)
    assert schedule.phases[0].shares == (share,) * 3


SYMMETRY = ("symmetry",)
TREE = ("phases", 0, "trees", 1)
IN_TREE = "phases[0].trees[1]"
ENTRY = ("routes", 1, 2)

Keys = tuple[str | int, ...]

NEEDED: list[tuple[Keys, str]] = [
    (("collective",), 'has no "collective"; a schedule needs it'),
    (("topology",), 'has no "topology"; a schedule needs it'),
    (("routes",), 'has no "routes"; a schedule needs it'),
    (("phases",), 'has no "phases"; a schedule needs it'),
    (("phases", 0, "op"), 'phases[0] has no "op"; a schedule needs it'),
    (("phases", 0, "trees"), 'phases[0] has no "trees"; a schedule needs it'),
    ((*TREE, "root"), f'{IN_TREE} has no "root"; a schedule needs it'),
    ((*TREE, "share"), f'{IN_TREE} has no "share"; a schedule needs it'),
    ((*TREE, "routes"), f'{IN_TREE} has no "routes"; a schedule needs it'),
    (("algbw",), 'has no "algbw"; a schedule needs it'),
    (("format",), 'has no "format"; expected'),
    (("optimal_algbw",), "optimal_algbw is missing"),
    (("certificate",), "certificate is missing"),
]

MALFORMED: list[tuple[Keys, object, str]] = [
    *((keys, MISSING, message) for keys, message in NEEDED),
    (("format",), "forestcoll.topology/1", "is a network, not a schedule; give it as TOPOLOGY"),
    (("format",), "forestcoll.schedule/2", "format is 'forestcoll.schedule/2'; expected"),
    (("format",), ["x" * 999], "...; expected 'forestcoll.schedule/1'"),
    (("collective",), "alltoal", "collective is 'alltoal'; this version supports"),
    (("collective",), "all-to-all", "collective is 'all-to-all'; this version supports"),
    (("collective",), [], "collective is []; this version supports"),
    (("shards",), [], 'shards are []; expected an object, {"<node id>": "<rational>", ...}'),
    (("shards",), {"g0": "1/2"}, "shards: the shards add up to 1/2; they must add up to exactly 1"),
    (("shards",), {"g0": "a"}, "shards: the shard of node 'g0', 'a', is not a number"),
    (("shards",), {"sw": "1"}, "shards: 'sw' is a switch; only compute nodes have shards"),
    (("shards",), {"g9": "1"}, "no node 'g9'"),
    (("topology",), [], "topology is []; expected an object"),
    (("topology",), None, "topology is null; expected an object"),
    (("topology", "edges", 0, "bandwidth"), 0, "topology: edge 'g0' -> 'sw': bandwidth 0 must be"),
    (SYMMETRY, {}, "symmetry is {}; expected a list"),
    (SYMMETRY, [3], "symmetry[0] is 3; expected {"),
    (SYMMETRY, [{"order": 3}], 'symmetry[0] has no "image"; a schedule needs it'),
    (SYMMETRY, [{"image": [0, 1, 2, 3]}], 'symmetry[0] has no "order"; a schedule needs it'),
    (SYMMETRY, [{"order": 1, "image": []}], "symmetry[0].order is 1; expected an integer of 2 or more"),
    (SYMMETRY, [{"order": 2.0, "image": []}], "symmetry[0].order is 2.0; expected an integer"),
    (SYMMETRY, [{"order": True, "image": []}], "symmetry[0].order is true; expected an integer"),
    (SYMMETRY, [{"order": 2, "image": 3}], "symmetry[0].image is 3; expected a list"),
    (SYMMETRY, [{"order": 2, "image": [1, 0, 2]}], "image has 3 entries; expected one for each of the 4 nodes"),
    (SYMMETRY, [{"order": 2, "image": [1, 0, 2, 4]}], "image[3] is 4; expected an integer from 0 to 3"),
    (SYMMETRY, [{"order": 2, "image": [1, 0, "2", 3]}], "symmetry[0].image[2] is '2'; expected an"),
    (("routes",), {}, "routes is {}; expected a list"),
    (("routes", 1), "0", "routes[1] is '0'; expected a list"),
    (("routes", 1), None, "routes[1] is null; expected a list"),
    (ENTRY, 4, "routes[1][2] is 4; expected an integer from 0 to 3"),
    (ENTRY, -1, "routes[1][2] is -1; expected an integer"),
    (ENTRY, 1.0, "routes[1][2] is 1.0; expected an integer"),
    (ENTRY, True, "routes[1][2] is true; expected an integer"),
    (ENTRY, "1", "routes[1][2] is '1'; expected an integer"),
    (ENTRY, None, "routes[1][2] is null; expected an integer"),
    (ENTRY, [1], "routes[1][2] is [1]; expected an integer"),
    (ENTRY, 10**30, f"routes[1][2] is {10**30}; expected an integer"),
    (("phases",), {}, "phases is {}; expected a list"),
    (("phases", 0), [], "phases[0] is []; expected"),
    (("phases", 0, "op"), "scatter", "phases[0].op is 'scatter'; this version supports"),
    (("phases", 0, "trees"), {}, "phases[0].trees is {}; expected a list"),
    (TREE, [0], f"{IN_TREE} is [0]; expected an object"),
    ((*TREE, "root"), 4, f"{IN_TREE}.root is 4; expected an integer from 0 to 3"),
    ((*TREE, "root"), True, f"{IN_TREE}.root is true"),
    ((*TREE, "share"), None, f"{IN_TREE}.share null is not a number; write a rational"),
    ((*TREE, "share"), "1/0", f"{IN_TREE}.share '1/0' has a zero denominator"),
    ((*TREE, "share"), "NaN", f"{IN_TREE}.share 'NaN' is not finite"),
    ((*TREE, "share"), float("nan"), f"{IN_TREE}.share NaN is not finite"),
    ((*TREE, "share"), float("-inf"), f"{IN_TREE}.share -Infinity is not finite"),
    ((*TREE, "share"), "", f"{IN_TREE}.share '' is not a number"),
    ((*TREE, "share"), True, f"{IN_TREE}.share true is not a number"),
    ((*TREE, "share"), [1, 3], f"{IN_TREE}.share [1, 3] is not a number"),
    ((*TREE, "share"), "1e999999999", f"{IN_TREE}.share '1e999999999' has more than 4000 digits"),
    ((*TREE, "share"), "1/" + "9" * 5000, f"{IN_TREE}.share '1/999"),
    ((*TREE, "routes"), 0, f"{IN_TREE}.routes is 0; expected a list"),
    ((*TREE, "routes", 1), 3, f"{IN_TREE}.routes[1] is 3; expected an integer from 0 to 2"),
    ((*TREE, "routes", 1), False, f"{IN_TREE}.routes[1] is false"),
    (("algbw",), {}, "algbw {} is not a number"),
    (("optimal_algbw",), "1/0", "optimal_algbw '1/0' has a zero denominator"),
    (("certificate",), [0], "certificate is [0]; expected"),
    (("certificate",), {}, 'certificate has no "cut"; a schedule needs it'),
    (("certificate", "cut"), "0", "certificate.cut is '0'; expected a list"),
    (("certificate", "cut", 2), 4, "certificate.cut[2] is 4; expected an integer from 0 to 3"),
    (("certificate", "cut", 2), True, "certificate.cut[2] is true"),
    (("trees_per_root",), 0, "trees_per_root is 0; expected a positive integer or null"),
    (("trees_per_root",), 1.5, "trees_per_root is 1.5"),
    (("trees_per_root",), True, "trees_per_root is true"),
]


@pytest.mark.parametrize(("keys", "value", "expected"), MALFORMED)
def test_a_malformed_schedule_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, keys: Keys, value: object, expected: str
) -> None:
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(changed(document(), keys, value)))
    message = refusal(read_schedule, file)
    assert message.startswith(f"{file}: ")
    assert expected in message
    assert "\n" not in message
    assert len(message) < len(str(file)) + 250


def test_routes_are_out_of_range_if_the_table_is_empty() -> None:
    with pytest.raises(InputError, match=r"phases\[0\]\.trees\[0\]\.routes\[0\] is 0; expected an integer from 0 to"):
        schedule_from_document(document() | {"routes": []}, where="x")


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '"x"', '{"format": ', "{" * 5000, "[" * 100_000])
def test_text_that_is_not_a_json_object_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    assert refusal(read_schedule, file).startswith(f"{file}: ")


def test_a_file_that_cannot_be_written_is_an_input_error(tmp_path: Path) -> None:
    assert "does not exist" in refusal(write_schedule, path_schedule(), tmp_path / "none" / "s.json")


def test_rows_are_immutable_values() -> None:
    rows = Rows.of([[1, 2], [], [3]])
    assert (len(rows), list(rows), rows[0], rows[1]) == (3, [(1, 2), (), (3,)], (1, 2), ())
    assert rows == Rows.of([[1, 2], [], [3]])
    assert rows != Rows.of([[1], [2], [3]])
    assert rows != [[1, 2], [], [3]]
    for beyond in (3, -1):
        with pytest.raises(IndexError):
            rows[beyond]
    with pytest.raises(ValueError, match="read-only"):
        rows.entries[0] = 9
    with pytest.raises(OverflowError):
        Rows.of([[2**31]])


def test_a_phase_gives_its_trees() -> None:
    phase = path_schedule().phases[0]
    assert len(phase) == 3
    assert phase[1] == Tree(1, Fraction(1, 3), (1, 2))
    assert list(phase)[1] == phase[1]


@pytest.mark.slow
def test_a_schedule_of_a_thousand_nodes_is_written_and_read_in_seconds(tmp_path: Path) -> None:
    """A million routes through one switch, a chain of all nodes from every root. The limit is one of processor time."""
    count = 1024
    star = built([*range(count), "sw"], [(node, "sw", 25) for node in range(count)], switches=["sw"])
    routes = [(one, count, (one + step) % count) for step in range(1, count) for one in range(count)]
    chains = (np.arange(count)[:, None] + np.arange(count - 1)) % count
    phase = Phase(PhaseOp.BROADCAST, tuple(range(count)), (Fraction(1, count),) * count, Rows.of(chains.tolist()))
    schedule = TreeSchedule(
        star, Collective.ALLGATHER, Rows.of(routes), (phase,), algbw=Fraction(25 * count, count - 1)
    )
    begin = time.process_time()
    write_schedule(schedule, tmp_path / "s.json")
    assert read_schedule(tmp_path / "s.json") == schedule
    assert time.process_time() - begin < 10
