"""The tables of AMD's tools as values: of each pair of GPUs the type of the link, hops, weight and bandwidths."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from forestcoll.base.errors import shown
from forestcoll.topology.importers.source import Source, whole_number

_RULE = "==="
_BUS_ID = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]")
_LABEL = re.compile(rf"(?:GPU)?\[?([0-9]{{1,3}})\]?|{_BUS_ID.pattern}")
_NUMA = re.compile(r"GPU\s*\[?([0-9]{1,3})\]?\s*:\s*\(Topology\) Numa Node:\s*(\S+)")
_SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_KINDS = {"weight": "weights", "hops": "hops", "link type": "types", "bw": "spans", "bandwidth": "spans"}
_MOST_GPUS = 1024

Pair = tuple[str, str]
Value = TypeVar("Value")


@dataclass
class AmdTables:
    """What the tables say of pairs of GPUs.

    Attributes:
        gpus: the names of the GPUs.
        attributes: further attributes of GPUs.
        types: `XGMI` or `PCIE`.
        hops: how many links are between them.
        weights: a figure for the distance.
        spans: the least and the greatest bandwidth, in MB/s.
        numa: the NUMA node of each GPU.
    """

    gpus: list[str] = field(default_factory=list)
    attributes: dict[str, dict[str, object]] = field(default_factory=dict)
    types: dict[Pair, str] = field(default_factory=dict)
    hops: dict[Pair, int] = field(default_factory=dict)
    weights: dict[Pair, int] = field(default_factory=dict)
    spans: dict[Pair, tuple[int, int]] = field(default_factory=dict)
    numa: dict[str, str] = field(default_factory=dict)


def text_tables(source: Source) -> AmdTables:
    """Return the tables that a tool printed.

    Raises:
        InputError: there is no table of link types, or a row is not whole.
    """
    cells: dict[str, dict[str, tuple[int, list[str]]]] = {}
    columns: dict[str, list[str]] = {}
    kind = ""
    for number, line in source.numbered():
        title = _title(line)
        if title:
            kind = _kind(title)
            continue
        words = line.split()
        if not kind or not _LABEL.fullmatch(words[0]):
            continue
        if kind not in columns:
            columns[kind] = words
        elif words[0] in columns[kind]:
            cells.setdefault(kind, {})[words[0]] = (number, words[1:])
    if "types" not in cells:
        raise source.error("holds no rows of link types; run amd-smi topology, or rocm-smi --showtopo")
    return _tables(source, columns, cells)


def _title(line: str) -> str:
    """Return the title of a table that a line is: between rules, or with the word TABLE at its end; else nothing."""
    if line.startswith(_RULE) and line.endswith(_RULE):
        return line.strip("=").strip()
    plain = line.removesuffix(":")
    return plain if plain.endswith("TABLE") and plain[:1].isupper() else ""


def _kind(title: str) -> str:
    plain = title.lower()
    return next((kind for word, kind in _KINDS.items() if word in plain), "")


def _tables(
    source: Source, columns: Mapping[str, list[str]], cells: Mapping[str, Mapping[str, tuple[int, list[str]]]]
) -> AmdTables:
    labels = columns["types"]
    if len(labels) > _MOST_GPUS or len(set(labels)) != len(labels):
        raise source.error(f"the table of link types has {len(labels)} columns; expected each GPU once")
    names = {label: _name(label, place) for place, label in enumerate(labels)}
    tables = AmdTables(list(names.values()))
    tables.attributes = {names[label]: {"busid": label.lower()} for label in labels if _BUS_ID.fullmatch(label)}
    for label in labels:
        if label not in cells["types"]:
            raise source.error(f"the table of link types has no row for {label}; paste it whole")
    tables.types = _table(source, names, cells.get("types", {}), str.upper)
    tables.hops = _table(source, names, cells.get("hops", {}), _count)
    tables.weights = _table(source, names, cells.get("weights", {}), _count)
    tables.spans = _table(source, names, cells.get("spans", {}), _span)
    found = [found for line in source.lines if (found := _NUMA.search(line))]
    tables.numa = {f"GPU{int(each[1])}": each[2] for each in found if each[2] not in ("-1", "N/A")}
    return tables


def _name(label: str, place: int) -> str:
    digits = _LABEL.fullmatch(label)
    return f"GPU{int(digits[1])}" if digits is not None and digits[1] else f"GPU{place}"


def _table(
    source: Source,
    names: Mapping[str, str],
    rows: Mapping[str, tuple[int, list[str]]],
    read: Callable[[str], Value | None],
) -> dict[Pair, Value]:
    """Return the values of one table by pair of GPUs; `names` are those of the columns, in order."""
    table: dict[Pair, Value] = {}
    for label, (line, words) in rows.items():
        if label not in names:
            continue
        if len(words) != len(names):
            raise source.error(f"the row of {label} has {len(words)} values, not {len(names)}; paste it whole", line)
        for other, word in zip(names, words, strict=True):
            value = read(word)
            if other != label and value is not None:
                table[names[label], names[other]] = value
    return table


def _count(word: str) -> int | None:
    return int(word) if word.isascii() and word.isdecimal() and len(word) < 9 else None


def _span(word: str) -> tuple[int, int] | None:
    found = _SPAN.fullmatch(word)
    return None if found is None else (int(found[1]), int(found[2]))


def json_tables(source: Source) -> AmdTables:
    """Return the tables that `amd-smi topology --json` printed, in its newer form or its older one.

    Raises:
        InputError: it is no such list.
    """
    document = source.json()
    listed = document if isinstance(document, list) else [document]
    entries = [cast("dict[str, object]", each) for each in listed if isinstance(each, dict) and "gpu" in each]
    if not entries or len(entries) != len(listed):
        raise source.error('is no list of {"gpu": ..., "links": [...]}; run amd-smi topology --json')
    if len(entries) > _MOST_GPUS:
        raise source.error(f"lists more than {_MOST_GPUS} GPUs")
    tables = AmdTables()
    for entry in entries:
        name = _gpu(source, entry["gpu"])
        tables.gpus.append(name)
        bus_id = entry.get("bdf")
        if isinstance(bus_id, str):
            tables.attributes[name] = {"busid": bus_id.lower()}
    for name, entry in zip(tables.gpus, entries, strict=True):
        for other, link in _links(source, entry).items():
            _take(tables, (name, other), link)
    return tables


def _gpu(source: Source, value: object) -> str:
    return f"GPU{whole_number(source, value, 'gpu', most=10**6)}"


def _links(source: Source, entry: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """Return by the other GPU what a link is: a list of links or, in older versions, an object for each property."""
    links = entry.get("links")
    if isinstance(links, list):
        if not all(isinstance(link, dict) and "gpu" in link for link in links):
            raise source.error('a link is no {"gpu": ...}')
        return {_gpu(source, link["gpu"]): link for link in links}
    found: dict[str, dict[str, object]] = {}
    for key, name in (
        ("link_type", "link_type"),
        ("weight", "weight"),
        ("hops", "num_hops"),
        ("numa_bandwidth", "bandwidth"),
    ):
        values = entry.get(key)
        for other, value in values.items() if isinstance(values, dict) else ():
            found.setdefault(_gpu(source, str(other).removeprefix("gpu_")), {})[name] = value
    if not found:
        raise source.error(f"gpu {shown(entry['gpu'])} has no links; run amd-smi topology --json")
    return found


def _take(tables: AmdTables, pair: Pair, link: Mapping[str, object]) -> None:
    if pair[0] == pair[1]:
        return
    tables.types[pair] = str(link.get("link_type", "")).upper()
    for table, key in ((tables.hops, "num_hops"), (tables.weights, "weight")):
        value = _count(str(link.get(key, "")))
        if value is not None:
            table[pair] = value
    span = _span(str(link.get("bandwidth", "")))
    if span is not None:
        tables.spans[pair] = span
