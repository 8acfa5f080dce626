"""The pictures of values in notebooks: small, or no picture."""

from forestcoll.base.errors import InputError
from forestcoll.presentation.pictures.network.picture import load_picture, network_picture
from forestcoll.presentation.pictures.svg import Element, text
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology

MOST_BYTES = 180_000
"""The size of the greatest picture that a notebook shows."""


def topology_picture(topology: Topology) -> Element | None:
    """Return the picture of a network; None if it would be too large."""
    return _small(network_picture(topology, title=f"The network {topology.name}"))


def schedule_picture(schedule: Schedule) -> Element | None:
    """Return the picture of the loads of a schedule; None if there is none or if it would be too large.

    The schedule was not verified, so that it may cross links that do not exist.
    """
    title = f"{schedule.operation} on {schedule.topology.name}: loads of the links"
    try:
        return _small(load_picture(schedule, title=title))
    except (InputError, ValueError):
        return None


def _small(picture: Element) -> Element | None:
    return picture if len(text(picture)) <= MOST_BYTES else None
