"""Short labels of nodes, and the space that text takes."""

from collections.abc import Sequence

FONT = 11.0
"""The size of labels."""

_LEAST = 0.36
"""The width of the narrowest letters, as a part of the size of the font."""

_SQUARE = "\u2100"
"""From this letter on, letters may be as wide as high: arrows, signs, and those of East Asia."""

_WIDE, _NARROW = set("mwMW@%—"), set("iljtfrI.,:;'|/()[] ")


def text_width(text: str, size: float = FONT) -> float:
    """Return an estimate of the width of a text, which is at least its width in common sans-serif fonts.

    Example:
        >>> text_width("gpu0") < text_width("gpu10")
        True
    """
    return sum(map(_width, text)) * size


def _width(letter: str) -> float:
    if letter in _WIDE:
        return 0.95
    if letter in _NARROW:
        return _LEAST
    return 1.0 if letter >= _SQUARE else 0.64


def fitted(text: str, width: float, size: float = FONT) -> str:
    """Return `text`, or as much of its ends as fits into `width`; no text if not even two letters do.

    Example:
        >>> fitted("level1/switch12", 60)
        'leve…h12'
    """
    most = int(width / (_LEAST * size))  # so many letters fit at most; an id may have thousands
    if len(text) <= most and text_width(text, size) <= width:
        return text
    for kept in range(min(len(text) - 2, most), 1, -1):
        short = f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"
        if text_width(short, size) <= width:
            return short
    return ""


def without_prefix(names: Sequence[str], prefix: str) -> list[str]:
    """Return `names` without `prefix` if all have it and none is equal to it.

    Example:
        >>> without_prefix(["b0/gpu0", "b0/gpu1"], "b0/")
        ['gpu0', 'gpu1']
    """
    if prefix and all(name.startswith(prefix) and name != prefix for name in names):
        return [name.removeprefix(prefix) for name in names]
    return list(names)


def common_prefix(names: Sequence[str]) -> str:
    """Return the longest common beginning of `names` that ends in `/`, `.`, `:` or `-`.

    Example:
        >>> common_prefix(["b0/gpu0", "b0/gpu1"])
        'b0/'
    """
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    length = next((place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    ends = [first[:length].rfind(mark) for mark in "/.:-"]
    return first[: max(ends) + 1]
