"""Net files of ibsim, the simulator of InfiniBand: `Switch 8 "s1"` or `Hca 2 "h1"`, then `[port] "other"[port]`.

The files have the shape only, so a bandwidth is asked for: that of a link of four lanes. `w=12` on a port says that it
has twelve, and a line `width=1` gives the width of the ports that follow. A link has the width that both ends have.

Source: README and ibsim/sim_net.c of linux-rdma/ibsim.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source

_NODE = re.compile(r'(Switch|Hca|Ca|Rt)\s+(\d{1,3})\s+"([^"]+)"')
_PORT = re.compile(r'\[(\d{1,3})\]\s*"([^"@]+)"\s*(?:\[(\d{1,3})\])?(.*)')
_WIDTH = re.compile(r"\bw=(\d{1,2})\b")
_LANES = 4

End = tuple[str, int]


@dataclass
class _Net:
    """The nodes by their kinds, and the ends of the links with the width of the first, and the line."""

    kinds: dict[str, str]
    ports: dict[End, tuple[End, int, int]]


@importers.add("ibsim", summary="a net file of ibsim", tried=78)
@dataclass(frozen=True)
class Ibsim(Importer):
    """Reads a net file of ibsim."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a line of an adapter as ibsim's net files have it."""
        return re.search(r'^Hca\s+\d+\s+"[^"]+"', text, re.MULTILINE) is not None

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network; an adapter is a compute node."""
        net = _net(source)
        if self.link_bandwidth is None:
            what = f"what a link of {_LANES} lanes carries: it has the shape of the network only"
            raise missing_speed(source.where, what, "--link-bandwidth")
        builder = TopologyBuilder(source.stem, where=source.where)
        linked = {end[0] for here, (there, _, _) in net.ports.items() for end in (here, there)}
        alone = [node for node, kind in net.kinds.items() if kind == "Hca" and node not in linked]
        if alone:
            notes.ignore(f"{plural(len(alone), 'adapter')} without a link: {listed(alone)}")
        for node, kind in net.kinds.items():
            if kind == "Hca" and node in linked:
                builder.add_compute(node)
            elif kind != "Hca":
                builder.add_switch(node)
        for one, other, width in _links(source, net):
            builder.add_duplex(one, other, self.link_bandwidth * width / _LANES)
        return builder


def _net(source: Source) -> _Net:
    net, current, default = _Net({}, {}), "", _LANES
    for number, line in source.numbered():
        if (node := _NODE.match(line)) is not None:
            current = node[3]
            if current in net.kinds:
                raise source.error(f"node {shown(current)} appears twice; rename one", number)
            net.kinds[current] = "Hca" if node[1] in ("Hca", "Ca") else node[1]
        elif line.startswith("width"):
            default = int(found[1]) if (found := re.search(r"=\s*(\d{1,2})\b", line)) else default
        elif (port := _PORT.match(line)) is not None:
            if not current:
                raise source.error(
                    f"{shown(line)} is a port of no node; the file lacks a line 'Switch' or 'Hca'", number
                )
            width = _WIDTH.search(port[4])
            here, there = (current, int(port[1])), (port[2], int(port[3] or 1))
            net.ports[here] = (there, int(width[1]) if width else default, number)
    return net


def _links(source: Source, net: _Net) -> list[tuple[str, str, int]]:
    """Return the two ends of each link once, and its lanes."""
    links = []
    for here, (there, width, line) in net.ports.items():
        if there[0] not in net.kinds:
            raise source.error(f"port {here[1]} of {shown(here[0])} leads to {shown(there[0])}, which is no node", line)
        back, other_width, _ = net.ports.get(there, (here, width, line))
        if back != here:
            ends = f"{shown(there[0])}[{there[1]}], which leads to {shown(back[0])}[{back[1]}]"
            raise source.error(f"port {here[1]} of {shown(here[0])} leads to {ends}; fix one of them", line)
        if here < there or there not in net.ports:
            links.append((here[0], there[0], min(width, other_width)))
    return links
