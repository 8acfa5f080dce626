"""Numbers, names and tables: what all results are put into words with."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import click

from forestcoll.files import is_standard_stream
from forestcoll.ranks import members_of
from forestcoll.topology import Link, Topology

_MOST_NAMED = 4
_MOST_GROUPS = 6


def print_json(document: Mapping[str, object], *, err: bool = False) -> None:
    """Print one JSON object, on standard error where `err` says so."""
    click.echo(json.dumps(document, indent=1), err=err)


def print_lines(lines: Iterable[str], *, err: bool = False) -> None:
    """Print lines at once, after the last of them is made, on standard error where `err` says so."""
    click.echo("\n".join(lines), err=err)


def table(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of labels and values in two columns."""
    listed = list(rows)
    width = max(len(label) for label, _ in listed)
    return [f"  {label:<{width}}  {value}" for label, value in listed]


def counted(topology: Topology, ranks: tuple[int, ...] | None) -> str:
    """Return how many compute nodes take part, in words."""
    count = len(topology.compute)
    return f"{count} compute nodes" if ranks is None else f"{len(ranks)} of {count} compute nodes"


def percent(part: Fraction) -> str:
    """Return a part of a whole in percent, rounded down: 100 % is all of it."""
    hundredths = part * 10**4
    return f"{hundredths.numerator // hundredths.denominator / 100:.2f}%"


def bandwidth(value: Fraction, unit: str) -> str:
    """Return `value` exactly, and as a decimal where that differs."""
    exact = f"{value} {unit}"
    return exact if value.denominator == 1 else f"{exact} ({float(value):.6g})"


def place(output: Path | None) -> str:
    """Say where a schedule was written."""
    if output is None:
        return "nowhere; -o FILE writes it"
    return "to standard output" if is_standard_stream(output) else str(output)


def printable(text: object) -> str:
    """Return `text` on one line and without control characters: names come from files that anyone wrote."""
    return "".join(each if each.isprintable() else "?" for each in str(text))


def noun(topology: Topology, ranks: tuple[int, ...] | None = None) -> str:
    """Return what one of the nodes that take part is called: a rank if not all do, a GPU where ids say so."""
    if ranks is not None:
        return "rank"
    return "GPU" if all("gpu" in str(each).lower() for each in topology.ids(topology.compute)) else "compute node"


def node_names(topology: Topology, numbers: Sequence[int], ranks: tuple[int, ...] | None = None) -> str:
    """Name compute nodes: whole boxes by their number where the nodes have one, else by their ids.

    Of `ranks`, if only these take part, a box is whole when all its ranks are named.
    """
    what = noun(topology, ranks)
    boxes = _whole_boxes(topology, numbers, members_of(topology, ranks))
    if boxes:
        names = _listed([printable(box) for box in boxes])
        return f"the {len(numbers)} {what}s of box{'es' * (len(boxes) > 1)} {names}"
    ids = _listed([printable(each) for each in topology.ids(numbers)])
    return f"{what} {ids}" if len(numbers) == 1 else f"the {len(numbers)} {what}s {ids}"


def others(count: int, what: str) -> str:
    """Return the words for all other nodes that take part."""
    return f"the other {what}" if count == 1 else f"the other {count} {what}s"


def sentence(text: str) -> str:
    """Return `text` with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def quotient(value: Fraction, by: Fraction, unit: str) -> str:
    """Return `value` divided by `by`, with the result."""
    if by == 1:
        return f"{value} {unit}"
    shown, divisor = (str(each) if each.denominator == 1 else f"({each})" for each in (value, by))
    return f"{shown} / {divisor} = {value / by} {unit}"


def _whole_boxes(topology: Topology, numbers: Sequence[int], among: Sequence[int]) -> list[object]:
    """Return the boxes that `numbers` are all the nodes of, of those `among`, or none if they are not whole boxes."""
    members: dict[str, list[int]] = {}
    for number in among:
        members.setdefault(repr(topology.nodes[number].attributes.get("box")), []).append(number)
    chosen = set(numbers)
    whole = [nodes for box, nodes in members.items() if box != "None" and chosen.issuperset(nodes)]
    if len(members) < 2 or sum(map(len, whole)) != len(chosen):
        return []
    return [topology.nodes[nodes[0]].attributes["box"] for nodes in whole]


def link_lines(topology: Topology, links: Sequence[Link]) -> list[str]:
    """Name links, those of one bandwidth on one line."""
    groups: dict[Fraction, list[Link]] = {}
    for link in links:
        groups.setdefault(link.bandwidth, []).append(link)
    lines = [_group(topology, value, each) for value, each in sorted(groups.items(), reverse=True)]
    if len(lines) > _MOST_GROUPS:
        rest = len(links) - sum(len(groups[value]) for value in sorted(groups, reverse=True)[:_MOST_GROUPS])
        lines[_MOST_GROUPS:] = [f"{rest} links of less bandwidth"]
    return lines


def _group(topology: Topology, value: Fraction, links: Sequence[Link]) -> str:
    names = _listed([" -> ".join(map(printable, topology.ids([link.source, link.target]))) for link in links])
    count = f"{len(links)} link{'s' * (len(links) > 1)}"
    return f"{count} of {value} {topology.bandwidth_unit} ({names})"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMED - 1])}, … {names[-1]}"
