"""A file to be imported, as text: decoded, with the places that error messages name."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import WrittenFloat
from forestcoll.base.files import STANDARD_STREAM, decoded, input_name
from forestcoll.base.resources import check_json_memory, check_text_memory

MAX_NODES = 2**20
"""The most nodes that an importer makes before it refuses a file."""

MAX_LINKS = 2**22
"""The most one-way links that an importer makes of a short description."""

_TERMINAL_CODES = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Za-z0-9]|\x1b[=>]|\[[0-9;]{1,8}m|[\x00\x07\x08\x0e\x0f]"
)
"""Colours and underlines, also where a copy lost the escape character: nvidia-smi underlines the line of titles."""

_MAX_LINE = 2**16
"""The most characters of a line of a text format, so that no pattern takes long on one."""

_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2007\u202f\u3000\u200b\ufeff"), " ")


@dataclass(frozen=True)
class Source:
    """One file.

    Attributes:
        where: what error messages call it.
        text: its content.
        stem: its name without folder and endings: the name of a host or a network, where the file has none.
    """

    where: str
    text: str
    stem: str

    @classmethod
    def of(cls, data: bytes | bytearray, path: Path) -> "Source":
        """Return the file at `path` whose content is `data`.

        Raises:
            InputError: it is no text in UTF-8 or, with a byte order mark, UTF-16, or it takes too much memory.
        """
        check = check_json_memory if data[:64].lstrip()[:1] in (b"{", b"[") else check_text_memory
        check(data, input_name(path))
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        text = decoded(data, path, encoding=encoding)
        stem = "network" if path == STANDARD_STREAM else path.name.partition(".")[0] or path.name
        return cls(input_name(path), text, stem)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines, without what steers a terminal, and with plain blanks.

        Raises:
            InputError: a line is too long.
        """
        text = self.text if self.text.isascii() else self.text.translate(_BLANKS)
        if "[" in text or "\x1b" in text or "\x00" in text or "\x08" in text:
            text = _TERMINAL_CODES.sub("", text)
        lines = tuple(text.splitlines())
        long = next((number for number, line in enumerate(lines, start=1) if len(line) > _MAX_LINE), None)
        if long is not None:
            raise self.error(f"has more than {_MAX_LINE} characters; break the line", long)
        return lines

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Yield the number of each line that is not blank, from 1, and the line without blanks at its ends."""
        for number, line in enumerate(self.lines, start=1):
            if line := line.strip():
                yield number, line

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return the error that says what is wrong in this file, at a line."""
        place = "" if line is None else f"line {line}: "
        return InputError(f"{self.where}: {place}{message}")

    def json(self) -> object:
        """Return the JSON value that the file holds; numbers keep their digits.

        Raises:
            InputError: it holds none.
        """
        try:
            return json.loads(self.text, parse_float=WrittenFloat, parse_constant=WrittenFloat)
        except json.JSONDecodeError as error:
            raise self.error(
                f"not valid JSON: {error.msg.removesuffix(' at')} (column {error.colno}); fix it there", error.lineno
            ) from None
        except RecursionError:
            raise self.error("JSON nested too deeply; a description of a network is flatter") from None
        except ValueError:
            raise self.error("holds a number of thousands of digits; write shorter numbers") from None


def whole_number(source: Source, text: object, what: str, line: int | None = None, *, most: int = MAX_NODES) -> int:
    """Return the integer that a file states, from 0 to `most`.

    Raises:
        InputError: it is no such integer; the message says what it is.
    """
    digits = str(text).strip()
    if isinstance(text, bool) or not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise source.error(f"{what} is {shown(text)}; expected a whole number", line)
    if int(digits) > most:
        raise source.error(f"{what} is {digits}; expected {most} at most", line)
    return int(digits)
