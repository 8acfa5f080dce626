"""Fit the parameters of the cost model to measured times of one or more schedules.

The fit minimises the sum of the squares of log(simulated time / measured time), so all sizes count the same, and a time
that is twice too long counts as one that is half as long. A parameter that the times do not identify is not guessed: at
the solution, the derivatives of the logarithms by the parameters must be independent (`identification.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, argument, listed, member_named, plural, require_kind
from forestcoll.base.progress import SILENT, Progress
from forestcoll.measurement.fit.identification import Unidentified, not_needed, unidentified
from forestcoll.measurement.fit.least_squares import Residuals, least_squares, slopes, sum_of_squares
from forestcoll.measurement.fit.measurements import MeasuredTimes
from forestcoll.measurement.fit.parameters import DEFAULTS, FitModel, Unknowns, checked
from forestcoll.simulation import Costs
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.rates import Wires
from forestcoll.simulation.simulate import loads_of, times_of

_FEWEST_SIZES = 2

_AS_GOOD = 1e-3
"""The part by which the sum of the squares may grow without a parameter that the times do not identify."""

_EXACT = 1e-5
"""The relative error of a time that counts as none."""


@dataclass(frozen=True)
class TimeComparison:
    """The measured and the simulated times of one schedule.

    Attributes:
        measured: the measured times.
        simulated: for each size, the simulated time in seconds.
    """

    measured: MeasuredTimes
    simulated: tuple[float, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """For each size, simulated time / measured time - 1."""
        return tuple(one / other - 1 for one, other in zip(self.simulated, self.measured.seconds, strict=True))


@dataclass(frozen=True, repr=False)
class FittedCosts(Displayed):
    """The parameters that explain measured times best, with the errors that remain.

    Attributes:
        costs: the costs: fitted parameters, and the values of the others.
        fitted: the names of the fitted parameters.
        left_out: parameters that the times do not identify, each with the reason; they keep their values.
        comparisons: the simulated times next to the measured times, for each schedule.

    Example:
        >>> from forestcoll import Costs, fit_costs, generate, simulate
        >>> from forestcoll.measurement import MeasuredTimes
        >>> schedule, sizes = generate("dgx-a100:boxes=2"), (2**20, 2**24, 2**27, 2**30)
        >>> true = Costs(alpha_us=12, overhead_us=3, efficiency=0.8)
        >>> seconds = tuple(point.seconds for point in simulate(schedule, sizes, true))
        >>> found = fit_costs([MeasuredTimes("forest", schedule, sizes, seconds)])
        >>> round(found.costs.alpha_us, 2), round(found.costs.overhead_us, 2), round(found.costs.efficiency, 3)
        (12.0, 3.0, 0.8)
        >>> found.worst_error < 0.001
        True
    """

    costs: Costs
    fitted: tuple[str, ...]
    left_out: tuple[Unidentified, ...]
    comparisons: tuple[TimeComparison, ...]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self.costs, name):.4g}" for name in self.fitted)
        return f"<FittedCosts: {values}; mean error {self.mean_error:.1%}>"

    @property
    def errors(self) -> tuple[float, ...]:
        """All errors, as parts of the measured times."""
        return tuple(error for each in self.comparisons for error in each.errors)

    @property
    def worst_error(self) -> float:
        """The greatest error, as a part of the measured time."""
        return max(abs(error) for error in self.errors)

    @property
    def mean_error(self) -> float:
        """The mean of the absolute errors, as a part of the measured time."""
        return sum(abs(error) for error in self.errors) / len(self.errors)


def fit_costs(
    times: Sequence[MeasuredTimes],
    *,
    parameters: Sequence[str] | None = None,
    model: FitModel | str = FitModel.SIMULATION,
    fixed: Costs | None = None,
    progress: Progress = SILENT,
) -> FittedCosts:
    """Return the parameters of the cost model that explain measured times best.

    Args:
        times: the measured times of one or more schedules.
        parameters: the names of the parameters to fit, which are attributes of `Costs`. None for those of `model` that
            the times identify.
        model: `"simulation"`, or `"alpha-beta"` for T = alpha·sends + launch + M/(efficiency·algbw), without
            overhead.
        fixed: the values of the parameters that are not fitted; the defaults of `Costs` if None. The overhead of
            `alpha-beta` is always 0.
        progress: receives the stages.

    Returns:
        The costs, and the simulated times next to the measured ones.

    Raises:
        InputError: there are fewer than two sizes or fewer times than parameters, a name of a parameter is unknown, or
            the times do not identify a parameter that was named.

    Example:
        >>> from forestcoll import Costs, fit_costs, generate, simulate
        >>> from forestcoll.measurement import MeasuredTimes
        >>> schedule, sizes = generate("ring:nodes=4"), (2**10, 2**20, 2**30)
        >>> seconds = tuple(point.seconds for point in simulate(schedule, sizes, Costs(alpha_us=9, efficiency=0.5)))
        >>> times = [MeasuredTimes("ring", schedule, sizes, seconds)]
        >>> found = fit_costs(times, parameters=["alpha_us", "efficiency"])
        >>> round(found.costs.alpha_us, 2), round(found.costs.efficiency, 3)
        (9.0, 0.5)
    """
    chosen = member_named(FitModel, model, f"there is no model {argument(model)}")
    times = listed(times, MeasuredTimes, "times", "MeasuredTimes")
    require_kind(fixed, Costs | None, "fixed", "Costs or None")
    named = None if parameters is None else listed(parameters, str, "parameters", "the name of a parameter")
    wanted = DEFAULTS[chosen] if named is None else checked(named)
    costs = fixed or Costs()
    if chosen is FitModel.ALPHA_BETA:
        costs = Costs(**{**_values(costs), "overhead_us": 0.0})
    _check_sizes(times)
    progress.begin("preparing the schedules")
    problem = _Problem(times)
    return _fitted(problem, wanted, costs, required=parameters is not None, progress=progress)


def _values(costs: Costs) -> dict[str, float]:
    return {name: value for name, value in costs.document().items() if name != "format"}  # type: ignore[misc]


def _check_sizes(times: Sequence[MeasuredTimes]) -> None:
    sizes = {size for each in times for size in each.sizes}
    if len(sizes) < _FEWEST_SIZES:
        raise InputError(
            f"the times are of {len(sizes)} message size{'s' * (len(sizes) != 1)}, which cannot tell latency from "
            "bandwidth; measure at least 2 sizes, such as 1M and 1G"
        )


class _Problem:
    """The measured times, and how to simulate them."""

    def __init__(self, times: Sequence[MeasuredTimes]) -> None:
        self.times = tuple(times)
        self._models = [times_of(each.schedule) for each in times]
        self._measured = np.log([second for each in times for second in each.seconds])

    def simulated(self, costs: Costs) -> list[tuple[float, ...]]:
        """Return the simulated times of each schedule, in seconds."""
        found = []
        for model, each in zip(self._models, self.times, strict=True):
            timed = model(costs)
            found.append(tuple(timed.point(size).seconds for size in each.sizes))
        return found

    def residuals(self, unknowns: Unknowns) -> Residuals:
        """Return the logarithms of simulated time / measured time as a function of the unknowns."""

        def of(point: FloatArray) -> FloatArray:
            simulated = self.simulated(unknowns.costs(point))
            return np.log([second for each in simulated for second in each]) - self._measured

        return of

    def unknowns(self, names: tuple[str, ...], fixed: Costs) -> Unknowns:
        """Return the unknowns of a fit of these parameters."""
        rates = []
        for each in self.times:
            part = Wires.of(each.schedule.topology).rank_loads(loads_of(each.schedule).parts).greatest
            rates += [part * size / second * 1e-9 for size, second in zip(each.sizes, each.seconds, strict=True)]
        return Unknowns(names, fixed, max(rates))

    @property
    def count(self) -> int:
        """The number of times."""
        return len(self._measured)


@dataclass(frozen=True)
class _Fit:
    """The best values of the unknowns.

    Attributes:
        unknowns: the unknowns.
        point: their values.
        squares: the sum of the squares of the residuals.
        fault: a parameter that the times do not identify, or None.
    """

    unknowns: Unknowns
    point: FloatArray
    squares: float
    fault: Unidentified | None

    def is_as_good_as(self, other: "_Fit", count: int) -> bool:
        """Return whether this fit explains `count` times as well as another one with more parameters."""
        return self.squares <= other.squares * (1 + _AS_GOOD) + count * _EXACT**2


def _fitted(
    problem: _Problem, wanted: tuple[str, ...], fixed: Costs, *, required: bool, progress: Progress
) -> FittedCosts:
    """Fit the parameters, and leave out those that the times do not identify, unless they are `required`."""
    left_out: list[Unidentified] = []
    names = wanted
    while (fault := _too_many(problem.count, names)) is not None:
        if required:
            raise _refusal(fault)
        left_out.append(fault)
        names = names[:-1]
    found = _fit(problem, names, fixed, progress)
    while found.fault is not None:
        if required:
            raise _refusal(found.fault)
        if len(found.unknowns.names) == 1:
            raise InputError("the times identify no parameter of the model; measure more sizes")
        without, found = _without_one(problem, found, found.fault, fixed, progress)
        left_out.append(without)
    costs = found.unknowns.costs(found.point)
    pairs = zip(problem.times, problem.simulated(costs), strict=True)
    return FittedCosts(costs, found.unknowns.names, tuple(left_out), tuple(TimeComparison(*pair) for pair in pairs))


def _refusal(fault: Unidentified) -> InputError:
    return InputError(f"{fault.name}: {fault.reason}; {fault.fix}")


def _fit(problem: _Problem, names: tuple[str, ...], fixed: Costs, progress: Progress) -> _Fit:
    progress.begin(f"fitting {plural(len(names), 'parameter')}")
    unknowns = problem.unknowns(names, fixed)
    residuals = problem.residuals(unknowns)
    point = least_squares(residuals, unknowns.starts(), unknowns.box)
    fault = unidentified(names, slopes(residuals, point, unknowns.box), point)
    return _Fit(unknowns, point, sum_of_squares(residuals(point)), fault)


def _without_one(
    problem: _Problem, found: _Fit, fault: Unidentified, fixed: Costs, progress: Progress
) -> tuple[Unidentified, _Fit]:
    """Return the least important parameter without which the times are explained as well, and the fit without it.

    The derivatives alone do not tell which parameter this is: times are maxima, and where two of their terms are equal,
    rounding errors decide which parameter has an influence. If every fit is worse, the derivatives decide.
    """
    names = found.unknowns.names
    for name in reversed(names):
        other = _fit(problem, tuple(each for each in names if each != name), fixed, progress)
        if other.is_as_good_as(found, problem.count):
            return fault if name == fault.name else not_needed(name), other
    return fault, _fit(problem, tuple(name for name in names if name != fault.name), fixed, progress)


def _too_many(count: int, names: tuple[str, ...]) -> Unidentified | None:
    if count >= len(names):
        return None
    reason = f"there are {plural(count, 'time')} for {len(names)} parameters"
    return Unidentified(names[-1], reason, "measure more sizes, or fit fewer parameters")
