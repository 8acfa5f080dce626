"""Lowering: turns schedules into programs."""

from forestcoll.lowering.lowering import UNLIMITED, Lowering, lower
from forestcoll.lowering.options import Options, Placement, Style

__all__ = ["UNLIMITED", "Lowering", "Options", "Placement", "Style", "lower"]
