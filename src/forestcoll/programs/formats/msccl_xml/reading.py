"""Reads MSCCL XML from untrusted files: no entities, limited size and depth, errors that name the line.

A file becomes an `Algorithm` if every element and attribute that the runtimes read is present, and an integer where
they require one. Whether the file makes sense is checked by `rules.py`. The runtimes do not use an XML parser but a
small scanner of their own. XML that this scanner cannot read is recorded in `Algorithm.oddities`. Elements of other
names, which it skips with all that is in them, are in `Algorithm.skipped`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.parsers import expat

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.base.files import read_bytes
from forestcoll.programs.formats.msccl_xml import dialects
from forestcoll.programs.formats.msccl_xml.document import Algorithm, Block, Gpu, Step, StepType, frozen_attributes

MAX_BYTES = 512 * 2**20
"""The largest file that is read (512 MiB): about three million steps."""

_PARENTS = {"algo": None, "gpu": "algo", "tb": "gpu", "step": "tb"}
_TYPES = {kind.value: kind for kind in StepType}
_BUFFERS = {letter: letter for letter in "ios"}
_FLAGS = {"0": False, "1": True}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})\Z")
_SIZES = ("minBytes", "maxBytes")
_SIZE = re.compile(r"-?[0-9]+\Z")
_MOST_ODDITIES = 3
_BROKEN = "a tab or a line break within a tag"
_ODD_TAG = re.compile(rb"<[^>]*(?:='|[\n\r\t])")
_ODD_MARKS = ((b"='", "an attribute in single quotes"), (b"\n", _BROKEN), (b"\r", _BROKEN), (b"\t", _BROKEN))


def read_algorithm(path: Path) -> Algorithm:
    """Return the content of the MSCCL XML file at `path`.

    Raises:
        InputError: the file cannot be read, is not XML, has a document type, or lacks something that the runtimes read;
            the message names the line.
    """
    return parse_algorithm(bytes(read_bytes(path, limit=MAX_BYTES)), where=str(path))


def parse_algorithm(data: bytes, *, where: str) -> Algorithm:
    """Return the content of the MSCCL XML in `data`, as `read_algorithm` does; `where` begins every error message."""
    reader = _Reader(where)
    return reader.read(data)


class _Reader:
    """Builds the value of one file; its handlers are called by expat, in the order of the text."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._open: list[str] = []
        self._algorithm: dict[str, str] | None = None
        self._counts = (0, 0, 0)
        self._gpus: list[Gpu] = []
        self._gpu = (0, 0, 0, 0)
        self._blocks: list[Block] = []
        self._block = (0, 0, 0, 0)
        self._steps: list[Step] = []
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.XmlDeclHandler = self._declaration
        self._data = b""
        self._is_plain = True
        self._oddities: list[str] = []
        self._skipped: dict[str, int] = {}  # the line of the first element of each name that is skipped
        self._depth_of_skipped = 0
        self._integers: dict[str, int] = {}  # a file has few different ones

    def read(self, data: bytes) -> Algorithm:
        self._data = data
        self._is_plain = _ODD_TAG.search(data) is None
        try:
            self._parser.Parse(data, True)  # noqa: FBT003 (True: no more data follows)
        except expat.ExpatError as error:
            text = expat.ErrorString(error.code)
            raise InputError(
                f"{self._where}: not valid XML: {text} at line {error.lineno}, column {error.offset + 1}; "
                "fix the file there"
            ) from None
        if self._algorithm is None:
            raise InputError(f"{self._where}: holds no <algo>; is this MSCCL XML?")
        channels, chunks, count = self._counts
        attributes = frozen_attributes(self._algorithm)
        skipped = tuple(f"line {line}: <{name[:40]}>" for name, line in self._skipped.items())
        return Algorithm(attributes, channels, chunks, count, tuple(self._gpus), tuple(self._oddities), skipped)

    def _line(self) -> str:
        return f"{self._where}: line {self._parser.CurrentLineNumber}"

    def _refuse_doctype(self, *_: object) -> None:
        raise InputError(f"{self._line()}: has a document type (<!DOCTYPE>); MSCCL XML needs none: leave it out")

    def _declaration(self, *_: object) -> None:
        self._oddities.append("line 1 has an XML declaration")

    def _note_oddities(self) -> None:
        """Record what the scanner of the runtimes could not read in the tag that begins here."""
        if self._is_plain:
            return
        begin = self._parser.CurrentByteIndex
        end = self._data.find(b">", begin)
        for mark, what in _ODD_MARKS:
            if self._data.find(mark, begin, end) >= 0 and len(self._oddities) < _MOST_ODDITIES:
                self._oddities.append(f"line {self._parser.CurrentLineNumber} has {what}")
                return

    def _text(self, text: str) -> None:
        if text.strip():
            raise InputError(f"{self._line()}: text {shown(text.strip())} outside a tag; remove it")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else None
        if self._depth_of_skipped or name not in _PARENTS:
            if parent is None:
                raise InputError(f"{self._where}: holds no <algo>; is this MSCCL XML?")
            self._skip(name)
            return
        if _PARENTS[name] != parent:
            inside = f"inside <{parent}>" if parent else "at the top"
            home = f"inside <{_PARENTS[name]}>" if _PARENTS[name] else "at the top"
            raise InputError(f"{self._line()}: <{name}> is {inside}; it belongs {home}")
        self._open.append(name)
        self._note_oddities()
        if name == "step":
            self._steps.append(self._step(attributes))
        elif name == "tb":
            self._block = self._four("tb", attributes, ("id", "send", "recv", "chan"))
        elif name == "gpu":
            self._gpu = self._four("gpu", attributes, ("id", "i_chunks", "o_chunks", "s_chunks"))
        else:
            self._begin_algorithm(attributes)

    def _skip(self, name: str) -> None:
        """Begin an element that the runtimes skip."""
        if not self._depth_of_skipped:
            self._skipped.setdefault(name, self._parser.CurrentLineNumber)
        self._depth_of_skipped += 1
        self._note_oddities()

    def _begin_algorithm(self, attributes: dict[str, str]) -> None:
        self._algorithm = attributes | self._sizes(attributes)
        for name in ("name", "proto", "coll"):
            if name not in attributes:
                raise InputError(f'{self._line()}: <algo> has no "{name}"; give it one')
        self._counts = (
            self._integer("algo", attributes, "nchannels"),
            self._integer("algo", attributes, "nchunksperloop"),
            self._integer("algo", attributes, "ngpus"),
        )
        for name in ("inplace", "outofplace"):
            if name in attributes:
                self._integer("algo", attributes, name)

    def _sizes(self, attributes: Mapping[str, str]) -> dict[str, str]:
        """Return the sizes of a file, which the runtimes read as integers of 64 bits: greater ones become the greatest.

        (`strtoll` in `src/graph/xml.h` of microsoft/msccl, and in `msccl_parser.cc` of Azure and RCCL.)
        """
        found = {}
        for name in _SIZES:
            if (value := attributes.get(name)) is not None:
                if len(value) > dialects.MAX_VALUE_LENGTH or not _SIZE.match(value):
                    raise InputError(f"{self._line()}: <algo> has {name} {shown(value)}; expected an integer")
                found[name] = str(min(max(int(value), -(2**63)), 2**63 - 1))
        return found

    def _end(self, name: str) -> None:
        if self._depth_of_skipped:
            self._depth_of_skipped -= 1
            return
        self._open.pop()
        if name == "tb":
            number, send, receive, channel = self._block
            self._blocks.append(Block(number, send, receive, channel, tuple(self._steps)))
            self._steps = []
        elif name == "gpu":
            self._gpus.append(Gpu(*self._gpu, tuple(self._blocks)))
            self._blocks = []

    def _step(self, attributes: dict[str, str]) -> Step:
        """Return a step; nearly all of its numbers are known from earlier ones."""
        known = self._integers
        try:
            return Step(
                known[attributes["s"]],
                _TYPES[attributes["type"]],
                _BUFFERS[attributes["srcbuf"]],
                known[attributes["srcoff"]],
                _BUFFERS[attributes["dstbuf"]],
                known[attributes["dstoff"]],
                known[attributes["cnt"]],
                known[attributes["depid"]],
                known[attributes["deps"]],
                _FLAGS[attributes["hasdep"]],
            )
        except KeyError:
            return self._checked_step(attributes)

    def _checked_step(self, attributes: dict[str, str]) -> Step:
        kind = attributes.get("type", "")
        if kind not in _TYPES:
            raise unknown_name(f"{self._line()}: <step> has type {shown(kind)}", kind, StepType, "expected one of")
        number = self._integer("step", attributes, "s")
        return Step(
            number,
            _TYPES[kind],
            self._buffer(attributes, "srcbuf"),
            self._integer("step", attributes, "srcoff"),
            self._buffer(attributes, "dstbuf"),
            self._integer("step", attributes, "dstoff"),
            self._integer("step", attributes, "cnt"),
            self._integer("step", attributes, "depid"),
            self._integer("step", attributes, "deps"),
            self._flag("step", attributes, "hasdep"),
        )

    def _buffer(self, attributes: Mapping[str, str], name: str) -> str:
        value = attributes.get(name, "")
        if value not in _BUFFERS:
            raise InputError(f"{self._line()}: <step> has {name} {shown(value)}; expected i, o or s")
        return value

    def _flag(self, element: str, attributes: Mapping[str, str], name: str) -> bool:
        value = self._integer(element, attributes, name)
        if value not in {0, 1}:
            raise InputError(f"{self._line()}: <{element}> has {name} {value}; expected 0 or 1")
        return value == 1

    def _four(self, element: str, attributes: Mapping[str, str], names: tuple[str, ...]) -> tuple[int, int, int, int]:
        first, second, third, fourth = (self._integer(element, attributes, name) for name in names)
        return first, second, third, fourth

    def _integer(self, element: str, attributes: Mapping[str, str], name: str) -> int:
        value = attributes.get(name)
        if value is None:
            raise InputError(f'{self._line()}: <{element}> has no "{name}"; give it one')
        if (known := self._integers.get(value)) is not None:
            return known
        if not _INTEGER.match(value):
            raise InputError(f"{self._line()}: <{element}> has {name} {shown(value)}; expected an integer")
        return self._integers.setdefault(value, int(value))
