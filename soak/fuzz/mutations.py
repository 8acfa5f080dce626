"""Mutations of files that know the format: values of JSON, elements of XML, cells of text.

Most mutated files stay well formed, so that they reach the code behind the parser. Some are cut or spoilt byte by byte.
"""

import copy
import gzip
import json
import re
from random import Random
from typing import Any

ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, 10**30, 0.5, -0.0, 1e308, "", "0", "-1", "1/0", "1/3", "nan",
    "1e999", "25GB/s", "400Gb/s", "x" * 300, "\ud800", "é\u2264", "\x00", "a\nb", [], {}, [[]], [0], {"a": 1}, "gpu0",
    "switch", "compute", "allreduce", "forestcoll.topology/1", "forestcoll.schedule/1", "forestcoll.steps/1",
]  # fmt: skip

ODD_TEXTS = [
    "", " ", "\n", "\t", "0", "-1", "9" * 30, "1e999", "nan", "inf", "1/0", "x", '"', "'", "<", ">", "&a;", "[", "]",
    "{", "}", ":", ",", ";", "=", "\x00", "\x1b[4m", "\ufeff", "é", "\U0001f600", "GPU0", "NV12", "X", "null", "SYS",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>", "]]>", "<!--", "*a", "&a ", "..", "/dev/null", "-o",
]  # fmt: skip

_TOKEN = re.compile(r"[A-Za-z0-9_.+-]+")
_ELEMENT = re.compile(r"<[^<>]*/>|<(\w+)[^<>]*>")


def mutated(data: bytes, random: Random) -> bytes:
    """Return a file that differs from the file `data` in some places."""
    if data[:2] == b"\x1f\x8b":
        return (
            gzip.compress(mutated(gzip.decompress(data), random), 1) if random.random() < 0.8 else _bytes(data, random)
        )
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _bytes(data, random)
    kind = random.random()
    if kind < 0.1:
        return _bytes(data, random)
    if kind < 0.75:
        changed = _structure(text, random)
        if changed is not None:
            return changed.encode("utf-8", "surrogatepass" if random.random() < 0.02 else "replace")
    for _ in range(random.randint(1, 3)):
        text = _text(text, random)
    return text.encode("utf-8", "replace")


def _structure(text: str, random: Random) -> str | None:
    """Return a text whose values or elements differ; None if the text is neither JSON nor XML."""
    start = text.lstrip()[:1]
    if start in {"{", "["}:
        try:
            value = json.loads(text)
        except ValueError:
            return None
        for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
            value = _json(value, random)
        return json.dumps(value, ensure_ascii=random.random() < 0.9)
    return _xml(text, random) if start == "<" else None


def _json(value: Any, random: Random) -> Any:
    """Return a JSON value with one change at a random place."""
    value = copy.deepcopy(value)
    place, parent, key = value, None, None
    while isinstance(place, dict | list) and place and random.random() < 0.85:
        parent = place
        key = random.choice(list(place)) if isinstance(place, dict) else random.randrange(len(place))
        place = place[key]
    if parent is None:
        return random.choice(ODD_VALUES) if random.random() < 0.1 else value
    _change(parent, key, place, random)
    return value


def _change(parent: Any, key: Any, place: Any, random: Random) -> None:
    """Change one entry of an object or a list: remove, repeat, swap or replace it."""
    kind = random.random()
    if kind < 0.15:
        del parent[key]
    elif kind < 0.3 and isinstance(parent, list):
        parent.insert(random.randrange(len(parent) + 1), copy.deepcopy(place))
    elif kind < 0.4:
        other = random.choice(list(parent)) if isinstance(parent, dict) else random.randrange(len(parent))
        parent[key], parent[other] = parent[other], parent[key]
    elif kind < 0.5 and isinstance(parent, dict):
        parent[str(key) + random.choice(["", " ", "s", "_us"])] = random.choice(ODD_VALUES)
    elif kind < 0.7 and isinstance(place, int | float) and not isinstance(place, bool):
        parent[key] = random.choice([place + 1, place - 1, -place, place * 2, place * 10**9, str(place)])
    else:
        parent[key] = copy.deepcopy(random.choice(ODD_VALUES))


def _xml(text: str, random: Random) -> str:
    """Return XML with one element removed or repeated, or with another value of one attribute."""
    elements = list(_ELEMENT.finditer(text))
    values = list(re.finditer(r'="([^"]*)"', text))
    if elements and random.random() < 0.4:
        one = random.choice(elements)
        twice = text[: one.end()] + text[one.start() :]
        return twice if random.random() < 0.5 else text[: one.start()] + text[one.end() :]
    if not values:
        return _text(text, random)
    one = random.choice(values)
    new = random.choice([str(random.choice(ODD_VALUES)), random.choice(values)[1], "-1", "0", "1", "2"])
    new = new.replace('"', "").replace("<", "").replace("&", "")
    return text[: one.start(1)] + new + text[one.end(1) :]


def _text(text: str, random: Random) -> str:
    """Return text with one word, one line, or some characters changed."""
    kind, words = random.random(), list(_TOKEN.finditer(text[:100_000]))
    if kind < 0.45 and words:
        one = random.choice(words)
        new = random.choice([random.choice(ODD_TEXTS), random.choice(words)[0], str(random.choice(ODD_VALUES))])
        return text[: one.start()] + new + text[one.end() :]
    lines = text.splitlines(keepends=True)
    if kind < 0.75 and lines:
        place, other = random.randrange(len(lines)), random.randrange(len(lines))
        change = random.random()
        if change < 0.4:
            del lines[place]
        elif change < 0.8:
            lines.insert(other, lines[place])
        else:
            lines[place], lines[other] = lines[other], lines[place]
        return "".join(lines)
    place = random.randrange(len(text) + 1)
    end = min(len(text), place + random.choice([0, 1, 1, 5, 40]))
    return text[:place] + (random.choice(ODD_TEXTS) if kind < 0.95 else "") + text[end if kind < 0.97 else len(text) :]


def _bytes(data: bytes, random: Random) -> bytes:
    """Return bytes with some changed, removed, repeated or cut off."""
    changed = bytearray(data)
    for _ in range(random.choice([1, 1, 2, 8])):
        place = random.randrange(len(changed) + 1)
        kind = random.random()
        if kind < 0.4 and place < len(changed):
            changed[place] = random.choice([0, 1, 0x7F, 0x80, 0xFF, changed[place] ^ (1 << random.randrange(8))])
        elif kind < 0.6:
            changed[place : place + random.choice([1, 4, 16])] = b""
        elif kind < 0.8:
            changed[place:place] = (
                random.randbytes(random.choice([1, 2, 8])) if kind < 0.7 else changed[place : place + 9]
            )
        elif kind < 0.9:
            changed[place:place] = b"\xff" * random.choice([1, 5, 10])  # a length that does not end
        else:
            del changed[place:]
    return bytes(changed)
