"""XML as a tree of elements that know their lines. Entities are refused, depth and number of elements are limited.

A document type without declarations of its own, as hwloc writes one, is allowed; it is never fetched.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.importers.source import Source

_MAX_DEPTH = 200
_MAX_ELEMENTS = 2**21


@dataclass
class Element:
    """One element.

    Attributes:
        tag: its name, without a prefix.
        attributes: its attributes.
        line: where it begins.
        children: the elements in it.
        text: the characters in it, outside its children.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""

    def get(self, name: str, default: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, default)

    def number(self, name: str, default: int = 0) -> int:
        """Return an attribute that is a whole number of up to 18 digits, or `default` if it is none."""
        text = self.get(name).strip()
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else default

    def all(self, *tags: str) -> Iterator["Element"]:
        """Yield this element and those below it, in the order of the file; only those with these tags, if any."""
        stack = [self]
        while stack:
            each = stack.pop()
            if not tags or each.tag in tags:
                yield each
            stack.extend(reversed(each.children))

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the element as text, one line for each tag."""
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        if not self.children:
            yield f"{indent}<{self.tag}{attributes}/>"
            return
        yield f"{indent}<{self.tag}{attributes}>"
        for each in self.children:
            yield from each.lines(f"{indent}  ")
        yield f"{indent}</{self.tag}>"

    def child(self, tag: str) -> "Element | None":
        """Return the first child with that tag."""
        return next((each for each in self.children if each.tag == tag), None)


class _Reader:
    """The handlers of one run of expat."""

    def __init__(self, source: Source, first_line: int) -> None:
        self.source = source
        self.first_line = first_line
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity

    @property
    def line(self) -> int:
        return self.first_line + self.parser.CurrentLineNumber

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > _MAX_ELEMENTS or len(self.open) >= _MAX_DEPTH:
            limit = f"{_MAX_ELEMENTS} elements, {_MAX_DEPTH} deep"
            raise self.source.error(f"holds more XML than {limit}; import a smaller file", self.line)
        element = Element(tag.rpartition(":")[2], attributes, self.line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if self.open and len(self.open[-1].text) < 2**16 and not text.isspace():
            self.open[-1].text += text

    def entity(self, name: str, *_rest: object) -> None:
        raise self.source.error(f"declares the XML entity {shown(name)}; remove the declaration", self.line)


def read_elements(source: Source, text: str | None = None, first_line: int = 0) -> Element:
    """Return the root of the XML in a file.

    Args:
        source: the file.
        text: the part of it that is read, if it is not all of it.
        first_line: how many lines of the file are before that part.

    Raises:
        InputError: it is not well-formed, declares entities, or is too large; the message names the line.
    """
    reader = _Reader(source, first_line)
    try:
        reader.parser.Parse(source.text if text is None else text, True)  # noqa: FBT003 (expat's)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise source.error(f"not well-formed XML: {reason}; fix it there", first_line + error.lineno) from None
    except (ValueError, UnicodeError) as error:
        raise InputError(f"{source.where}: not XML that can be read: {error}") from None
    if reader.root is None:
        raise source.error("holds no XML element; is the file complete?")
    return reader.root
