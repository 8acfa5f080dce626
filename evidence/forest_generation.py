"""Figure 14 of *ForestColl*: the time to generate an allgather, and its algbw, for all algorithms up to 1,024 GPUs.

Each schedule is made once, in this process, and its time is CPU time. If a schedule takes more than the limit, the same
algorithm is not tried on a larger network. HiGHS stops after a number of nodes of its search tree, not after a time.
Results are stored in forest-figure-14.json, so a run that was interrupted continues; without this file everything is
measured again.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exhibits.exhibit import Result, Settings, Verdict
from forestcoll.algorithms.baseline import baselines
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.demand.collective import Collective
from forestcoll.simulation.simulate import loads_of
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import solve
from forestcoll.topology.registry import build_topology

SIZES = (16, 32, 64, 128, 256, 512, 1024)
PER_BOX = {"dgx-a100": 8, "mi250": 16}
NAMES = {"dgx-a100": "A100", "mi250": "MI250"}
LIMIT = 60.0
"""CPU seconds of a schedule after which the algorithm is not tried on a larger network, where it may take 10 times."""

PRINTED = {"dgx-a100": {512: 240.0, 1024: 2190.0}, "mi250": {1024: 2262.0}}
"""Seconds of ForestColl on 128 cores: Figure 14's text and Table 3 of the paper."""
PRINTED_LIMITS = {"dgx-a100": {"TACCL": (32, 1e4)}, "mi250": {"TACCL": (64, 3e4)}}
"""The networks at which TACCL reaches its time limit, in GPUs and seconds."""

OWN = "forestcoll"
PROGRAMS = {"taccl": "TACCL", "te-ccl": "TE-CCL"}
"""The algorithms whose schedules HiGHS finds, and their names in the paper."""
Timing = str | list[Any]
"""CPU seconds, algbw in GB/s, and how HiGHS ended; or why there is no schedule."""
Results = dict[str, dict[str, dict[str, Timing]]]
"""By machine, algorithm and number of GPUs."""


def made(settings: Settings) -> Result:
    """Return the picture and the tables."""
    store, largest = settings.folder / "forest-figure-14.json", settings.largest
    results: Results = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    for machine in PER_BOX:
        for name in (OWN, *(each.name for each in baselines() if Collective.ALLGATHER in each.collectives)):
            _measure(results, machine, name, largest, store)
    figure = Figure(figsize=(12.5, 8.4), layout="constrained")
    grid, lines = figure.subplots(2, 2), []
    for column, machine in enumerate(PER_BOX):
        _draw_times(grid[0][column], machine, results[machine])
        _draw_algbw(grid[1][column], machine, results[machine])
        lines += [*_table(machine, results[machine], largest), ""]
    figure.legend(*grid[1][1].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
    return Result(Verdict.DIFFERS, _summary(results), lines, figure)


def _summary(results: Results) -> str:
    parts = []
    for machine, printed in PRINTED.items():
        gpus, seconds, _ = _series(results[machine][OWN])[-1]
        known = f" (printed: {printed[gpus]:.0f} s on 128 cores)" if gpus in printed else ""
        parts.append(f"{seconds:.2g} s of CPU time on one core for {gpus} GPUs on {NAMES[machine]}{known}")
    gains = " and ".join(_multitree(machine, results) for machine in PRINTED)
    programs = " and ".join(_program(name, results) for name in PROGRAMS)
    return (
        f"The search and the forest take {' and '.join(parts)}. The algbw is the optimum, here and in the paper. No "
        f"reading of MultiTree meets both printed claims about it: {gains}. HiGHS, which is stopped after a number of "
        f"nodes of its search tree instead of a time, finds {programs}. "
        "SyCCL is not made: its paper was not available."
    )


def _multitree(machine: str, results: Results) -> str:
    """Return how much more the optimum is than each reading of MultiTree, at the most GPUs that all readings have."""
    readings = [name for name in results[machine] if name.startswith("multitree")]
    gpus = min(_series(results[machine][name])[-1][0] for name in readings)
    algbw = {name: {size: each for size, _, each in _series(results[machine][name])}[gpus] for name in (OWN, *readings)}
    gains = ", ".join(f"{algbw[OWN] / algbw[name] - 1:.0%}" for name in readings)
    return f"on {gpus} GPUs of {NAMES[machine]} the optimum is {gains} more (printed: {_MULTITREE[machine]})"


def _program(name: str, results: Results) -> str:
    """Return up to how many GPUs HiGHS finds a schedule, and its part of the optimum."""
    parts = []
    for machine, title in NAMES.items():
        gpus, seconds, algbw = _series(results[machine][name])[-1]
        best = {size: each for size, _, each in _series(results[machine][OWN])}[gpus]
        parts.append(f"{gpus} GPUs of {title} ({algbw / best:.0%} of the optimum, {seconds:.0f} s)")
    return f"a schedule of {PROGRAMS[name]} for up to {' and '.join(parts)}"


_MULTITREE = {"dgx-a100": "equal for large networks", "mi250": "50 % and more"}
"""What the paper prints about MultiTree on each machine."""


def _measure(results: Results, machine: str, name: str, largest: int, store: Path) -> None:
    """Make the schedules of an algorithm on growing networks, and store each result."""
    rows = results.setdefault(machine, {}).setdefault(name, {})
    last = 0.0
    for gpus in SIZES:
        if gpus > largest or (gpus % PER_BOX[machine]) or last > LIMIT:
            continue
        if str(gpus) not in rows:
            rows[str(gpus)] = _made(machine, name, gpus)
            store.write_text(json.dumps(results, indent=1), encoding="utf-8")
        row = rows[str(gpus)]
        last = 0.0 if isinstance(row, str) else row[0]


def _made(machine: str, name: str, gpus: int) -> Timing:
    """Return the CPU seconds and the algbw of a schedule, or why there is none."""
    topology = build_topology(f"{machine}:boxes={gpus // PER_BOX[machine]}")
    begin = time.process_time()
    problem = problem_of(topology, Collective.ALLGATHER)
    best = solve(topology, problem.demand)
    if name == OWN:
        own = schedule_for(best)
        return [time.process_time() - begin, float(own.algbw)]
    (baseline,) = [each for each in baselines() if each.name == name]
    begin = time.process_time()
    try:
        found = baseline.result(problem)
    except DoesNotApplyError as error:
        return str(error)
    seconds = time.process_time() - begin
    if found.algbw is None:
        return [seconds, 1 / float(loads_of(found.schedule).seconds.max()) / 1e9]
    return [seconds, float(found.algbw), found.note] if name in PROGRAMS else [seconds, float(found.algbw)]


def _series(rows: Mapping[str, Timing]) -> list[tuple[int, float, float]]:
    """Return the GPUs, seconds and algbw of the schedules that were made."""
    return [(int(gpus), row[0], row[1]) for gpus, row in rows.items() if not isinstance(row, str)]


_DRAWN = {
    OWN: "#1b7837",
    "nccl-ring": "#2166ac",
    "rccl-ring": "#e08214",
    "two-level": "#b2182b",
    "multitree": "#762a83",
    "multitree-remaining": "#35978f",
    "multitree-bandwidth": "#8c510a",
    "multitree-source": "#878787",
    "tacos": "#dfc27d",
    "taccl": "#c51b7d",
    "te-ccl": "#4d4d4d",
}
"""The algorithms in the picture, and their colours. The tables have all algorithms."""


def _draw_times(axes: Axes, machine: str, results: Mapping[str, Mapping[str, Timing]]) -> None:
    for name, colour in _DRAWN.items():
        series = _series(results[name])
        axes.plot([each[0] for each in series], [max(each[1], 1e-3) for each in series], "o-", color=colour, ms=4)
    printed = PRINTED[machine]
    axes.plot(list(printed), list(printed.values()), "k*", markersize=9)
    _note(axes, "ForestColl, printed", (max(printed), max(printed.values())), (-100, -3))
    for name, (gpus, seconds) in PRINTED_LIMITS[machine].items():
        axes.plot([gpus], [seconds], "kx")
        _note(axes, f"{name}: time limit", (gpus, seconds), (6, -3))
    axes.set_yscale("log")
    axes.set_ylabel("time to generate (s)")
    _frame(axes, f"{NAMES[machine]}: time")


def _note(axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float]) -> None:
    axes.annotate(text, place, offset, textcoords="offset points", fontsize=8)


def _draw_algbw(axes: Axes, machine: str, results: Mapping[str, Mapping[str, Timing]]) -> None:
    for name, colour in _DRAWN.items():
        series = _series(results[name])
        if not series:
            continue
        width = 2.6 if name == OWN else 1.2
        sizes, algbw = [each[0] for each in series], [each[2] for each in series]
        axes.plot(sizes, algbw, "o-", color=colour, ms=4, lw=width, label=name)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("algbw (GB/s)")
    _frame(axes, f"{NAMES[machine]}: algbw of the schedule")


def _frame(axes: Axes, title: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIZES)
    axes.set_xticklabels([str(size) for size in SIZES])
    axes.set_xlabel("GPUs")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)


def _table(machine: str, results: Mapping[str, Mapping[str, Timing]], largest: int) -> list[str]:
    sizes = [size for size in SIZES if size <= largest]
    limit = f"an algorithm that takes more than {LIMIT:.0f} s is not tried on larger networks"
    lines = [f"{NAMES[machine]}: CPU seconds, and algbw in GB/s; {limit}", ""]
    lines += [f"| algorithm | {' | '.join(map(str, sizes))} |", "| --- |" + " --- |" * len(sizes)]
    for name, rows in results.items():
        cells = [_cell(rows.get(str(size))) for size in sizes]
        if any(cells):
            lines.append(f"| {name} | {' | '.join(cells)} |")
    printed = [f"{PRINTED[machine][size]:.0f} s" if size in PRINTED[machine] else "" for size in sizes]
    lines.append(f"| ForestColl, printed (128 cores) | {' | '.join(printed)} |")
    reasons: dict[tuple[str, str], str] = {}
    for name, rows in results.items():
        for gpus, row in rows.items():
            if isinstance(row, str):
                reasons.setdefault((name, row), f"- {name}, {gpus} GPUs: {row}.")
            elif len(row) > 2:
                reasons[name, gpus] = f"- {name}, {gpus} GPUs: {row[2]}."
    return [*lines, "", *reasons.values()]


def _cell(row: Timing | None) -> str:
    return "" if row is None or isinstance(row, str) else f"{row[0]:.2g} s, {row[1]:.1f}"
