"""The places of nodes in a picture, by the structure of the network: boxes and tiers, grids, circles."""

from forestcoll.presentation.pictures.layout.choice import layout_of
from forestcoll.presentation.pictures.layout.value import Frame, Layout, Mark

__all__ = ["Frame", "Layout", "Mark", "layout_of"]
