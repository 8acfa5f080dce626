"""Figure 2 of *ForestColl*: how often the data of a GPU crosses InfiniBand in a ring and in the forest."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from exhibits.exhibit import Result, Settings, table, verdict_of
from forestcoll.comparison import compare
from forestcoll.schedule.trees.expansion import expanded, tree_images
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.rates import Wires
from forestcoll.simulation.simulate import loads_of
from forestcoll.topology import Topology

PRINTED = {"nccl-ring": ("ring (NCCL)", "213.33"), "forestcoll": ("forest (forestcoll)", "346.67")}
"""The name and the printed algbw of each schedule, in GB/s."""

_RING, _FOREST, _NIC = "#b2182b", "#1b7837", "#e08214"
_ROOT = 3


def made(_settings: Settings) -> Result:
    """Return the picture and the table."""
    found = compare("dgx-a100:boxes=2", baselines=["nccl-ring"])
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    rows = []
    for axes, (name, (title, printed)) in zip(figure.subplots(1, 2), PRINTED.items(), strict=True):
        row = found.row(name)
        if not isinstance(row.schedule, TreeSchedule):
            raise TypeError(name)
        entering = _entering(row.schedule)
        _draw(axes, row.schedule, f"{title}: {entering:.4g} M enter each box, {float(row.algbw):.4g} GB/s")
        rows.append((title, f"{entering:.4g}", row.algbw, f"{float(row.algbw):.2f}", printed))
    heads = ["schedule", "data into each box, as a part of M", "exact algbw (GB/s)", "here", "printed"]
    same = all(here == printed for *_, here, printed in rows)
    summary = (
        f"The ring brings {rows[0][1]} M into each box, and the forest {rows[1][1]} M; both rates are those of the "
        "paper."
    )
    return Result(verdict_of(same=same), summary, table(heads, rows), figure)


def _entering(schedule: TreeSchedule) -> float:
    """Return the part of M that enters the first box."""
    topology = schedule.topology
    wires, parts = Wires.of(topology), loads_of(schedule).parts
    into = [topology.nodes[node].attributes.get("box") == 0 for node in wires.targets.tolist()]
    return float(parts[wires.are_nics & np.array(into)].sum())


def _draw(axes: Axes, schedule: TreeSchedule, title: str) -> None:
    """Draw the boxes, and the tree with the greatest share from one GPU."""
    topology = schedule.topology
    places = _places(topology)
    trees = [each for each in tree_images(expanded(schedule), 0) if each.root == topology.compute[_ROOT]]
    tree = max(trees, key=lambda each: (each.share, -len(each.paths)))
    for box in range(2):
        axes.add_patch(_rectangle(box))
        axes.text(2.3 + 5.4 * box, 4.55, f"box {box}", ha="center", fontsize=9, color="0.35")
    for number, place in places.items():
        node = topology.nodes[number]
        marker, area, fill = ("o", 330, "#d0d7e2") if node.is_compute else ("s", 520, "#eeeeee")
        if number == topology.compute[_ROOT]:
            fill = "#ffd966"
        axes.scatter(*place, s=area, marker=marker, color=fill, edgecolors="0.3", zorder=3)
        label = str(node.id).rsplit("/", 1)[-1].removeprefix("gpu").replace("ib", "IB")
        axes.text(*place, label, ha="center", va="center", fontsize=8, zorder=4)
    colour = _FOREST if "forest" in title else _RING
    for path in tree.paths:
        crosses = any(topology.nodes[node].id == "ib" for node in path)
        shown = [places[node] for node in path if topology.nodes[node].is_compute or crosses]
        arrow = {
            "arrowstyle": "-|>",
            "color": _NIC if crosses else colour,
            "lw": 2.2 if crosses else 1.3,
            "connectionstyle": f"arc3,rad={0.0 if crosses else 0.25}",
            "shrinkA": 9,
            "shrinkB": 9,
        }
        for one, other in pairwise(shown):
            axes.annotate("", other, one, arrowprops=arrow)
    axes.set_title(title, fontsize=10)
    axes.set_xlim(-0.4, 10.4)
    axes.set_ylim(-0.7, 5.0)
    axes.set_aspect("equal")
    axes.axis("off")


def _rectangle(box: int) -> FancyBboxPatch:
    corner = 0.2 + 5.4 * box, -0.3
    return FancyBboxPatch(corner, 4.2, 4.6, boxstyle="round,pad=0.15", fc="#fafafa", ec="0.7", zorder=0)


def _places(topology: Topology) -> dict[int, tuple[float, float]]:
    """Return a place for each GPU and for the InfiniBand switch: two columns of four GPUs in each box."""
    places: dict[int, tuple[float, float]] = {topology.number("ib"): (5.0, 2.0)}
    for number, node in enumerate(topology.compute):
        box, gpu = divmod(number, 8)
        places[node] = (0.9 + 5.4 * box + 2.8 * (gpu // 4), 3.7 - 1.15 * (gpu % 4))
    return places
