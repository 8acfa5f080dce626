"""GOAL schedules: reading, refusing and writing files."""

import re
from pathlib import Path

import pytest
from samples import schedule

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import goal
from forestcoll.programs.formats.goal import Operation, OperationKind
from forestcoll.programs.formats.judging import judge_file
from forestcoll.tuning.programs.export import export

PING = """\
/* two
   ranks */
num_ranks 2

rank 0 {
l1: send 8b to 1 tag 7
recv 4b from 1 tag 9 cpu 0 nic 1
}
rank 1 {
  l1: recv 8b from 0 tag 7
  l2: calc 100 cpu 0
  l2 requires l1
  // a comment
  l3: send 4b to 0 tag 9
  l3 irequires l2
}
"""

SUM = """\
// forestcoll {"name": "sum", "collective": "reduce", "bytes": 8, "chunks": 2, "root": 0}
num_ranks 2
rank 0 {
// data -> scratch 0 2
l1: recv 8b from 1 tag 0
// data input 0 2 + scratch 0 2 -> output 0 2
l2: calc 0
l2 requires l1
}
rank 1 {
// data input 0 2 ->
l1: send 8b to 0 tag 0
}
"""


def parsed(text: str) -> goal.Goal:
    return goal.parse_goal(text, where="s.goal")


def judged(folder: Path, text: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the rule that the file breaks, or None, and the remarks."""
    path = folder / "s.goal"
    path.write_text(text)
    found = judge_file(path)
    return None if found.fault is None else found.fault.rule, found.remarks


def test_the_statements_of_a_file_are_read() -> None:
    assert parsed(PING).ranks == (
        (Operation(OperationKind.SEND, 8, 1, 7), Operation(OperationKind.RECEIVE, 4, 1, 9)),
        (
            Operation(OperationKind.RECEIVE, 8, 0, 7),
            Operation(OperationKind.COMPUTE, 100, after=(0,)),
            Operation(OperationKind.SEND, 4, 0, 9, after_start=(1,)),
        ),
    )


def test_a_written_schedule_is_read_back() -> None:
    for text in (PING, SUM, export(schedule("ring:nodes=3", Collective.ALLREDUCE), "goal").text):
        value = parsed(text)
        assert parsed("".join(goal.emit(value))) == value


def test_a_file_of_another_tool_is_checked_without_its_data(tmp_path: Path) -> None:
    rule, (remark,) = judged(tmp_path, PING)
    assert rule is None
    assert "only messages and dependencies were checked" in remark
    with pytest.raises(InputError, match="does not say which data it moves"):
        goal.to_program(parsed(PING))


def test_a_file_with_data_is_run(tmp_path: Path) -> None:
    assert judged(tmp_path, SUM) == (None, ())
    found = judge_file(tmp_path / "s.goal")
    assert (found.format, found.collective, found.ranks, found.instructions) == ("goal", "reduce", 2, 3)
    assert found.program is not None


def test_sends_that_wait_for_each_other_are_a_remark(tmp_path: Path) -> None:
    ranks = (
        f"rank {rank} {{\nl1: send 1b to {1 - rank}\nl2: recv 1b from {1 - rank}\nl2 requires l1\n}}\n"
        for rank in range(2)
    )
    rule, remarks = judged(tmp_path, "num_ranks 2\n" + "".join(ranks))
    assert rule is None
    assert "rank 0, step 0 waits forever if a send waits for its receive" in remarks[1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("num_ranks 2", "num_ranks 3", "the file has 2 ranks, and num_ranks is 3"),
        ("num_ranks 2", "num_ranks 2\nnum_ranks 2", "line 4: num_ranks is given twice"),
        ("rank 1 {", "rank 2 {", "line 9: rank 2 is in the place of rank 1"),
        ("}\nrank 1", "rank 1", "begins within another rank"),
        ("tag 9\n  l3 ireq", "tag 9\n} l3 ireq", "is not a statement of GOAL"),
        ("  l3 irequires l2\n}\n", "", "ends within a rank"),
        ("}\nrank 1", "}\ncalc 1\nrank 1", "line 9: this line is outside of a rank"),
        ("send 8b to 1", "send 8b from 1", "a send needs 'to'"),
        ("send 8b to 1", "send 8 to 1", "is not a statement of GOAL"),
        ("calc 100 cpu 0", "calc 100 // ns", "is not a statement of GOAL"),
        ("from 0 tag 7", "from -1 tag 7", "from any source or with any tag"),
        ("from 0 tag 7", "from 0 tag -1", "from any source or with any tag"),
        ("l2: calc", "l1: calc", "the label 'l1' is used twice"),
        ("l2 requires l1", "l2 requires l3", "line 12: there is no operation 'l3' before this line"),
        ("calc 100", f"calc {2**63}", "is above"),
        ("/* two", "/* * two", None),
        ("ranks */", "ranks", "is not a statement of GOAL"),
    ],
)
def test_a_text_that_is_not_a_schedule_is_refused(old: str, new: str, message: str | None) -> None:
    text = PING.replace(old, new, 1)
    assert text != PING
    if message is None:
        assert parsed(text) == parsed(PING)
        return
    with pytest.raises(InputError, match=re.escape(message)):
        parsed(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{", "[{", "is not a JSON object"),
        ('"chunks": 2', '"chunks": 0', '"chunks" is 0; expected an integer of 1 or more'),
        ('"bytes": 8', '"bytes": true', '"bytes" is true'),
        ('"root": 0', '"root": -1', '"root" is -1'),
        ('"root": 0', '"shards": 3', '"shards" is 3; expected a list'),
        ('"reduce"', '"custom"', '"collective" one of'),
        ("scratch 0 2\n", "scratch 0 0\n", "line 4: 'scratch 0 0' is not a span"),
        ("scratch 0 2\n", "registers 0 2\n", "is not a span"),
        ("-> scratch 0 2\n", "scratch 0 2\n", "needs '->'"),
    ],
)
def test_comments_that_are_not_understood_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parsed(SUM.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("send 8b to 0", "send 8b to 1", "operation-peer"),
        ("send 8b to 0", "send 8b to 2", "operation-peer"),
        ("send 8b to 0", "send 0b to 0", "operation-size"),
        ("8b to 0 tag 0", f"8b to 0 tag {2**32}", "operation-tag"),
        ("send 8b to 0 tag 0", "send 8b to 0 tag 1", "message-unmatched"),
        ("send 8b to 0", "send 7b to 0", "message-size"),
        ('"root": 0', '"shards": [2]', "header-shards"),
        ("// data input 0 2 ->", "// data input 0 2 -> scratch 0 2", "data-shape"),
        ("// data -> scratch 0 2", "// data -> scratch 0 1", "data-size"),
        ("+ scratch 0 2", "+ scratch 0 1", "data-count"),
        ("l2 requires l1", "l2 requires l1\nl1 requires l2", "deadlock"),
        ("l2 requires l1", "", "unwritten-read"),
        ("// data -> scratch 0 2", "// data -> scratch 1 2", "unwritten-read"),
        ("input 0 2 + ", "", "wrong-data"),
        ("input 0 2 + scratch", "input 1 2 + scratch", None),
        ("-> output 0 2", "-> input 0 2", "input-overwritten"),
        ('"root": 0', '"root": 1', "span-outside"),
    ],
)
def test_a_fault_in_a_file_is_found(tmp_path: Path, old: str, new: str, rule: str | None) -> None:
    text = SUM.replace(old, new, 1)
    assert text != SUM
    found = judged(tmp_path, text)[0]
    assert found == rule if rule is not None else found is not None


ROOT = Path(__file__).parents[3]


def test_every_rule_is_documented() -> None:
    rules = re.findall(
        r'(?:_fault|Fault)\("([a-z-]+)"', (ROOT / "src/forestcoll/programs/formats/goal/rules.py").read_text()
    )
    table = (ROOT / "docs" / "tables" / "rules-goal.csv").read_text(encoding="utf-8")
    assert set(re.findall(r"^`([a-z-]+)`,", table, re.MULTILINE)) == set(rules)
    assert len(set(rules)) == 10


def test_a_program_in_place_is_refused() -> None:
    with pytest.raises(InputError, match="GOAL schedules are for out of place only"):
        export(schedule("ring:nodes=3"), "goal:placement=both")
