"""The picture of a network, with its legend: by bandwidth, and by load if there is a schedule."""

from collections.abc import Sequence

from forestcoll.presentation.pictures.colours import style
from forestcoll.presentation.pictures.layout import NetworkLayout, layout_of
from forestcoll.presentation.pictures.network.cut import DrawnCut
from forestcoll.presentation.pictures.network.drawing import NetworkDrawing
from forestcoll.presentation.pictures.network.legend import Legend
from forestcoll.presentation.pictures.network.loads import busy_parts
from forestcoll.presentation.pictures.svg import Element, element, picture
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology


def network_picture(
    topology: Topology, *, bound: Bound | None = None, title: str = "", layout: NetworkLayout | None = None
) -> Element:
    """Return the picture of a network: nodes by its structure, links by bandwidth, and the cut of a bound.

    Args:
        topology: the network.
        bound: a bound whose cut is marked; other proofs than a cut are not drawn.
        title: what the picture shows; the name of the network if empty.
        layout: the places of the nodes; by the structure of the network if None.

    Returns:
        One `svg` element without outside resources.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> network_picture(build_topology("ring:nodes=4")).get("role")
        'img'
    """
    network = NetworkDrawing(topology, layout or layout_of(topology), cut=DrawnCut.of(topology, bound))
    return finished(network, title or topology.name, _legend(network))


def load_picture(
    schedule: Schedule, *, bound: Bound | None = None, title: str = "", layout: NetworkLayout | None = None
) -> Element:
    """Return the picture of a network whose links have the colours of their loads under a schedule.

    Args:
        schedule: a schedule of any kind that can be simulated.
        bound: as for `network_picture`.
        title: what the picture shows; the name of the network if empty.
        layout: as for `network_picture`.

    Raises:
        InputError: the loads of schedules of this kind are not known.
    """
    topology = schedule.topology
    network = NetworkDrawing(
        topology, layout or layout_of(topology), busy_parts(schedule), DrawnCut.of(topology, bound)
    )
    return finished(network, title or topology.name, _legend(network))


def _legend(network: NetworkDrawing) -> Legend:
    topology = network.topology
    legend = Legend(network.layout.width, network.layout.height)
    legend.box("compute node", "compute")
    if topology.switches:
        legend.box("switch", "switch")
    values = [link.bandwidth for link in topology.links]
    legend.widths(values, topology.bandwidth_unit, network.most)
    if network.has_one_way_links:
        legend.words("arrow: a link in this direction only")
    if network.busy is not None:
        legend.new_row()
        legend.scale("part of the time that a link is busy:")
    if network.cut is not None:
        legend.new_row()
        legend.box(network.cut.name, "shaded")
        legend.line(network.cut.words, 6, "crossing")
    return legend


def finished(
    network: NetworkDrawing, title: str, legend: Legend, sends: Sequence[Element] = (), over: Sequence[Element] = ()
) -> Element:
    """Return the `svg` element of a network with its legend.

    Args:
        network: the network.
        title: what the picture shows.
        legend: the legend, to which the notes of the layout are added.
        sends: elements between the links and the nodes.
        over: elements in front of the nodes.
    """
    for note in network.layout.notes:
        legend.new_row()
        legend.words(note)
    legend.new_row()
    width, height = network.layout.width, legend.bottom + 8
    background = element("rect", class_="paper", x=0.0, y=0.0, width=width, height=height)
    return styled(width, height, title, background, *network.elements(sends), *over, *legend.elements)


def styled(width: float, height: float, title: str, *content: Element) -> Element:
    """Return the `svg` element of a picture with the styles of all pictures."""
    made = picture(width, height, title, element("style", style()), *content)
    made.set("class", "forestcoll-svg")
    return made
