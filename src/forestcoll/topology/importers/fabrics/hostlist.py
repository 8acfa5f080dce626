"""Lists of hosts as Slurm writes them: `tux[0-3,12],login,rack[1-2]n[01-08]`."""

import re
from collections.abc import Iterator

_MOST = 2**20
_PART = re.compile(r"\[([0-9,\s-]*)\]")


def expanded(text: str) -> list[str]:
    """Return the names that a list means.

    Example:
        >>> expanded("tux[0-1,08],login")
        ['tux0', 'tux1', 'tux08', 'login']

    Raises:
        ValueError: it is no such list, or means too many names; the text says what is wrong.
    """
    names: list[str] = []
    for part in _split(text):
        names += _names(part, _MOST - len(names))
    return names


def _split(text: str) -> Iterator[str]:
    """Yield the parts between commas that are in no bracket."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth not in (0, 1):
            raise ValueError("has brackets that do not match")
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if depth:
        raise ValueError("has brackets that do not match")
    yield text[start:]


def _names(part: str, room: int) -> list[str]:
    part = part.strip()
    if not part:
        raise ValueError("has an empty part")
    found = _PART.search(part)
    if found is None:
        if "[" in part or room < 1:
            raise ValueError("is no list such as tux[0-3,12]")
        return [part]
    names: list[str] = []
    for number in _numbers(found[1], room):
        names += _names(f"{part[: found.start()]}{number}{part[found.end() :]}", room - len(names))
    return names


def _numbers(text: str, room: int) -> list[str]:
    numbers: list[str] = []
    for each in text.split(","):
        first, dash, last = each.strip().partition("-")
        last = last if dash else first
        if not (first.isdecimal() and last.isdecimal() and len(first) < 10 and len(last) < 10):
            raise ValueError("is no list such as tux[0-3,12]")
        if int(last) - int(first) + len(numbers) >= room:
            raise ValueError(f"means more than {_MOST} names")
        numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return numbers
