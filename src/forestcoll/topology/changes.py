"""Changes of a network: parts that are gone, and links with another bandwidth; and the names by which users say them.

| name | part |
| --- | --- |
| `b0/gpu0--ib` | the link between two nodes, by their ids |
| `b0/mlx5_0--fabric` | the links of a NIC, also of one that is two nodes, `b0/mlx5_0/out` and `b0/mlx5_0/in` |
| `b0/gpu0` | a node with all its links: a GPU, a NIC that is a node, another switch |
| `b0` | a box: all nodes whose ids begin with `b0/` |
| `box 0` | a box: all nodes whose attribute `box` is 0 |
| `GPU--NIC` | a class of links, by the sorts of its two ends |

Everything is meant in both directions. `Topology.without` and `Topology.degraded` are the ways in from Python.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from forestcoll.base.errors import InputError, nearest, require_kind, shown
from forestcoll.base.exact import to_fraction
from forestcoll.base.units import bandwidth_in
from forestcoll.topology.link_classes import Ends, link_classes

if TYPE_CHECKING:
    from forestcoll.topology.model import Topology

SEPARATOR = "--"
"""What stands between the ids of the two ends of a link."""


@dataclass(frozen=True)
class Change:
    """A change of a network, in node numbers.

    Attributes:
        name: what output calls it.
        links: the ends of the links that are gone, in both directions; the smaller number first.
        nodes: the numbers of the nodes that are gone, with all their links. Compute nodes among them take no part.
        bandwidths: (source, target, bandwidth) of each one-way link that has another bandwidth or is new.
    """

    name: str
    links: tuple[Ends, ...] = ()
    nodes: tuple[int, ...] = ()
    bandwidths: tuple[tuple[int, int, Fraction], ...] = ()

    def together(self, other: "Change") -> "Change":
        """Return both changes at once; the bandwidths of `other` replace those of this one."""
        name = " + ".join(filter(None, (self.name, other.name)))
        links = tuple(sorted({*self.links, *other.links}))
        nodes = tuple(sorted({*self.nodes, *other.nodes}))
        return Change(name, links, nodes, (*self.bandwidths, *other.bandwidths))

    def applied(self, topology: "Topology") -> "Topology":
        """Return the changed network with the same nodes; nodes that are gone have no links."""
        ends = [*self.links, *(ends for node in self.nodes for ends in links_at(topology, node))]
        gone = {way: Fraction(0) for each in ends for way in (each, each[::-1])}
        other = {(source, target): bandwidth for source, target, bandwidth in self.bandwidths}
        return replace(topology.with_bandwidths(other | gone), name=f"{topology.name} ({self.name})")

    def network(self, topology: "Topology") -> "Topology":
        """Return the changed network without the nodes that are gone; the others keep their order."""
        changed = self.applied(topology)
        if not self.nodes:
            return changed
        place = {number: place for place, number in enumerate(self.kept(topology))}
        links = tuple(replace(link, source=place[link.source], target=place[link.target]) for link in changed.links)
        return replace(changed, nodes=tuple(changed.nodes[number] for number in place), links=links)

    def kept(self, topology: "Topology") -> list[int]:
        """Return the numbers of the nodes that are left."""
        return sorted(set(range(len(topology.nodes))).difference(self.nodes))

    def document(self) -> dict[str, object]:
        """Return the change as JSON, for other processes."""
        return {
            "name": self.name,
            "links": [list(ends) for ends in self.links],
            "nodes": list(self.nodes),
            "bandwidths": [[source, target, str(value)] for source, target, value in self.bandwidths],
        }

    @staticmethod
    def from_document(document: Mapping[str, object]) -> "Change":
        """Return the change that `document` describes."""
        links = cast("list[list[int]]", document["links"])
        bandwidths = cast("list[tuple[int, int, str]]", document["bandwidths"])
        return Change(
            cast("str", document["name"]),
            tuple((one, other) for one, other in links),
            tuple(cast("list[int]", document["nodes"])),
            tuple((source, target, Fraction(value)) for source, target, value in bandwidths),
        )


def changed_network(topology: "Topology", without: Sequence[str] = (), degrade: Sequence[str] = ()) -> "Topology":
    """Return the network after failures and degradations.

    Args:
        topology: the network.
        without: parts that have failed, by their names; a text may name several, with commas between them.
        degrade: parts whose links have another bandwidth, each as `NAME=BANDWIDTH`, in the unit of the topology or with
            a unit, or as `NAME=50%` of what the links have.

    Returns:
        The network. Its name says what was changed. Nodes that are gone are left out, and the others keep their order.
        Its compute nodes may not reach each other.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> changed_network(build_topology("dgx-a100:boxes=2"), ["b0/gpu0--ib"], ["b0/gpu1--ib=50%"]).name
        'dgx-a100:boxes=2 without b0/gpu0--ib, with b0/gpu1--ib=50%'

    Raises:
        InputError: there is no such part, a part is named twice, a bandwidth is not a number greater than 0, or fewer
            than two compute nodes are left.
    """
    if not without and not degrade:
        return topology
    change = change_named(topology, without, degrade)
    network = change.network(topology)
    if len(network.compute) < 2:
        raise InputError(
            f"{topology.name}: {change.name} leaves {len(network.compute)} compute nodes; leave at least 2"
        )
    return replace(network, name=f"{topology.name} {change.name}".rstrip())


def change_named(topology: "Topology", without: Sequence[str] = (), degrade: Sequence[str] = ()) -> Change:
    """Return the change that leads to `changed_network`, with the same arguments. Raises `InputError` as it does."""
    for each in (*without, *degrade):
        require_kind(each, str, "the name of a part", "a text, such as 'b0/gpu0--ib'")
    gone = [part_named(topology, text) for each in without for text in _listed(topology, each)]
    slower = [_degraded(topology, text) for each in degrade for text in _with_values(_listed(topology, each))]
    _check_once(topology, gone, [part for part, _ in slower])
    words = [f"without {', '.join(part.name for part in gone)}"] if gone else []
    words += [f"with {', '.join(part.name for part, _ in slower)}"] if slower else []
    return Change(
        ", ".join(words),
        tuple(sorted({ends for part in gone if not part.nodes for ends in part.links})),
        _with_own_ports(topology, {node for part in gone for node in part.nodes}),
        tuple(sorted((*way, value) for _, values in slower for way, value in values.items())),
    )


def _with_own_ports(topology: "Topology", nodes: AbstractSet[int]) -> tuple[int, ...]:
    """Return nodes with the switches that are part of one of them, by their attribute `port_of`."""
    ids = {str(topology.nodes[node].id) for node in nodes}
    own = (number for number, node in enumerate(topology.nodes) if str(node.attributes.get("port_of")) in ids)
    return tuple(sorted({*nodes, *own}))


@dataclass(frozen=True)
class _Part:
    """What a name means.

    Attributes:
        name: what messages and the name of the changed network call it.
        links: the ends of its links, the smaller number first; all links of its nodes, if it is nodes.
        nodes: the numbers of its nodes; none if it is links.
    """

    name: str
    links: tuple[Ends, ...]
    nodes: tuple[int, ...] = ()


def link_name(topology: "Topology", ends: Ends) -> str:
    """Return the name of a link, by which `part_named` finds it again.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> link_name(build_topology("dgx-a100:boxes=2"), (0, 18))
        'b0/gpu0--ib'
    """
    return SEPARATOR.join(map(str, topology.ids(ends)))


def links_at(topology: "Topology", node: int) -> list[Ends]:
    """Return the ends of the links of a node, the smaller number first."""
    around = sorted({*topology.targets[node], *topology.sources[node]})
    return [(min(node, other), max(node, other)) for other in around]


def part_named(topology: "Topology", text: str) -> _Part:
    """Return the part of a network that `text` names.

    Raises:
        InputError: there is no such part, or the text can be read in two ways.
    """
    links = {ends for ends in _readings(topology, text) if links_join(topology, ends)}
    if len(links) > 1:
        raise InputError(f"{topology.name}: {shown(text)} names two links, because ids contain '--'; rename nodes")
    if links:
        return _Part(link_name(topology, min(links)), tuple(links))
    if links := _links_of_nics(topology, text):
        return _Part(text.strip(), tuple(sorted(links)))
    if nodes := _nodes(topology, text):
        return _Part(text.strip(), tuple(sorted({ends for node in nodes for ends in links_at(topology, node)})), nodes)
    classes = [each for each in link_classes(topology) if _sorts(text) == _sorts(SEPARATOR.join(each.sorts))]
    if classes:
        return _Part(text.strip(), tuple(sorted(ends for each in classes for ends in each.links)))
    raise InputError(f"{topology.name}: {_why_unknown(topology, text)}")


def link_named(topology: "Topology", text: str) -> Ends:
    """Return the ends of the one link that `text` names. Raises `InputError` if it names none, or other parts."""
    part = part_named(topology, text)
    if part.nodes or len(part.links) != 1:
        raise InputError(f"{topology.name}: {shown(text)} is no single link; write A--B, the ids of its ends")
    return part.links[0]


def links_join(topology: "Topology", ends: Ends) -> bool:
    """Return whether there is a link between two nodes, in either direction."""
    return ends in topology.link_numbers or ends[::-1] in topology.link_numbers


def _cuts(text: str) -> list[tuple[str, str]]:
    """Return the two names that a text can have on both sides of `--`."""
    words = text.split(SEPARATOR)
    return [(SEPARATOR.join(words[:place]), SEPARATOR.join(words[place:])) for place in range(1, len(words))]


def _readings(topology: "Topology", text: str) -> list[Ends]:
    """Return the pairs of nodes that `text` can mean."""
    pairs = [(topology.find(one), topology.find(other)) for one, other in _cuts(text)]
    return [(min(a, b), max(a, b)) for a, b in pairs if a is not None and b is not None and a != b]


def _links_of_nics(topology: "Topology", text: str) -> set[Ends]:
    """Return the links of a NIC that is two nodes, by its name: those nodes have it as their attribute `nic`."""
    found: set[Ends] = set()
    for one, other in _cuts(text):
        ends = [_nodes_called(topology, one), _nodes_called(topology, other)]
        found |= {(min(a, b), max(a, b)) for a in ends[0] for b in ends[1] if links_join(topology, (a, b))}
    return found


def _nodes_called(topology: "Topology", name: str) -> list[int]:
    node = topology.find(name)
    if node is not None:
        return [node]
    return [number for number in topology.switches if topology.nodes[number].attributes.get("nic") == name]


def _nodes(topology: "Topology", text: str) -> tuple[int, ...]:
    """Return the node with this id, or the nodes of the box with this name."""
    node = topology.find(text)
    if node is not None:
        return (node,)
    name, nodes = text.strip(), list(enumerate(topology.nodes))
    if name.startswith("box "):
        return tuple(number for number, each in nodes if f"box {each.attributes.get('box')}" == name)
    return tuple(number for number, each in nodes if name and str(each.id).startswith(f"{name}/"))


def _sorts(text: str) -> list[str]:
    """Return the two sorts of nodes that a name of a class of links has, without what people write differently."""
    return sorted(word.strip().lower().replace("-", " ") for word in text.split(SEPARATOR))


def _why_unknown(topology: "Topology", text: str) -> str:
    for one, other in _readings(topology, text):
        near = topology.targets[one]
        names = ", ".join(shown(each) for each in topology.ids(near[:3]))
        has = f"{shown(topology.nodes[one].id)} has links to {names}{' and others' * (len(near) > 3)}"
        return f"no link joins {' and '.join(shown(each) for each in topology.ids((one, other)))}; {has}"
    start, separator, end = text.partition(SEPARATOR)
    if not separator or not start:
        hint = _did_you_mean(text, [*(str(node.id) for node in topology.nodes), *_box_names(topology)])
        return f"{shown(text)} names no link, node or box; {hint}write A--B, the ids of the ends of a link, or one id"
    if start == end:
        return f"{shown(text)} has one node twice; name the two ends of a link"
    classes = link_classes(topology)
    if set(_sorts(text)) & {sort.lower() for each in classes for sort in each.sorts}:
        known = dict.fromkeys(SEPARATOR.join(each.sorts) for each in classes)
        return f"{shown(text)} names no class of links; there are {', '.join(known)}"
    unknown = start if topology.find(start) is None else end
    hint = _did_you_mean(text, _names_like(topology, start, end)) if unknown else ""
    first = topology.links[0]
    return (
        f"{shown(text)} names no link: there is no node {shown(unknown)}; {hint}"
        f"name the ends of a link, such as {shown(link_name(topology, (first.source, first.target)))}"
    )


def _names_like(topology: "Topology", start: str, end: str) -> Iterator[str]:
    """Yield names of links, those of an end that is known first."""
    one, other = topology.find(start), topology.find(end)
    if other is not None:
        yield from (f"{each}{SEPARATOR}{end}" for each in topology.ids(topology.sources[other]))
    if one is not None:
        yield from (f"{start}{SEPARATOR}{each}" for each in topology.ids(topology.targets[one]))
    yield from (link_name(topology, ends) for ends in topology.link_numbers)


def _box_names(topology: "Topology") -> list[str]:
    return sorted({str(node.id).partition("/")[0] for node in topology.nodes if "/" in str(node.id)})


def _did_you_mean(text: str, known: Iterable[str]) -> str:
    """Return a question with the known name of the same form that is most similar to `text`, for an error, or "".

    Two names have the same form if they differ in digits only. A number alone is rarely like the one that was meant.
    """
    names = list(known)
    alike = [name for name in names if re.sub(r"\d+", "0", name) == re.sub(r"\d+", "0", text)]
    near = nearest(text, alike) or next(iter(alike), None) or nearest(text, names)
    return "" if near is None or not re.search("[a-z]", text, re.IGNORECASE) else f"did you mean {shown(near)}? "


def _listed(topology: "Topology", text: str) -> list[str]:
    """Return the names in a text: it is one name if the ids in it have commas."""
    for whole in (text, text.rpartition("=")[0]):
        if _readings(topology, whole) or topology.find(whole) is not None:
            return [text]
    return [part.strip() for part in text.split(",")]


def _with_values(texts: Sequence[str]) -> list[str]:
    """Return the texts `NAME=VALUE`, in which a name alone has the value of the next one."""
    found, value = list[str](), ""
    for text in reversed(texts):
        value = text.rpartition("=")[2] if "=" in text else value
        found.append(text if "=" in text or not value else f"{text}={value}")
    return found[::-1]


def _degraded(topology: "Topology", text: str) -> tuple[_Part, dict[Ends, Fraction]]:
    """Return the part of `NAME=VALUE`, named with its value, and the new bandwidth of each of its links one way.

    Raises:
        InputError: as `part_named`, or the value is no bandwidth greater than 0 and no percentage.
    """
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{shown(text)} has no bandwidth; write A--B=BANDWIDTH, as in b0/gpu0--ib=12.5 or 0--1=50%")
    part, is_share = part_named(topology, name), value.rstrip().endswith("%")
    try:
        number = to_fraction(value.rstrip()[:-1]) if is_share else bandwidth_in(topology.bandwidth_unit, value)
    except ValueError as error:
        raise InputError(f"{shown(text)}: bandwidth {shown(value)} {error}") from None
    if number <= 0:
        raise InputError(
            f"{shown(text)}: bandwidth {shown(value)} must be greater than 0; use --without for a failed link"
        )
    ways = [way for ends in part.links for way in (ends, ends[::-1]) if way in topology.link_numbers]
    old = topology.bandwidths
    values = {way: old[way] * number / 100 if is_share else number for way in ways}
    return replace(part, name=f"{part.name}={value.strip() if is_share else number}"), values


def _check_once(topology: "Topology", gone: Sequence[_Part], slower: Sequence[_Part]) -> None:
    nodes, links = set[int](), {ends for part in gone if part.nodes for ends in part.links}
    for part in (part for part in gone if part.nodes):
        if twice := nodes.intersection(part.nodes):
            name = shown(topology.nodes[min(twice)].id)
            raise InputError(f"{topology.name}: node {name} is named twice; name it once")
        nodes.update(part.nodes)
    for part in (*(part for part in gone if not part.nodes), *slower):
        if again := links.intersection(part.links):
            name = shown(link_name(topology, min(again)))
            raise InputError(f"{topology.name}: link {name} is named twice; name it once")
        links.update(part.links)
