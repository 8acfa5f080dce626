"""InfraGraph, in YAML or JSON: devices with components, instances of devices, and edges between ranges of these.

A component is `xpu` (`npu` in older files), which is a compute node, or anything else, which passes data on. Nodes have
the names that InfraGraph gives them: `host.0.xpu.3`. The instance is the attribute `box`. Edges are expanded as
InfraGraph does it: `many2many` joins all pairs, `one2one` the first with the first and so on, each pair once. Older
files list `connections` such as `host.0.nic.0.eth.switch.0.port.0` instead of edges.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product

from forestcoll.base.errors import shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import MAX_LINKS, MAX_NODES, Source, whole_number
from forestcoll.topology.importers.yaml_values import objects, read_yaml

_COMPUTE = ("xpu", "npu", "gpu")
_MAX_DEPTH = 20
_PIECE = re.compile(r"([A-Za-z0-9_ -]+)(?:\[(-?\d*)(:?)(-?\d*)(?::(\d*))?\])?")
_UNITS = {"gigabits_per_second": "Gb/s", "gigabytes_per_second": "GB/s", "giga_bytes_per_second": "GB/s"}
_OPTIONS = (("nvlink", "nvlink"), ("nvl", "nvlink"), ("xgmi", "xgmi"), ("pcie", "pcie"))
"""What the name of a link without a bandwidth begins with, and the option that asks for its speed."""

Value = Mapping[str, object]


@dataclass(frozen=True)
class _Component:
    """A component: how many there are, what it is, and the device that it is made of, or None."""

    count: int
    kind: str
    device: str | None


@dataclass
class _Device:
    """A device: its components, its links by name, and its edges as pairs of names with a link."""

    components: dict[str, _Component] = field(default_factory=dict)
    links: dict[str, Value] = field(default_factory=dict)
    edges: list[tuple[str, str, str]] = field(default_factory=list)


@importers.add("infragraph", summary="InfraGraph's infrastructure, YAML or JSON", tried=120)
@dataclass(frozen=True)
class Infragraph(Importer):
    """Reads InfraGraph's infrastructure, YAML or JSON."""

    nvlink: Fraction | None = option("nvlink")
    xgmi: Fraction | None = option("xgmi")
    pcie: Fraction | None = option("pcie")
    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has the lists of such a file."""
        keys = ("instances", "devices") if "instances" in text else ("devices", "components")
        return all(
            re.search(rf'^[ \t]*+(?:-[ \t]*+)?"?{key}"?[ \t]*:', text, re.MULTILINE) for key in (*keys, "components")
        )

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network of all instances."""
        document = _document(source)
        devices = {
            _name(source, each, "a device"): each for each in objects(source, document.get("devices"), "devices")
        }
        reader = _Reader(source, {name: _device(source, each) for name, each in devices.items()}, self, notes)
        for name, each in devices.items():
            reader.devices[name].edges = list(reader.device_edges(name, each))
        return reader.network(document)


def _document(source: Source) -> Value:
    value = source.json() if source.text.lstrip().startswith("{") else read_yaml(source)
    if isinstance(value, dict) and isinstance(value.get("infrastructure"), dict):
        value = value["infrastructure"]
    if not isinstance(value, dict):
        raise source.error("is no description of an infrastructure with devices and instances")
    return value


def _name(source: Source, value: Value, what: str) -> str:
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise source.error(f"{what} has no name; give it one")
    return name


def _device(source: Source, value: Value) -> _Device:
    device = _Device()
    for each in objects(source, value.get("components"), "components"):
        name = _name(source, each, "a component")
        kind = str(each.get("choice") or each.get("type") or "")
        custom = each.get("custom")
        if kind == "custom" and isinstance(custom, dict):
            kind = str(custom.get("type", kind))
        count = whole_number(source, each.get("count", 1), f"count of {name}", most=MAX_NODES)
        device.components[name] = _Component(count, kind, name if kind == "device" else None)
    device.links = {_name(source, each, "a link"): each for each in objects(source, value.get("links"), "links")}
    return device


@dataclass
class _Reader:
    """Expands ranges and builds the network."""

    source: Source
    devices: dict[str, _Device]
    options: Infragraph
    notes: Notes
    boxes: dict[str, str] = field(default_factory=dict)

    def network(self, document: Value) -> TopologyBuilder:
        """Return the builder with the nodes and links of all instances."""
        name = document.get("name")
        builder = TopologyBuilder(name if isinstance(name, str) and name else self.source.stem, where=self.source.where)
        instances: dict[str, _Component] = {}
        for each in objects(self.source, document.get("instances"), "instances"):
            instance = _name(self.source, each, "an instance")
            count = whole_number(self.source, each.get("count", 1), f"count of {instance}", most=MAX_NODES)
            instances[instance] = _Component(count, "device", self._known(each.get("device")))
        if not instances:
            raise self.source.error("has no instances, so no network; add the instances of its devices")
        nodes: dict[str, str] = {}
        for key, each_instance in instances.items():
            for number in range(each_instance.count):
                self._add_nodes(nodes, f"{key}.{number}", each_instance.device or "", f"{key}.{number}", 0)
        for node, kind in nodes.items():
            if kind in _COMPUTE:
                builder.add_compute(node, box=self.boxes[node])
        computing = {self.boxes[node] for node, kind in nodes.items() if kind in _COMPUTE}
        for node, kind in nodes.items():
            if kind not in _COMPUTE:  # a switch of the fabric is in no box
                box = {"box": self.boxes[node]} if self.boxes[node] in computing else {}
                builder.add_switch(node, **{"device": kind or "component", **box})  # type: ignore[arg-type]
        edges = [*self._inner_edges(instances), *self._outer_edges(document, instances)]
        self._add_edges(builder, edges, nodes)
        return builder

    def _known(self, name: object) -> str:
        if not isinstance(name, str) or name not in self.devices:
            raise self.source.error(f"there is no device {shown(name)}; add it to devices")
        return name

    def _add_nodes(self, nodes: dict[str, str], prefix: str, device: str, box: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise self.source.error(f"device {shown(device)} contains itself")
        for name, component in self.devices[device].components.items():
            for number in range(component.count):
                node = f"{prefix}.{name}.{number}"
                if component.device is not None:
                    self._add_nodes(nodes, node, self._known(component.device), box, depth + 1)
                    continue
                nodes[node] = component.kind
                self.boxes[node] = box
                if len(nodes) > MAX_NODES:
                    raise self.source.error(f"has more than {MAX_NODES} nodes; make it smaller")

    def device_edges(self, name: str, value: Value) -> Iterator[tuple[str, str, str]]:
        """Yield the edges inside a device, as pairs of names relative to it."""
        for each in objects(self.source, value.get("edges"), "edges"):
            yield from self._pairs(each, lambda end: self._parts(name, _path(end, "device")))
        for text in _texts(value.get("connections")):
            yield self._connection(text, set(self.devices[name].links))

    def _outer_edges(
        self, document: Value, instances: Mapping[str, _Component]
    ) -> Iterator[tuple[str, str, str, Value | None]]:
        links = {
            _name(self.source, each, "a link"): each for each in objects(self.source, document.get("links"), "links")
        }
        for each in objects(self.source, document.get("edges"), "edges"):
            for one, other, link in self._pairs(each, lambda end: self._instance_parts(end, instances)):
                yield one, other, link, links.get(link)
        for text in _texts(document.get("connections")):
            one, other, link = self._connection(text, set(links))
            yield one, other, link, links.get(link)

    def _inner_edges(self, instances: Mapping[str, _Component]) -> Iterator[tuple[str, str, str, Value | None]]:
        for name, instance in instances.items():
            for number in range(instance.count):
                yield from self._edges_of(f"{name}.{number}", instance.device or "")

    def _edges_of(self, prefix: str, name: str) -> Iterator[tuple[str, str, str, Value | None]]:
        device = self.devices[name]
        for one, other, link in device.edges:
            yield f"{prefix}.{one}", f"{prefix}.{other}", link, device.links.get(link)
        for part, component in device.components.items():
            if component.device is not None:
                for number in range(component.count):
                    yield from self._edges_of(f"{prefix}.{part}.{number}", component.device)

    def _pairs(self, edge: Value, ends: Callable[[Value], list[str]]) -> Iterator[tuple[str, str, str]]:
        """Yield the pairs that an edge joins."""
        sides = [edge.get("ep1"), edge.get("ep2")]
        if not all(isinstance(side, dict) for side in sides):
            raise self.source.error(f"an edge needs ep1 and ep2; it is {shown(dict(edge))}")
        one, other = (ends(side) for side in sides if isinstance(side, dict))
        scheme = str(edge.get("scheme", "many2many"))
        if scheme not in ("many2many", "one2one"):
            raise self.source.error(f"the scheme of an edge is {shown(scheme)}; expected many2many or one2one")
        if len(one) * len(other) > MAX_LINKS:
            raise self.source.error(f"an edge stands for more than {MAX_LINKS} links")
        pairs = product(one, other) if scheme == "many2many" else zip(one, other, strict=False)
        for first, second in pairs:
            if first != second:
                yield first, second, str(edge.get("link", ""))

    def _instance_parts(self, end: Value, instances: Mapping[str, _Component]) -> list[str]:
        name, numbers = self._range(str(end.get("instance", "")), instances)
        parts = self._parts(instances[name].device or "", str(end.get("component", "")))
        return [f"{name}.{number}.{part}" for number in numbers for part in parts]

    def _parts(self, device: str, path: str) -> list[str]:
        """Return the names that a path such as `cx5[0:2].port[0]` means in a device."""
        parts: list[str] = [""]
        for piece in path.split("."):
            components = self.devices[self._known(device)].components
            name, numbers = self._range(piece, components)
            parts = [f"{part}.{name}.{number}".lstrip(".") for part in parts for number in numbers]
            device = components[name].device or ""
            if len(parts) > MAX_NODES:
                raise self.source.error(f"{shown(path)} means more than {MAX_NODES} components")
        return parts

    def _range(self, piece: str, known: Mapping[str, _Component]) -> tuple[str, range]:
        found = _PIECE.fullmatch(piece)
        if found is None or found[1] not in known:
            raise self.source.error(
                f"{shown(piece)} names no component or instance; there are {', '.join(islice(known, 8))}"
            )
        start, colon, stop, step = found[2], found[3], found[4], found[5]
        count = known[found[1]].count
        if not start and not colon:
            return found[1], range(count)
        numbers = [int(text) if text and len(text) < 9 else None for text in (start, stop, step)]
        if not colon:
            numbers[1] = (numbers[0] or 0) + 1
        if numbers[2] == 0:
            raise self.source.error(f"{shown(piece)} has a step of 0")
        return found[1], range(count)[slice(*numbers)]

    def _connection(self, text: str, links: set[str]) -> tuple[str, str, str]:
        """Return the two ends and the link of `one.0.part.0.LINK.other.0.part.0`."""
        words = text.split(".")
        places = [place for place, word in enumerate(words) if word in links and place % 2 == 0]
        if not places:
            raise self.source.error(
                f"the connection {shown(text)} names no link; there are {', '.join(sorted(links)[:8])}"
            )
        place = places[0]
        return ".".join(words[:place]), ".".join(words[place + 1 :]), words[place]

    def _add_edges(
        self, builder: TopologyBuilder, edges: Sequence[tuple[str, str, str, Value | None]], nodes: Mapping[str, str]
    ) -> None:
        seen: set[tuple[str, str, str]] = set()
        for one, other, link, value in edges:
            key = (min(one, other), max(one, other), link)
            if key in seen:  # many2many of a range with itself lists each pair twice
                continue
            seen.add(key)
            if len(seen) > MAX_LINKS:
                raise self.source.error(f"has more than {MAX_LINKS} links; make it smaller")
            unknown = next((end for end in (one, other) if end not in nodes), None)
            if unknown is not None:
                raise self.source.error(f"an edge names {shown(unknown)}, which is no component of an instance")
            builder.add_duplex(one, other, self._bandwidth(link, value))

    def _bandwidth(self, link: str, value: Value | None) -> object:
        physical = value.get("physical") if value else None
        stated = (physical if isinstance(physical, dict) else value or {}).get("bandwidth")
        if isinstance(stated, dict):
            for key, unit in _UNITS.items():
                if stated.get(key) not in (None, ""):
                    number = stated[key]
                    return f"{getattr(number, 'text', number)}{unit}"
        option = next((name for start, name in _OPTIONS if link.lower().startswith(start)), "link_bandwidth")
        given = getattr(self.options, option) or self.options.link_bandwidth
        if given is None:
            flag = f"--{option.replace('_', '-')}"
            raise missing_speed(self.source.where, f"the bandwidth of link {json.dumps(link)}", flag)
        self.notes.assume(f"link {json.dumps(link)} carries {given} GB/s, as given")
        return given


def _path(end: Value, key: str) -> str:
    outer = end.get(key)
    return f"{outer}.{end.get('component', '')}" if outer else str(end.get("component", ""))


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
