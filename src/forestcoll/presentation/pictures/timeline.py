"""A picture of a training iteration: two streams over time, as in Figure 16 of the direct-connect paper."""

from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.design.workloads.iteration import Iteration, Kind
from forestcoll.presentation.pictures.canvas import check_name, label, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    Kind.FORWARD: "#4c78a8",
    Kind.BACKWARD: "#72b7b2",
    Kind.ALLREDUCE: "#f58518",
    Kind.ALL_TO_ALL: "#e45756",
}


def draw_iteration(iteration: Iteration, title: str, path: Path) -> None:
    """Write a picture of the timeline to a .png, .svg or .pdf file.

    Raises:
        InputError: matplotlib is not installed, the file name has another ending, or the file cannot be written.
    """
    check_name(path)
    figure = new_figure(11, 2.8)
    axes = figure.subplots()
    _fill(axes, iteration)
    axes.set_title(f"{label(title)}: {iteration.total_us / 1000:.4g} ms, buckets of {iteration.bucket_bytes:,} bytes")
    save(figure, path)


def _fill(axes: "Axes", iteration: Iteration) -> None:
    for kind in Kind:
        spans = [
            (each.begin_us / 1000, (each.end_us - each.begin_us) / 1000)
            for each in iteration.intervals
            if each.kind is kind
        ]
        if spans:
            axes.broken_barh(
                spans, (1.1 if kind.is_computing else 0.1, 0.8), facecolors=_COLOURS[kind], label=kind.value
            )
    axes.set_yticks([0.5, 1.5], ["communication", "computation"])
    axes.set_ylim(0, 2.1)
    axes.set_xlim(0, iteration.total_us / 1000)
    axes.set_xlabel("time (ms)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.28), ncols=4, frameon=False)
