"""The parameters that a fit can find, and the unknowns of its least squares.

An efficiency and the limit of a rank are sought as their reciprocals, because times depend on these almost linearly.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.measurement.fit.least_squares import BoxConstraints
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray


class FitModel(StrEnum):
    """Which parameters a fit finds.

    Example:
        >>> from forestcoll import Costs, fit_costs, generate, simulate
        >>> from forestcoll.measurement import FitModel, MeasuredTimes
        >>> schedule, sizes = generate("dgx-a100:boxes=2"), (2**20, 2**30)
        >>> true = Costs(alpha_us=12, overhead_us=0, efficiency=0.8)
        >>> seconds = tuple(point.seconds for point in simulate(schedule, sizes, true))
        >>> fit_costs([MeasuredTimes("forest", schedule, sizes, seconds)], model=FitModel.ALPHA_BETA).fitted
        ('alpha_us', 'efficiency')
    """

    SIMULATION = "simulation"
    """Latency, overhead, launch and efficiencies of the cost model."""
    ALPHA_BETA = "alpha-beta"
    """T = alpha·sends + launch + M/(efficiency·algbw): appendix A.2 of the direct-connect paper, no overhead."""


@dataclass(frozen=True)
class FitParameter:
    """A parameter that a fit can find.

    Attributes:
        starts: the values from which a search starts.
        inverse: whether the unknown is the reciprocal of the parameter.
        greatest: the greatest value of the unknown.
    """

    starts: tuple[float, ...]
    inverse: bool = False
    greatest: float = 10**9

    @property
    def least(self) -> float:
        """The least value of the unknown."""
        return 1.0 if self.inverse and self.greatest == _MOST_LOSS else 0.0


_MOST_LOSS = 1000.0
"""The reciprocal of the least efficiency that a fit considers."""

PARAMETERS: dict[str, FitParameter] = {
    "alpha_us": FitParameter((2.0, 20.0)),
    "overhead_us": FitParameter((2.0,)),
    "launch_us": FitParameter((0.0, 50.0)),
    "efficiency": FitParameter((1.05, 1.5), inverse=True, greatest=_MOST_LOSS),
    "nic_efficiency": FitParameter((1.05, 1.5), inverse=True, greatest=_MOST_LOSS),
    "rank_gbps": FitParameter((0.004, 0.01), inverse=True),
    "incast": FitParameter((0.0, 0.05), greatest=1000.0),
    "reduction_us_per_mb": FitParameter((0.5,)),
}
"""All parameters, in the order of `Costs`."""

DEFAULTS: dict[FitModel, tuple[str, ...]] = {
    FitModel.SIMULATION: ("alpha_us", "efficiency", "overhead_us", "launch_us", "nic_efficiency"),
    FitModel.ALPHA_BETA: ("alpha_us", "efficiency", "launch_us"),
}
"""The parameters that a fit finds by default, the most important first. Those that the times do not identify, beginning
with the last, keep their values."""


def checked(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, after a check that each is a parameter and none is repeated.

    Raises:
        InputError: a name is unknown or repeated, or there is none.
    """
    if not names:
        raise InputError("there is no parameter to fit; name at least one, such as alpha_us")
    for name in names:
        if name not in PARAMETERS:
            raise unknown_name(f"{shown(name)} is no parameter of the costs", name, PARAMETERS)
        if names.count(name) > 1:
            raise InputError(f"{name} is named twice; name each parameter once")
    return names


@dataclass(frozen=True)
class Unknowns:
    """The unknowns of a fit.

    Attributes:
        names: the parameters that are fitted.
        fixed: the values of all other parameters.
        rank_rate: the greatest rate of a rank that was measured, in GB/s: where the search for its limit starts.
    """

    names: tuple[str, ...]
    fixed: Costs
    rank_rate: float

    @property
    def box(self) -> BoxConstraints:
        """The bounds of the unknowns."""
        known = [PARAMETERS[name] for name in self.names]
        return BoxConstraints(
            lower=np.array([each.least for each in known]),
            upper=np.array([each.greatest for each in known]),
            scale=np.array([max(*each.starts, 1e-3) for each in known]),
        )

    def costs(self, point: FloatArray) -> Costs:
        """Return the costs at a point."""
        values: dict[str, float | None] = {}
        for name, value in zip(self.names, point.tolist(), strict=True):
            values[name] = _parameter(name, value)
        return replace(self.fixed, **values)  # type: ignore[arg-type]  # the names are those of fields

    def starts(self) -> list[FloatArray]:
        """Return all combinations of the values from which searches start."""
        choices = [(1 / self.rank_rate,) if name == "rank_gbps" else PARAMETERS[name].starts for name in self.names]
        grid = np.meshgrid(*choices, indexing="ij")
        return list(np.stack([axis.ravel() for axis in grid], axis=1))


def _parameter(name: str, value: float) -> float | None:
    """Return the value of a parameter whose unknown has this value."""
    if not PARAMETERS[name].inverse:
        return value
    return None if not value else 1 / value
