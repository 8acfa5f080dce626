"""Reads GOAL schedules from untrusted text, by the grammar of `txt2bin.re` of LogGOPSim; errors name the line.

`txt2bin` reads the ranks in the order of the file and writes them to a binary file in this order, so ranks must be
numbered from 0. A label must come before the lines that use it. A receive from any source, or with any tag (-1), is
refused: which message it gets depends on time.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from forestcoll.base.errors import InputError, shown
from forestcoll.programs.formats.goal.document import Data, Goal, Header, Operation, OperationKind
from forestcoll.programs.formats.goal.writing import DATA, HEADER
from forestcoll.programs.model import Buffer, Span, Task

LARGEST = 2**63 - 1
"""The largest number in a file; simulators compute times in 64 bits."""

_DIGITS = len(str(LARGEST))

_SPACE = r"[ \t]*"
_LABEL = r"(?P<label>[a-zA-Z][a-zA-Z0-9_]*)"
_END = rf"(?:tag{_SPACE}(?P<tag>-1|[0-9]+){_SPACE})?(?:cpu{_SPACE}[0-9]+{_SPACE})?(?:nic{_SPACE}[0-9]+{_SPACE})?\Z"
_PATTERNS = {  # the most frequent ones first
    "message": re.compile(
        rf"(?:{_LABEL}{_SPACE}:{_SPACE})?(?P<kind>send|recv){_SPACE}(?P<size>[0-9]+){_SPACE}b{_SPACE}"
        rf"(?P<word>to|from){_SPACE}(?P<peer>-1|[0-9]+){_SPACE}{_END}"
    ),
    "dependency": re.compile(
        rf"{_LABEL}{_SPACE}(?P<word>i?requires){_SPACE}(?P<other>[a-zA-Z][a-zA-Z0-9_]*){_SPACE}\Z"
    ),
    "compute": re.compile(
        rf"(?:{_LABEL}{_SPACE}:{_SPACE})?calc{_SPACE}(?P<size>[0-9]+){_SPACE}(?:cpu{_SPACE}[0-9]+{_SPACE})?\Z"
    ),
    "end": re.compile(rf"}}{_SPACE}\Z"),
    "rank": re.compile(rf"rank{_SPACE}(?P<size>[0-9]+){_SPACE}{{{_SPACE}\Z"),
    "num_ranks": re.compile(rf"num_ranks{_SPACE}(?P<size>[0-9]+){_SPACE}\Z"),
}
_SPAN = re.compile(r"(input|output|scratch) ([0-9]{1,12}) ([0-9]{1,12})")
_COMMENTS = re.compile(rb"(?:\s+|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


def looks_like_goal(start: bytes) -> bool:
    """Return whether the first bytes of a file, after comments, are those of a GOAL schedule."""
    found = _COMMENTS.match(start)
    rest = start[found.end() :] if found is not None else start
    return rest.startswith(b"num_ranks") or start.startswith(HEADER.encode())


def parse_goal(text: str, *, where: str) -> Goal:
    """Return the schedule in `text`; `where` begins every error message.

    Raises:
        InputError: the text is not a GOAL schedule that LogGOPSim reads, or one of its comments is not understood.
    """
    reader = _Reader(where)
    for number, line in enumerate(_without_blocks(text).split("\n"), 1):
        reader.number = number
        reader.line(line.strip(" \t\r"))
    return reader.goal()


def _without_blocks(text: str) -> str:
    """Return `text` without comments of the form /* */; line numbers stay the same."""
    pieces = re.split(r"^[ \t]*/\*(.*?)\*/", text, flags=re.DOTALL | re.MULTILINE)
    return "".join("\n" * each.count("\n") if place % 2 else each for place, each in enumerate(pieces))


@dataclass(slots=True)
class _Draft:
    """An operation, and what it waits for as far as the file was read."""

    kind: OperationKind
    size: int
    peer: int = -1
    tag: int = 0
    data: Data | None = None
    after: list[int] = field(default_factory=list)
    after_start: list[int] = field(default_factory=list)

    def operation(self) -> Operation:
        return Operation(
            self.kind, self.size, self.peer, self.tag, tuple(self.after), tuple(self.after_start), self.data
        )


@dataclass
class _Reader:
    """The state of reading a file, line by line."""

    where: str
    number: int = 0
    header: Header | None = None
    count: int | None = None
    ranks: list[tuple[Operation, ...]] = field(default_factory=list)
    drafts: list[_Draft] | None = None
    labels: dict[str, int] = field(default_factory=dict)
    data: Data | None = None

    def line(self, text: str) -> None:
        """Read one line."""
        if text.startswith(HEADER):
            self.header = self._header(text.removeprefix(HEADER))
        elif text.startswith(DATA):
            self.data = self._data(text.removeprefix(DATA))
        elif text and not text.startswith("//"):
            self._statement(text)

    def goal(self) -> Goal:
        """Return the schedule, after the last line."""
        if self.drafts is not None:
            raise self._error("the file ends within a rank; a } is missing")
        if self.count is None or len(self.ranks) != self.count or not self.ranks:
            raise self._error(f"the file has {len(self.ranks)} ranks, and num_ranks is {self.count}")
        return Goal(tuple(self.ranks), self.header)

    def _statement(self, text: str) -> None:
        for name, pattern in _PATTERNS.items():
            if (found := pattern.match(text)) is not None:
                getattr(self, f"_{name}")(found)
                return
        raise self._error(f"{shown(text)} is not a statement of GOAL; see docs/runtimes.md")

    def _error(self, message: str) -> InputError:
        return InputError(f"{self.where}: line {self.number}: {message}")

    def _int(self, text: str) -> int:
        if len(text) > _DIGITS or int(text) > LARGEST:
            raise self._error(f"the number {shown(text)} is above {LARGEST}")
        return int(text)

    def _num_ranks(self, found: re.Match[str]) -> None:
        if self.count is not None:
            raise self._error("num_ranks is given twice")
        self.count = self._int(found["size"])

    def _rank(self, found: re.Match[str]) -> None:
        if self.drafts is not None:
            raise self._error("a rank begins within another rank; a } is missing")
        if self._int(found["size"]) != len(self.ranks):
            raise self._error(f"rank {found['size']} is in the place of rank {len(self.ranks)}; write ranks in order")
        self.drafts, self.labels = [], {}

    def _end(self, _: re.Match[str]) -> None:
        self.ranks.append(tuple(each.operation() for each in self._inside()))
        self.drafts = None

    def _inside(self) -> list[_Draft]:
        if self.drafts is None:
            raise self._error("this line is outside of a rank")
        return self.drafts

    def _message(self, found: re.Match[str]) -> None:
        kind = OperationKind(found["kind"])
        if (found["word"] == "to") != (kind is OperationKind.SEND):
            raise self._error("a send needs 'to', a recv needs 'from'")
        if "-1" in (found["peer"], found["tag"]):
            raise self._error("a message from any source or with any tag (-1) cannot be checked; name both")
        size, peer, tag = (self._int(found[name] or "0") for name in ("size", "peer", "tag"))
        self._add(found, _Draft(kind, size, peer, tag, self.data))

    def _compute(self, found: re.Match[str]) -> None:
        self._add(found, _Draft(OperationKind.COMPUTE, self._int(found["size"]), data=self.data))

    def _add(self, found: re.Match[str], draft: _Draft) -> None:
        drafts = self._inside()
        label = found["label"]
        if label in self.labels:
            raise self._error(f"the label {shown(label)} is used twice in a rank")
        if label is not None:
            self.labels[label] = len(drafts)
        drafts.append(draft)
        self.data = None

    def _dependency(self, found: re.Match[str]) -> None:
        drafts = self._inside()
        for label in (found["label"], found["other"]):
            if label not in self.labels:
                raise self._error(f"there is no operation {shown(label)} before this line in the rank")
        draft, other = drafts[self.labels[found["label"]]], self.labels[found["other"]]
        (draft.after if found["word"] == "requires" else draft.after_start).append(other)

    def _data(self, text: str) -> Data:
        sources, arrow, targets = text.partition("->")
        if not arrow:
            raise self._error("a comment on data needs '->' between what is read and what is written")
        return Data(tuple(self._spans(sources, "+")), tuple(self._spans(targets, ",")))

    def _spans(self, text: str, sign: str) -> Iterator[Span]:
        rank = len(self.ranks)
        for each in text.split(sign) if text.strip() else ():
            found = _SPAN.fullmatch(each.strip())
            if found is None or found[3] == "0":
                raise self._error(f"{shown(each.strip())} is not a span; expected BUFFER OFFSET COUNT")
            yield Span(rank, Buffer(found[1]), int(found[2]), int(found[3]))

    def _header(self, text: str) -> Header:
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict):
            raise self._error("the comment with the collective is not a JSON object")
        name, collective, shards = document.get("name"), document.get("collective"), document.get("shards", [])
        if not isinstance(name, str) or collective not in tuple(Task) or collective == Task.CUSTOM:
            raise self._error(f'"name" must be a string, and "collective" one of {", ".join(tuple(Task)[:-1])}')
        if not isinstance(shards, list):
            raise self._error(f'"shards" is {shown(shards)}; expected a list')
        root = None if "root" not in document else self._count(document, "root")
        parts = tuple(self._count({"shards": each}, "shards") for each in shards)
        size, chunks = self._count(document, "bytes", 1), self._count(document, "chunks", 1)
        return Header(name, collective, size, chunks, parts, root)

    def _count(self, document: Mapping[str, object], name: str, least: int = 0) -> int:
        value = document.get(name)
        if type(value) is not int or not least <= value <= LARGEST:
            raise self._error(f'"{name}" is {shown(value)}; expected an integer of {least} or more')
        return value
