"""Results in words and figures: what several commands print of an optimum."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import click

from forestcoll.collective import Collective
from forestcoll.files import is_standard_stream
from forestcoll.optima.value import Optimum
from forestcoll.ranks import members_of
from forestcoll.schedule.trees.shape import TreeShape
from forestcoll.schedule.trees.traffic import Traffic
from forestcoll.topology import Link, Topology
from forestcoll.units import bytes_per_microsecond, has_known_size

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


def optimum_document(best: Optimum) -> dict[str, object]:
    """Return the JSON keys that describe an optimum."""
    document: dict[str, object] = {
        "topology": best.topology.name,
        "collective": best.collective.value,
        "compute_nodes": len(best.members),
        "algbw": str(best.algbw),
        "algbw_float": float(best.algbw),
        "optimal_algbw": str(best.optimal_algbw),
        "unit": best.topology.bandwidth_unit,
        "trees_per_root": best.trees_per_root,
        "tree_bandwidth": str(best.tree_bandwidth),
        "bottleneck": {
            "cut": best.topology.ids(best.cut),
            "compute_inside": best.compute_inside,
            "exit_bandwidth": str(best.exit_bandwidth),
        },
    }
    ids = best.topology.ids(best.members)
    if best.root is not None:
        document["root"] = best.topology.nodes[best.root].id
    if best.shards is not None:
        document["shards"] = {str(id_): str(shard) for id_, shard in zip(ids, best.shards, strict=True)}
    if _is_pair(best):
        document["tree_bound"] = str(best.bound)
        document["phases"] = [
            {"collective": each.collective.value, "algbw": str(each.algbw), "trees_per_root": each.trees_per_root}
            for each in best.phases
        ]
    return document


def by_trees_document(by_trees: Sequence[Optimum]) -> dict[str, object]:
    """Return the JSON key that states what each number of trees allows, if it was asked for."""
    rows = [
        {
            "trees_per_root": each.trees_per_root,
            "algbw": str(each.algbw),
            "optimal": each.algbw == each.bound,
        }
        for each in by_trees
    ]
    return {"by_trees": rows} if rows else {}


def by_trees_lines(by_trees: Sequence[Optimum]) -> list[str]:
    """Return the lines that state what each number of trees allows, none if it was not asked for."""
    if not by_trees:
        return []
    unit, last = by_trees[0].topology.bandwidth_unit, by_trees[-1]
    rows = [
        (
            str(each.trees_per_root),
            f"{bandwidth(each.algbw, unit)}, {percent(each.algbw / each.bound)} of the {_goal(each)}",
        )
        for each in by_trees
    ]
    end = ["  More trees add nothing."] if last.algbw == last.bound else []
    return ["Trees per root:", *table(rows), *end]


def title(best: Optimum) -> str:
    """Return the line above an optimum."""
    root = ""
    if best.root is not None:
        way = "to" if best.collective.only_reduces else "from"
        root = f" {way} {printable(best.topology.nodes[best.root].id)}"
    what = f"{best.collective.value}{root} over {counted(best.topology, best.ranks)}"
    return f"{printable(best.topology.name)}: {what}"


def counted(topology: Topology, ranks: tuple[int, ...] | None) -> str:
    """Return how many compute nodes take part, in words."""
    count = len(topology.compute)
    return f"{count} compute nodes" if ranks is None else f"{len(ranks)} of {count} compute nodes"


def _is_pair(best: Optimum) -> bool:
    return best.collective is Collective.ALLREDUCE


def _goal(best: Optimum) -> str:
    """Return what `bound` is called: an allreduce need not reach it, nor trees that copy."""
    return "bound" if _is_pair(best) or not best.is_reachable else "optimum"


def optimum_rows(best: Optimum) -> list[tuple[str, str]]:
    """Return the rows that state an optimum."""
    unit = best.topology.bandwidth_unit
    rows = [("algbw", bandwidth(best.algbw, unit))]
    if best.algbw != best.bound:
        share = percent(best.algbw / best.bound)
        how = "at most along trees" if _is_pair(best) else "with more trees" if best.is_reachable else "at most"
        rows.append((_goal(best), f"{bandwidth(best.bound, unit)} {how}; this is {share} of it"))
    elif _is_pair(best) or best.bound < best.optimal_algbw:
        rows.append((_goal(best), "reached: no schedule of trees is faster"))
    if best.bound < best.optimal_algbw and not _is_pair(best):
        rows.append(("of the cut", f"{percent(best.bound / best.optimal_algbw)}: switches give out what they take in"))
    if has_known_size(unit):
        milliseconds = float(10**6 / (best.algbw * bytes_per_microsecond(unit)))
        rows.append(("1 GB takes", f"{milliseconds:.4g} ms at that rate"))
    rows.append(("trees", f"{_trees(best)}, {bandwidth(best.tree_bandwidth, unit)} each"))
    return rows


def _trees(best: Optimum) -> str:
    if _is_pair(best):
        reduces, gathers = (_trees_of_phase(phase) for phase in best.phases)
        return f"{reduces} to reduce and {gathers} to gather"
    if best.root is not None:
        return f"{best.trees_per_root} {'to' if best.collective.only_reduces else 'from'} the root"
    if best.shards is not None:
        return f"{best.trees_per_root} for each 1/{sum(best.weights)} of the data"
    return f"{best.trees_per_root} per root"


def _trees_of_phase(phase: Optimum) -> str:
    if len(set(phase.weights)) == 1:
        return f"{phase.trees_per_root} per root"
    roots = sum(weight > 0 for weight in phase.weights)
    return f"{phase.trees_per_root * sum(phase.weights)} from {roots} root{'s' * (roots > 1)}"


def percent(part: Fraction) -> str:
    """Return a part of a whole in percent, rounded down: 100 % is all of it."""
    hundredths = part * 10**4
    return f"{hundredths.numerator // hundredths.denominator / 100:.2f}%"


def bandwidth(value: Fraction, unit: str) -> str:
    """Return `value` exactly, and as a decimal where that differs."""
    exact = f"{value} {unit}"
    return exact if value.denominator == 1 else f"{exact} ({float(value):.6g})"


def bottleneck_lines(best: Optimum) -> list[str]:
    """Say the bottleneck cut in words: which nodes, which links, how much must cross."""
    topology, inside = best.topology, set(best.cut)
    kept = [number for number in best.members if number in inside]
    fed = [number for number in best.members if number not in inside]
    links = [link for link in topology.links if link.source in inside and link.target not in inside]
    unit = topology.bandwidth_unit
    if len(fed) <= len(kept):
        story = f"What {node_names(topology, fed, best.ranks)} must receive from {_others(kept)}"
        crossing = "must come in over"
    else:
        story = f"What {node_names(topology, kept, best.ranks)} must send to {_others(fed)}"
        crossing = "must go out over"
    share, leaving = best.must_leave, best.exit_bandwidth
    divided = str(leaving) if leaving.denominator == 1 else f"({leaving})"
    part, formula = (f"{share} of all data", f"{divided} / ({share}) = ") if share < 1 else ("all data", "")
    return [
        f"Bottleneck: {story}, {part}, {crossing}",
        *(f"  {line}" for line in link_lines(topology, links)),
        f"  {bandwidth(leaving, unit)} together, so algbw <= {formula}{best.optimal_algbw} {unit}.",
    ]


def _others(numbers: Sequence[int]) -> str:
    return "the other" if len(numbers) == 1 else f"the {len(numbers)} others"


def place(output: Path | None) -> str:
    """Say where a schedule was written."""
    if output is None:
        return "nowhere; -o FILE writes it"
    return "to standard output" if is_standard_stream(output) else str(output)


def printable(text: object) -> str:
    """Return `text` on one line and without control characters: names come from files that anyone wrote."""
    return "".join(each if each.isprintable() else "?" for each in str(text))


def node_names(topology: Topology, numbers: Sequence[int], ranks: tuple[int, ...] | None = None) -> str:
    """Name compute nodes: whole boxes by their number where the nodes have one, else by their ids.

    Of `ranks`, if only these take part, a box is whole when all its ranks are named.
    """
    what = "compute node" if ranks is None else "rank"
    boxes = _whole_boxes(topology, numbers, members_of(topology, ranks))
    if boxes:
        names = _listed([printable(box) for box in boxes])
        return f"the {len(numbers)} {what}s of box{'es' * (len(boxes) > 1)} {names}"
    ids = _listed([printable(each) for each in topology.ids(numbers)])
    return f"{what} {ids}" if len(numbers) == 1 else f"the {len(numbers)} {what}s {ids}"


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


def traffic_document(traffic: Traffic) -> dict[str, object]:
    """Return the JSON keys that state how much a schedule sends, in multiples of M."""
    return {"sent_per_node": str(traffic.sent), "sent_on_all_links": str(traffic.wire)}


def traffic_rows(traffic: Traffic) -> list[tuple[str, str]]:
    """Return the row that states how much a schedule sends."""
    sent, wire = float(traffic.sent), float(traffic.wire)
    return [("traffic", f"a compute node sends {sent:.4g} M on average; all links together carry {wire:.5g} M")]


def shape_rows(shape: TreeShape) -> list[tuple[str, str]]:
    """Return the rows that state how tall trees are."""
    height = f"{shape.greatest_height} sends at most, {shape.mean_height:.2f} on average"
    images = f", {shape.group_order} images each: {shape.trees} trees"
    return [
        ("listed trees", f"{shape.base_trees}{images if shape.group_order > 1 else ''}"),
        ("height", f"{height} (links: {shape.greatest_hops}, {shape.mean_hops:.2f})"),
    ]
