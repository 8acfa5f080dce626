"""The transfers in the text of a step schedule as columns, read without making an object for each.

The character after each number says what the number is: `/` follows a numerator, `"` the last number of an interval's
end, `,` a shard, a source, and a target before a route, `}` the last number of a transfer. This is fast but checks
little. So the caller writes the result again and
compares the two texts byte by byte. If a text differs in any way from what forestcoll writes, the caller uses the
ordinary reader. So the fast reader never changes which files are accepted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray, row_starts
from forestcoll.schedule.rows_text import MAX_DIGITS, digit_values
from forestcoll.schedule.steps.value import NO_ROUTE, Transfers

BLOCK_BYTES = 2**22
"""The bytes of text that are read at a time."""

_OPEN, _CLOSE = b'\n"steps": [', b"\n]}\n"
_COMMA, _SLASH, _QUOTE, _BRACE, _BRACKET, _ZERO = b',/"}]0'


@dataclass(frozen=True, slots=True)
class _Columns:
    """Transfers of one block: nodes, ends of parts as numerators and denominators, and which are last in their step."""

    shards: IntArray
    sources: IntArray
    targets: IntArray
    routes: IntArray
    ends: npt.NDArray[np.int64]  # one row for each transfer: numerator and denominator of its low and its high end
    is_last: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ScannedSteps:
    """The JSON object before the steps, and all transfers as if they were of one phase."""

    head: bytes
    transfers: Transfers


def scanned_steps(text: bytes | bytearray) -> ScannedSteps | None:
    """Return the transfers in `text`, the content of a file, and the JSON object before them; None if unsure.

    The caller must check that writing the result gives `text` again.
    """
    begin = text.find(_OPEN)
    if begin < 1 or text[begin - 1 : begin] != b"," or not text.endswith(_CLOSE):
        return None
    blocks = []
    for block in _blocks(text, begin + len(_OPEN), len(text) - len(_CLOSE)):
        columns = _scanned(block)
        if columns is None:
            return None
        blocks.append(columns)
    transfers = _joined(blocks) if blocks else None
    return None if transfers is None else ScannedSteps(bytes(text[: begin - 1]) + b"}", transfers)


def _blocks(text: bytes | bytearray, begin: int, end: int) -> Iterator[bytes]:
    """Yield `text[begin:end]` in pieces that end with the brace of a transfer and one byte more."""
    while begin < end:
        stop = text.rfind(b"}", begin, min(begin + BLOCK_BYTES, end)) + 1
        if not stop:
            return
        yield bytes(text[begin : stop + 1])
        begin = stop


def _scanned(text: bytes) -> _Columns | None:
    codes = np.frombuffer(text, dtype=np.uint8)
    is_digit = codes - np.uint8(_ZERO) < 10
    edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    firsts, lasts = edges[0::2] + 1, edges[1::2]
    if is_digit[0] or is_digit[-1] or not len(firsts) or (lasts - firsts).max() >= MAX_DIGITS:
        return None
    values, behind = digit_values(codes, firsts, lasts).astype(np.int64), codes[lasts + 1]
    inner, ends, lasts_of = (np.flatnonzero(behind == sign) for sign in (_COMMA, _QUOTE, _BRACE))
    count = len(lasts_of)
    stops = np.searchsorted(inner, lasts_of)
    has_route = np.diff(stops, prepend=0) == 3
    if not count or len(inner) != 2 * count + has_route.sum() or len(ends) != 2 * count or ends[0] == 0:
        return None
    is_ratio = behind[ends - 1] == _SLASH
    numerators = np.where(is_ratio, values[ends - 1], values[ends])
    denominators = np.where(is_ratio, values[ends], 1)
    if len(values) != 5 * count + int(is_ratio.sum() + has_route.sum()) or denominators.min() < 1:
        return None
    begins = np.concatenate([[0], stops[:-1]])
    if (stops - begins < 2).any():
        return None
    return _Columns(
        shards=values[inner[begins]],
        sources=values[inner[begins + 1]],
        targets=values[np.where(has_route, inner[stops - 1], lasts_of)],
        routes=np.where(has_route, values[lasts_of], NO_ROUTE),
        ends=np.stack([numerators, denominators], axis=1).reshape(-1, 4),
        is_last=codes[lasts[lasts_of] + 2] == _BRACKET,
    )


def _joined(blocks: list[_Columns]) -> Transfers | None:
    """Return the transfers of all blocks, if the last of them ends a step."""
    if not blocks[-1].is_last[-1]:
        return None
    fractions: dict[int, int] = {}
    lows = np.concatenate([_numbered(block.ends[:, :2], fractions) for block in blocks])
    highs = np.concatenate([_numbered(block.ends[:, 2:], fractions) for block in blocks])
    listed = [Fraction(code >> 32, code & 0xFFFFFFFF) for code in fractions]
    points = tuple(sorted(set(listed)))
    if len(points) < len(listed):
        return None
    place_of = {point: place for place, point in enumerate(points)}
    places = np.array([place_of[point] for point in listed], dtype=np.int32)
    stops = np.flatnonzero(np.concatenate([block.is_last for block in blocks])) + 1
    starts = row_starts(np.diff(stops, prepend=0))
    shards, sources, targets, routes = (
        np.concatenate([column.astype(np.int32) for column in columns])
        for columns in zip(
            *((block.shards, block.sources, block.targets, block.routes) for block in blocks), strict=True
        )
    )
    return Transfers(starts, shards, sources, targets, places[lows], places[highs], points, routes)


def _numbered(ends: npt.NDArray[np.int64], fractions: dict[int, int]) -> IntArray:
    """Return a number for each pair of numerator and denominator, from `fractions`; add new pairs to `fractions`."""
    distinct, inverse = np.unique(ends[:, 0] << 32 | ends[:, 1], return_inverse=True)
    numbers = [fractions.setdefault(code, len(fractions)) for code in distinct.tolist()]
    return np.array(numbers, dtype=np.int32)[inverse]
