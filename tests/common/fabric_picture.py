"""A picture of the results of `fabric.py`: which part of the bound each method reaches."""

from collections.abc import Sequence
from pathlib import Path

from fabric_table import Result

_COLOURS = {
    "forestcoll": "#1b7837",
    "two-level": "#5aae61",
    "nic-rings": "#2166ac",
    "MPICH": "#e08214",
    "gloo": "#b2182b",
}


def draw(results: Sequence[Result], path: Path) -> None:
    """Draw a bar for each figure that has a bound, from its least to its greatest time as a line on it."""
    from matplotlib.figure import Figure

    bounded = [each for each in results if each.share is not None]
    keys = list(dict.fromkeys(each.key for each in bounded))
    if not keys:
        return
    figure = Figure(figsize=(max(6.0, 1.9 * len(keys)), 4.2), layout="constrained")
    axes = figure.add_subplot()
    labelled: set[str] = set()
    for place, key in enumerate(keys):
        bars = sorted((each for each in bounded if each.key == key), key=lambda each: list(_COLOURS).index(each.method))
        width = 0.8 / len(_COLOURS)
        for number, each in enumerate(bars):
            left = place + (number - (len(bars) - 1) / 2) * width
            label = each.method if each.method not in labelled else None
            labelled.add(each.method)
            ideal, share = each.size / (each.bound or 1), each.share or 0.0
            spread = [[share - ideal / max(each.seconds)], [ideal / min(each.seconds) - share]]
            axes.bar(left, share, width * 0.92, color=_COLOURS[each.method], label=label, yerr=spread, capsize=2)
            inside = share > 0.12
            at, colour = (0.02, "white") if inside else (share + 0.02, "black")
            axes.text(left, at, f"{share:.0%}", ha="center", va="bottom", rotation=90, color=colour, fontsize=8)
    axes.axhline(1, color="black", linewidth=1, linestyle="--")
    axes.text(len(keys) - 0.5, 1.01, "proven bound", ha="right", va="bottom", fontsize=8)
    axes.set_xticks(
        range(len(keys)), [f"{name}\n{what}\n{round(size / 2**20)} MiB" for name, what, size in keys], fontsize=8
    )
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
    axes.set_ylabel("share of the bound, median")
    axes.set_ylim(0, 1.15)
    axes.legend(ncols=5, loc="upper left", fontsize=8, frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path)
