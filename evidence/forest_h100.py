"""Figure 12 of *ForestColl*: 16 DGX H100 boxes, and an allgather on 1 to 16 boxes, by the simulator.

The paper prints only how much faster ForestColl is at 1 GB. Its kernels for these experiments use MSCCL++, which no
table measures, so the simulator has its default costs and not those of a fit.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from exhibits.exhibit import Result, Settings, Verdict
from forest_curves import RANGE
from forestcoll.base.units import size_name
from forestcoll.comparison import Comparison, compare
from forestcoll.simulation import Costs
from forestcoll.simulation.simulate import simulate

PRINTED = {"allgather": 0.32, "reduce-scatter": 0.14, "allreduce": 0.25}
"""How much more algbw ForestColl reaches at 1 GB than NCCL, on 16 boxes."""

BOXES = (1, 2, 4, 8, 16)
_STYLES = {
    "forestcoll": ("#1b7837", "forestcoll"),
    "nccl-ring": ("#2166ac", "NCCL ring"),
    "nccl-tree": ("#e08214", "NCCL tree"),
    "nvls-tree": ("#8c510a", "NVLSTree"),
}


def made(_settings: Settings) -> Result:
    """Return the picture and the tables."""
    figure = Figure(figsize=(12.5, 8.2), layout="constrained")
    grid = figure.add_gridspec(2, 6)
    lines = [
        "| collective | fastest of NCCL | gain at 1 GiB here | without overhead | printed | gain for large data |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for place, collective in enumerate(PRINTED):
        axes = figure.add_subplot(grid[0, 2 * place : 2 * place + 2])
        spec = f"dgx-h100:boxes=16{',nvls=true' if collective == 'allreduce' else ''}"
        names = ["nccl-ring", "nccl-tree", "nvls-tree"] if collective == "allreduce" else ["nccl-ring"]
        found = compare(spec, collective, baselines=names, sizes=RANGE)
        _draw(axes, found, f"16 boxes: {collective}")
        lines.append(_line(found, collective))
    panel = figure.add_subplot(grid[1, :3]), figure.add_subplot(grid[1, 3:])
    boxes = [compare(f"dgx-h100:boxes={count}", baselines=["nccl-ring"], sizes=RANGE) for count in BOXES]
    for number, (count, found) in enumerate(zip(BOXES, boxes, strict=True)):
        shade = 0.3 + 0.7 * number / (len(BOXES) - 1)
        for algorithm in ("forestcoll", "nccl-ring"):
            colour, label = _STYLES[algorithm]
            points = found.row(algorithm).times
            name = f"{label.removeprefix('NCCL ')} {count}"
            panel[0].plot(RANGE, [point.algbw for point in points], color=colour, alpha=shade, label=name)
    _frame(panel[0], "Allgather on 1 to 16 boxes: forestcoll and NCCL ring, each with the number of boxes")
    _gains(panel[1], boxes)
    lines += ["", "| boxes | forestcoll at 1 GiB (GB/s) | NCCL ring | gain | gain for large data |"]
    lines.append("| ---: | ---: | ---: | ---: | ---: |")
    lines += [_box_line(count, found) for count, found in zip(BOXES, boxes, strict=True)]
    gains = ", ".join(
        f"{cells[3].strip()} (printed: {cells[5].strip()})" for cells in (line.split("|") for line in lines[2:5])
    )
    summary = (
        f"The simulated gains at 1 GiB are {gains}. They depend on the costs of a send, of which a ring has many in "
        "sequence. The default costs are not fitted, because the paper prints only the three gains."
    )
    return Result(Verdict.DIFFERS, summary, lines, figure)


def _fastest(found: Comparison, place: int = -1) -> str:
    names = [row.name for row in found.rows if row.name != "forestcoll"]
    return max(names, key=lambda name: found.row(name).times[place].algbw)


def _line(found: Comparison, collective: str) -> str:
    name = _fastest(found)
    here = found.row("forestcoll").times[-1].algbw / found.row(name).times[-1].algbw - 1
    large = float(found.row("forestcoll").algbw / max(row.algbw for row in found.rows if row.name != "forestcoll")) - 1
    schedules = [row.schedule for row in (found.row("forestcoll"), found.row(name)) if row.schedule is not None]
    one, other = (simulate(each, [2**30], Costs(overhead_us=0))[0].algbw for each in schedules)
    gains = f"{here:+.1%} | {one / other - 1:+.1%} | {PRINTED[collective]:+.0%} | {large:+.1%}"
    return f"| {collective} | {_STYLES[name][1]} | {gains} |"


def _box_line(count: int, found: Comparison) -> str:
    ours, rings = found.row("forestcoll"), found.row("nccl-ring")
    one, other, large = ours.times[-1].algbw, rings.times[-1].algbw, float(ours.algbw / rings.algbw)
    return f"| {count} | {one:.4g} | {other:.4g} | {one / other - 1:+.1%} | {large - 1:+.1%} |"


def _draw(axes: Axes, found: Comparison, title: str) -> None:
    for row in found.rows:
        colour, label = _STYLES[row.name]
        axes.plot(RANGE, [point.algbw for point in row.times], color=colour, label=label)
    axes.axhline(float(found.optimal_algbw), color="0.4", linestyle=":", linewidth=1, label="optimum")
    _frame(axes, title)
    axes.set_ylim(0, 1.35 * float(found.optimal_algbw))
    axes.legend(fontsize=8, frameon=False, ncols=2, loc="upper left")


def _gains(axes: Axes, boxes: Sequence[Comparison]) -> None:
    """Draw how much more forestcoll reaches than rings, by the number of boxes."""
    for size, marker in ((2**24, "o-"), (2**27, "s-"), (2**30, "^-")):
        place = RANGE.index(size)
        gains = [
            100 * (each.row("forestcoll").times[place].algbw / each.row("nccl-ring").times[place].algbw - 1)
            for each in boxes
        ]
        axes.plot(BOXES, gains, marker, label=f"at {size_name(size)}")
    large = [100 * (float(each.row("forestcoll").algbw / each.row("nccl-ring").algbw) - 1) for each in boxes]
    axes.plot(BOXES, large, "k:", label="for large data")
    axes.plot([16], [100 * PRINTED["allgather"]], "r*", markersize=11, label="printed, 1 GB")
    axes.set_xscale("log", base=2)
    axes.set_yscale("symlog", linthresh=10)
    axes.set_ylim(-2, 20000)
    axes.set_yticks([0, 5, 10, 20, 50, 100, 200, 500, 1000])
    axes.set_yticklabels(["0", "5", "10", "20", "50", "100", "200", "500", "1000"])
    axes.set_xticks(BOXES)
    axes.set_xticklabels([str(count) for count in BOXES])
    axes.set_xlabel("boxes")
    axes.set_ylabel("gain over the ring (%)")
    axes.set_title("Gain over the ring, allgather", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, frameon=False, ncols=3, loc="upper left")


def _frame(axes: Axes, title: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks([2**power for power in (20, 22, 24, 26, 28, 30)])
    axes.set_xticklabels([size_name(2**power) for power in (20, 22, 24, 26, 28, 30)])
    axes.set_ylim(bottom=0)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel("algbw (GB/s)")
    axes.grid(alpha=0.3)
    if "1 to 16" in title:
        axes.set_ylim(0, 720)
        axes.legend(fontsize=8, frameon=False, ncols=5, loc="upper left", columnspacing=1, handlelength=1.2)
