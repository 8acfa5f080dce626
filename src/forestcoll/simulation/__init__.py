"""How long schedules and programs take, by an alpha-beta model."""

from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.simulate import Model, simulate

__all__ = ["Costs", "Model", "Point", "simulate"]
