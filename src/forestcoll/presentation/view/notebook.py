"""The pictures of values in notebooks: small, or no picture."""

from forestcoll.base.errors import InputError
from forestcoll.presentation.pictures.network.picture import load_picture, network_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology

MOST_BYTES = 180_000
"""The size of the greatest picture that a notebook shows."""


def topology_picture(topology: Topology) -> str:
    """Return the picture of a network as SVG; no text if it would be too large."""
    return _small(text(network_picture(topology, title=f"The network {topology.name}")))


def schedule_picture(schedule: Schedule) -> str:
    """Return the picture of the loads of a schedule as SVG; no text if there is none or if it would be too large.

    The schedule was not verified, so that it may cross links that do not exist.
    """
    title = f"{schedule.operation} on {schedule.topology.name}: loads of the links"
    try:
        return _small(text(load_picture(schedule, title=title)))
    except (InputError, ValueError):
        return ""


def _small(svg: str) -> str:
    return svg if len(svg) <= MOST_BYTES else ""
