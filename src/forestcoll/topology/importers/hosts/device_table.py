"""The matrix of `nvidia-smi topo -m` as a value, however it was pasted.

The text is read as a sequence of words: the titles of the columns, then rows that begin with a title. So lines that a
narrow window has wrapped, tabs that became blanks, colours, and text before and after the matrix do not matter. The
title of a column that is no device (`CPU Affinity`, `NUMA Affinity`, `GPU NUMA ID`) ends the titles.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.importers.source import Source

_GPU = re.compile(r"GPU[0-9]{1,4}")
_DEVICE = re.compile(r"GPU[0-9]{1,4}|NIC[0-9]{1,4}|[A-Za-z][A-Za-z0-9.-]*[_0-9][A-Za-z0-9_.:-]*")
_RELATION = re.compile(r"X|NV[0-9]{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|PSB|PHX|N/A|NS")
_GLUED = re.compile(
    r"(?:X|NV[0-9]{1,2}|PIX|PXB|PHB|NODE|SYS|SOC|PSB){2,}|(?:GPU[0-9]{1,3}|NIC[0-9]{1,3}){2,}|(?:mlx5_[0-9]+){2,}"
)
_GLUED_PART = re.compile(r"X|NV[0-9]{1,2}|PIX|PXB|PHB|NODE|SYS|SOC|PSB|GPU[0-9]{1,3}|NIC[0-9]{1,3}|mlx5_[0-9]+")
_OTHER_TITLES = {"CPU", "NUMA", "Affinity", "Memory", "GPU", "ID"}
_LEGEND = re.compile(r"(NIC[0-9]{1,4})\s*[:=]\s*(\S+)")
_PEER_STATUS = {"OK", "CNS", "GNS", "TNS", "DR"}
"""What a matrix of peer access (`topo -p2p`) says of a pair; it is skipped."""
_MAX_NAME = 64
_QUOTE = " \t>|`│"


@dataclass(frozen=True)
class DeviceTable:
    """How near devices of a host are to each other.

    Attributes:
        gpus: the titles of the GPUs, in order.
        nics: the titles of the other devices.
        names: the names that a legend gives devices.
        relations: for pairs of titles what the matrix says, in both orders; `X` is left out.
        numa: the NUMA node of each GPU, where the matrix states one.
        tables: how many matrices the file holds; the first one is read.
    """

    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    names: Mapping[str, str]
    relations: Mapping[tuple[str, str], str]
    numa: Mapping[str, str]
    tables: int

    def name(self, title: str) -> str:
        """Return what a legend calls a device, or its title."""
        return self.names.get(title, title)

    def between(self, one: str, other: str) -> str:
        """Return how near two devices are; empty if the matrix does not say."""
        return self.relations.get((one, other), "")


def has_table(text: str) -> bool:
    """Return whether the text holds such a matrix: a row that begins with a GPU and goes on with relations."""
    return (
        re.search(r"(?:^|[\s>|m])GPU[0-9]{1,4}[\s|]+(?:X|NV[0-9]+|SYS|PHB|PIX|PXB|NODE|SOC)(?=[\s|]|$)", text)
        is not None
    )


def read_table(source: Source) -> DeviceTable:
    """Return the first matrix of a file.

    Raises:
        InputError: a row has fewer entries than there are GPUs, or there is no matrix.
    """
    words = [(number, word) for number, line in enumerate(source.lines, start=1) for word in _words(line)]
    starts = [
        place
        for place, (_, word) in enumerate(words[:-1])
        if _is_device(word)
        and _RELATION.fullmatch(words[place + 1][1])
        and not any(following in _PEER_STATUS for _, following in words[place + 2 : place + 3])
    ]
    first = next((place for place in starts if _GPU.fullmatch(words[place][1])), None)
    if first is None:
        raise _no_table(source, words)
    rows, tables = _rows(source, words, starts)
    titles = _titles(words, first) or list(rows)
    gpus = tuple(title for title in titles if _GPU.fullmatch(title))
    relations: dict[tuple[str, str], str] = {}
    for title, (line, entries) in rows.items():
        if len(entries) < len(gpus):
            count = f"{len(entries)} entries for {len(gpus)} GPUs"
            raise source.error(f"the row of {title} has {count}; paste the whole matrix", line)
        _check_self(source, title, titles, entries, line)
        for other, relation in zip(titles, entries, strict=False):
            if other != title:
                relations.setdefault((title, other), relation)
                relations.setdefault((other, title), relation)
    missing = next((gpu for gpu in gpus if gpu not in rows), None)
    if missing is not None:
        raise source.error(f"the matrix has a column {missing}, but no row for it; paste the whole matrix")
    nics = tuple(title for title in titles if title not in gpus)
    legend = dict(_LEGEND.findall("\n".join(source.lines)))
    return DeviceTable(gpus, nics, legend, relations, _numa(source, gpus), tables)


def _numa(source: Source, gpus: Sequence[str]) -> dict[str, str]:
    """Return the NUMA node of each GPU: what follows the relations of its row, after the list of its CPUs."""
    if "NUMA Affinity" not in source.text:
        return {}
    found: dict[str, str] = {}
    for line in source.lines:
        words = list(_words(line))
        if words and words[0] in gpus:
            after = [word for word in words[1:] if not _RELATION.fullmatch(word)]
            node = after[1] if len(after) > 1 else after[0] if after and not re.search("[-,]", after[0]) else ""
            if node.isdecimal():
                found.setdefault(words[0], node)
    return found


def _words(line: str) -> Iterator[str]:
    """Yield the words of a line; those between which a copy lost the blank are parted."""
    for word in line.replace("|", " ").strip(_QUOTE).split():
        if _GLUED.fullmatch(word):
            yield from _GLUED_PART.findall(word)
        elif word.strip(_QUOTE):
            yield word


def _is_device(word: str) -> bool:
    return len(word) < _MAX_NAME and _DEVICE.fullmatch(word) is not None and not _RELATION.fullmatch(word)


def _no_table(source: Source, words: list[tuple[int, str]]) -> InputError:
    if any(word in _PEER_STATUS for _, word in words):
        return source.error("is a matrix of peer access (topo -p2p), which has no links; run nvidia-smi topo -m")
    return source.error("holds no row such as 'GPU0 X NV12 ...'; paste the matrix of nvidia-smi topo -m")


def _rows(
    source: Source, words: list[tuple[int, str]], starts: list[int]
) -> tuple[dict[str, tuple[int, list[str]]], int]:
    """Return the line and the entries of each row of the first matrix, by title, and how many matrices there are."""
    rows: dict[str, tuple[int, list[str]]] = {}
    tables = 1
    for start in starts:
        line, title = words[start]
        entries = []
        for _, word in words[start + 1 :]:
            if not _RELATION.fullmatch(word):
                break
            entries.append(word)
        if title in rows:
            tables += title == next(iter(rows))
        elif tables == 1 and (rows or _GPU.fullmatch(title)):
            rows[title] = (line, entries)
    if len(rows) > 4096:
        raise source.error("has more than 4096 rows; a host has fewer devices")
    return rows, tables


def _titles(words: list[tuple[int, str]], first: int) -> list[str]:
    """Return the titles before the first row: devices, of which GPUs are first, then titles of other columns."""
    place = first
    while place and words[place - 1][1] in _OTHER_TITLES:
        place -= 1
    titles: list[str] = []
    while place and _is_device(words[place - 1][1]):
        place -= 1
        titles.append(words[place][1])
    titles.reverse()
    start = next((number for number, title in enumerate(titles) if _GPU.fullmatch(title)), len(titles))
    return list(dict.fromkeys(titles[start:]))


def _check_self(source: Source, title: str, titles: list[str], entries: list[str], line: int) -> None:
    place = titles.index(title) if title in titles else -1
    if 0 <= place < len(entries) and entries[place] != "X" and "X" in entries:
        raise source.error(f"the row of {shown(title)} has X in the column of another device; fix the row", line)
