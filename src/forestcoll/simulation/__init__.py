"""How long schedules and programs take, by an alpha-beta model; `lower_bound/` has what no program can beat."""

from forestcoll.simulation.costs import Costs, Point, read_costs
from forestcoll.simulation.simulate import Model, simulate

__all__ = ["Costs", "Model", "Point", "read_costs", "simulate"]
