"""Fit the cost model to the published tables, and print how far the model is from the measurements.

    .venv/bin/python evidence/published_fit.py [TABLE…]

A fit uses all schedules of a table, or only those that one library ran. The tables are in `evidence/published`. The
program takes about two minutes.
"""

import sys
from collections.abc import Iterator, Sequence

from forestcoll.base.units import size_name
from forestcoll.measurement.fit import MeasuredTimes, fit_costs
from forestcoll.simulation import Costs
from forestcoll.simulation.simulate import simulate
from published import TABLES, measured

_NAMES = ("alpha_us", "overhead_us", "launch_us", "efficiency", "nic_efficiency")


def main() -> None:
    """Print the tables."""
    for table in sys.argv[1:] or list(TABLES):
        times = measured(table)
        for name, chosen in _groups(times):
            print(f"\n{TABLES[table]}, {name}")
            _print_fit(chosen)


def _groups(times: Sequence[MeasuredTimes]) -> Iterator[tuple[str, list[MeasuredTimes]]]:
    yield "all schedules", list(times)
    forests = [each for each in times if " forestcoll " in each.name or " blink-switch " in each.name]
    others = [each for each in times if each not in forests]
    if others:
        yield "schedules that MSCCL ran", forests
        yield "schedules of the vendor's library", others
        yield "rings", [each for each in others if "-ring " in each.name]


def _print_fit(times: list[MeasuredTimes]) -> None:
    found = fit_costs(times)
    values = ", ".join(f"{name} {getattr(found.costs, name) or found.costs.efficiency:.3g}" for name in _NAMES)
    print(f"mean error {found.mean_error:.1%}, worst {found.worst_error:.1%}: {values}")
    print("| schedule | " + " | ".join(size_name(size) for size in times[0].sizes) + " |")
    for each in found.comparisons:
        measured_times = each.measured
        default = simulate(measured_times.schedule, measured_times.sizes, Costs())
        cells = [
            f"{size / second / 1e9:.3g}, {size / fitted / 1e9:.3g} ({error:+.0%}), {point.algbw:.3g}"
            for size, second, fitted, error, point in zip(
                measured_times.sizes, measured_times.seconds, each.simulated, each.errors, default, strict=True
            )
        ]
        print(f"| {measured_times.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
