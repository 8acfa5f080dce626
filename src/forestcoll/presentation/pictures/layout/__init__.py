"""The places of nodes in a picture, by the structure of the network: boxes and tiers, grids, circles."""

from forestcoll.presentation.pictures.layout.choice import layout_of
from forestcoll.presentation.pictures.layout.value import Frame, Mark, NetworkLayout

__all__ = ["Frame", "Mark", "NetworkLayout", "layout_of"]
