"""Figures 10 and 11 of *ForestColl*: measured bandwidths by message size next to the simulator, fitted to them.

The cost model is fitted for each implementation: MSCCL, which ran the forests and Blink+Switch, and the library of the
vendor. The measured points are those of Tables 2 and 3 of the first version of the paper.
"""

from collections.abc import Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exhibits.exhibit import Result, Settings, Verdict
from forestcoll.base.units import size_name
from forestcoll.measurement.fit import FittedCosts, MeasuredTimes, fit_costs
from forestcoll.simulation import Costs
from forestcoll.simulation.simulate import simulate
from published import SIZES, TABLES, Curve, curves, measured

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")
_CELLS = """Each cell has the measured algbw in GB/s, the simulated algbw with fitted costs and its error, and the
simulated algbw with the default costs."""
RANGE = tuple(2**power for power in range(20, 31))
_COLOURS = {"ForestColl": "#1b7837", "Blink+Switch": "#762a83", "TACCL": "#8c510a"}
_OTHERS = {"ring": "#2166ac", "tree": "#e08214"}
_FITTED = ("alpha_us", "overhead_us", "launch_us", "efficiency", "nic_efficiency")


def made_mi250(_settings: Settings) -> Result:
    """Return Figure 10: two MI250 boxes, with 16 and with 8 GPUs of each."""
    return _made(["mi250", "mi250-8-gpus"])


def made_a100(_settings: Settings) -> Result:
    """Return Figure 11: two DGX A100."""
    return _made(["a100"])


def _made(tables: Sequence[str]) -> Result:
    figure = Figure(figsize=(12.5, 4.1 * len(tables)), layout="constrained")
    rows = figure.subplots(len(tables), 3, squeeze=False)
    lines: list[str] = [_CELLS, ""]
    errors: list[str] = []
    for name, panels in zip(tables, rows, strict=True):
        fits = {name: fit_costs(times) for name, times in implementations(name)}
        lines += [f"{TABLES[name]}:", "", *_fit_lines(fits), "", *_point_lines(name, fits), ""]
        errors += [f"{fit.mean_error:.0%} ({made}, {TABLES[name]})" for made, fit in fits.items()]
        for axes, collective in zip(panels, COLLECTIVES, strict=True):
            _draw(axes, name, collective, fits)
    handles = {label: line for row in rows for axes in row for line, label in zip(*axes.get_legend_handles_labels())}  # noqa: B905 (of equal length)
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize=9, frameon=False)
    summary = (
        "The simulator replaces the machines. With costs that are fitted to the measurements of each implementation, "
        f"the mean error is {', '.join(errors)}. Curves without a schedule here are printed only."
    )
    return Result(Verdict.DIFFERS, summary, lines, figure)


def implementations(table: str) -> Iterator[tuple[str, list[MeasuredTimes]]]:
    """Yield the measured times of each implementation in a table."""
    times = measured(table)
    msccl = [each for each in times if " forestcoll " in each.name or " blink-switch " in each.name]
    yield "MSCCL", msccl
    others = [each for each in times if each not in msccl]
    if others:
        yield "NCCL" if table == "a100" else "RCCL", others


def _fit_lines(fits: dict[str, FittedCosts]) -> list[str]:
    lines = ["| implementation | " + " | ".join(_FITTED) + " | mean error | worst error |"]
    lines.append("| --- |" + " ---: |" * (len(_FITTED) + 2))
    for name, fit in fits.items():
        values = [f"{value:.3g}" if (value := getattr(fit.costs, each)) is not None else "" for each in _FITTED]
        lines.append(f"| {name} | {' | '.join(values)} | {fit.mean_error:.1%} | {fit.worst_error:.1%} |")
    return lines


def _point_lines(table: str, fits: dict[str, FittedCosts]) -> list[str]:
    names = " | ".join(SIZES)
    lines = [f"| collective | schedule | {names} |", "| --- | --- |" + " ---: |" * len(SIZES)]
    for curve in curves_of(table):
        if not curve.algorithm:
            cells = [f"{algbw:g} (no schedule)" for algbw in curve.algbw.values()]
        else:
            times, fit = _fit_of(curve, fits)
            points = zip(curve.algbw.items(), _simulated(times, tuple(curve.algbw), fit.costs), strict=True)
            default = _simulated(times, tuple(curve.algbw), Costs())
            cells = [
                f"{algbw:g}: {fitted:.3g} ({fitted / algbw - 1:+.0%}), {plain:.3g}"
                for ((_, algbw), fitted), plain in zip(points, default, strict=True)
            ]
        lines.append(f"| {curve.collective} | {curve.implementation} | {' | '.join(cells)} |")
    return lines


def curves_of(table: str) -> list[Curve]:
    """Return the published curves of a testbed."""
    return [each for each in curves() if each.topology == SPECS[table]]


SPECS = {"a100": "dgx-a100:boxes=2", "mi250": "mi250:boxes=2", "mi250-8-gpus": "mi250:boxes=2,gpus=8"}
"""The network of each testbed."""


class FittedSchedules:
    """The schedules of a testbed, with costs that are fitted to its measurements."""

    def __init__(self, table: str) -> None:
        self._fits = {name: fit_costs(times) for name, times in implementations(table)}

    def simulated(self, curve: Curve, sizes: Sequence[int]) -> list[float]:
        """Return the simulated algbw of the schedule of a curve for each size."""
        times, fit = _fit_of(curve, self._fits)
        return _simulated(times, sizes, fit.costs)


def _fit_of(curve: Curve, fits: dict[str, FittedCosts]) -> tuple[MeasuredTimes, FittedCosts]:
    """Return the measured times of a curve and the fit that they are part of."""
    name = f"{curve.topology} {curve.algorithm} {curve.collective}"
    for fit in fits.values():
        for each in fit.comparisons:
            if each.measured.name == name:
                return each.measured, fit
    raise KeyError(name)


def _simulated(times: MeasuredTimes, sizes: Sequence[int], costs: Costs) -> list[float]:
    return [point.algbw for point in simulate(times.schedule, sizes, costs)]


def _draw(axes: Axes, table: str, collective: str, fits: dict[str, FittedCosts]) -> None:
    bound = 0.0
    for curve in (each for each in curves_of(table) if each.collective == collective):
        colour = _COLOURS.get(curve.implementation) or _OTHERS[curve.implementation.rsplit(" ", 1)[-1]]
        name = curve.implementation
        axes.plot(list(curve.algbw), list(curve.algbw.values()), "o", color=colour, label=f"{name}, measured")
        if curve.algorithm:
            times, fit = _fit_of(curve, fits)
            axes.plot(RANGE, _simulated(times, RANGE, fit.costs), color=colour, label=f"{name}, simulated")
            bound = max(bound, float(times.schedule.algbw or 0))
    axes.axhline(bound, color="0.4", linestyle=":", linewidth=1, label="optimum")
    axes.set_xscale("log", base=2)
    axes.set_xticks([2**power for power in (20, 22, 24, 26, 28, 30)])
    axes.set_xticklabels([size_name(2**power) for power in (20, 22, 24, 26, 28, 30)])
    axes.set_ylim(0, 1.06 * bound)
    axes.set_title(f"{TABLES[table]}: {collective}", fontsize=10)
    axes.set_ylabel("algbw (GB/s)")
    axes.grid(alpha=0.3)
