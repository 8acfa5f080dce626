"""The costs of links at prices of ports, in floating point, for the searches of trees."""

from fractions import Fraction

import numpy as np

from forestcoll.base.exact import as_float
from forestcoll.oneport.platform.platform import Platform
from forestcoll.solver.exact_lp.linear_program import Floats


class LinkPrices:
    """The costs of links at prices of ports, in floating point. `unit` is the unit of time."""

    def __init__(self, platform: Platform, unit: Fraction = Fraction(1)) -> None:
        place = {port: number for number, port in enumerate(platform.all_ports)}
        most = max(map(len, platform.uses))
        self._costs = np.array([as_float(cost / unit) for cost in platform.costs])
        self._places = np.zeros((most, len(self._costs)), dtype=np.intp)
        self._parts = np.zeros((most, len(self._costs)))
        for link, uses in enumerate(platform.uses):
            for number, (port, part) in enumerate(uses):
                self._places[number, link], self._parts[number, link] = place[port], as_float(part)

    def of_links(self, prices: Floats) -> Floats:
        """Return the cost of a message over each link at these prices, in the order of `Platform.all_ports`."""
        costs: Floats = self._costs * (self._parts * prices[self._places]).sum(axis=0)
        return costs

    def add_times(self, link: int, loads: Floats) -> None:
        """Add the times of a message over `link` to the loads of its ports."""
        np.add.at(loads, self._places[:, link], self._parts[:, link] * self._costs[link])
