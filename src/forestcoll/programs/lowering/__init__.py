"""Lowering: converts schedules into programs."""

from forestcoll.programs.lowering.lowering import (
    LOWERERS,
    UNLIMITED,
    Lowerer,
    Lowering,
    default_options,
    least_instructions,
    lower,
    lowerer_for,
)
from forestcoll.programs.lowering.options import COMFORTABLE_BLOCKS, Options, Placement, Style, usual_placement

__all__ = [
    "COMFORTABLE_BLOCKS",
    "LOWERERS",
    "UNLIMITED",
    "Lowerer",
    "Lowering",
    "Options",
    "Placement",
    "Style",
    "default_options",
    "least_instructions",
    "lower",
    "lowerer_for",
    "usual_placement",
]
