"""Lowering: converts schedules into programs."""

from forestcoll.lowering.lowering import LOWERERS, UNLIMITED, Lowerer, Lowering, lower, lowerer_for
from forestcoll.lowering.options import Options, Placement, Style

__all__ = [
    "LOWERERS",
    "UNLIMITED",
    "Lowerer",
    "Lowering",
    "Options",
    "Placement",
    "Style",
    "lower",
    "lowerer_for",
]
