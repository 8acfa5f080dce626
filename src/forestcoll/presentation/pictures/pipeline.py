"""A plot of how a pipelined broadcast approaches the bound as the message grows (Theorem 8)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forestcoll.presentation.pictures.canvas import check_name, label, new_figure, save


class SizePoint(NamedTuple):
    """A message size in bytes, and the times of two plans as multiples of the bound.

    Attributes:
        size: the message size in bytes.
        best: the time of the best plan.
        root_rule: the time of the plan by the square-root rule.
    """

    size: int
    best: float
    root_rule: float


def draw_pipeline(title: Sequence[str], points: Sequence[SizePoint], path: Path) -> None:
    """Draw makespans as multiples of the lower bound against the message size, under the lines of `title`.

    Raises:
        InputError: matplotlib is not installed, or the file cannot be written.
    """
    check_name(path)
    figure = new_figure(7, 4.5)
    axes = figure.add_subplot()
    sizes = [point.size for point in points]
    axes.plot(sizes, [point.best for point in points], marker="o", label="best number of packets")
    axes.plot(sizes, [point.root_rule for point in points], marker="s", label="as many packets as bytes in each")
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--", label="lower bound")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("size of the message in bytes")
    axes.set_ylabel("time as a multiple of the bound")
    axes.set_title("\n".join(label(line) for line in title), fontsize=10)
    axes.grid(linewidth=0.3)
    axes.legend(fontsize=8)
    save(figure, path)
