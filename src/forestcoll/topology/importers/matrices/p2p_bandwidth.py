"""The output of NVIDIA's p2pBandwidthLatencyTest, and of nvbandwidth between GPUs.

The first holds several matrices: the unidirectional one of `P2P=Enabled` is read. A bidirectional matrix holds the sum
of both directions, so half of it is taken where there is no other.
"""

import re
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.matrices.square import Square, square_network
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_MARKS = ("andwidth", "(GB/s)")
_DEVICE = re.compile(r"Device:\s*([0-9]{1,4}),\s*(.*?),\s*pciBusID:\s*([0-9a-fA-F]+)")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")
_EMPTY = ("N/A", "nan", "-")
_MOST_GPUS = 4096


@dataclass
class _Block:
    """A matrix with its title and the line of that."""

    title: str
    line: int
    rows: dict[int, tuple[int, list[str]]] = field(default_factory=dict)
    columns: int = 0


@importers.add("p2p-bandwidth", summary="the output of p2pBandwidthLatencyTest or nvbandwidth", tried=70)
@dataclass(frozen=True)
class P2pBandwidth(Importer):
    """Reads the output of p2pBandwidthLatencyTest or nvbandwidth."""

    matrix: str = option("matrix")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text holds such a matrix."""
        return ("Bandwidth" in text and "Matrix (GB/s)" in text) or ("memcpy" in text and "GPU(row)" in text)

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network that the matrix means."""
        block = _chosen(source, _blocks(source), notes)
        square = _square(source, block)
        lines = [found for line in source.lines if (found := _DEVICE.search(line))]
        attributes = {f"GPU{int(found[1])}": {"model": found[2], "busid": found[3].lower()} for found in lines}
        return square_network(source, Square(square.names, square.rows, attributes), self.matrix, notes)


def _blocks(source: Source) -> list[_Block]:
    blocks: list[_Block] = []
    current: _Block | None = None
    for number, line in source.numbered():
        words = line.split()
        if all(mark in line for mark in _MARKS):
            current = _Block(line, number)
            blocks.append(current)
        elif "Matrix" in line:
            current = None
        elif current is None:
            continue
        elif not current.rows and not current.columns and _is_columns(words):
            current.columns = sum(word.isdecimal() for word in words)
        elif current.columns and words[0].isdecimal() and len(words[0]) < 5:
            current.rows[int(words[0])] = (number, words[1:])
        elif current.rows:
            current = None
    return [block for block in blocks if block.rows]


def _is_columns(words: list[str]) -> bool:
    numbers = words if words[0].isdecimal() else words[1:]
    return bool(numbers) and numbers == [str(place) for place in range(len(numbers))]


def _chosen(source: Source, blocks: list[_Block], notes: Notes) -> _Block:
    if not blocks:
        raise source.error("holds no matrix of bandwidths with rows of numbers; is the output complete?")
    for words in (("Unidirectional", "P2P=Enabled"), ("device_to_device_memcpy_write",), ("device_to_device",)):
        found = next((block for block in blocks if all(word in block.title for word in words)), None)
        if found is not None:
            return found
    one_way = [block for block in blocks if "idirectional" not in block.title or "Unidirectional" in block.title]
    chosen = one_way[0] if one_way else next((each for each in blocks if "P2P=Enabled" in each.title), blocks[0])
    notes.assume(f"the matrix {shown(chosen.title)} is read, as there is none with 'Unidirectional P2P=Enabled'")
    return chosen


def _square(source: Source, block: _Block) -> Square:
    count = len(block.rows)
    if count > _MOST_GPUS or sorted(block.rows) != list(range(count)) or block.columns != count:
        raise source.error(
            f"the matrix has {plural(block.columns, 'column')} and {plural(count, 'row')}; paste it whole", block.line
        )
    half = "Bidirectional" in block.title or "bidirectional" in block.title
    rows = []
    for number in range(count):
        line, words = block.rows[number]
        if len(words) != count:
            raise source.error(f"row {number} has {len(words)} values, not {count}; paste the whole matrix", line)
        rows.append(tuple(_value(source, word, line, half=half) for word in words))
    if "<-" in block.title:
        rows = [tuple(row[place] for row in rows) for place in range(count)]
    return Square(tuple(f"GPU{number}" for number in range(count)), tuple(rows))


def _value(source: Source, word: str, line: int, *, half: bool) -> Fraction | None:
    if word in _EMPTY:
        return None
    if not _NUMBER.fullmatch(word):
        raise source.error(f"{shown(word)} is no bandwidth; expected GB/s", line)
    return Fraction(word) / (2 if half else 1)
