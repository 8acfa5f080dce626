"""From trees of logical arcs to trees of physical paths: each copy takes one path from the stock of each arc."""

import numpy as np
import numpy.typing as npt

from forestcoll.core.interface import ReportProgress
from forestcoll.core.reference.network import Arc, Problem
from forestcoll.core.reference.packing import TreeBatches
from forestcoll.core.reference.switches import LogicalNetwork, Path, Stock, take


def route_trees(
    problem: Problem,  # noqa: ARG001 (part of the interface)
    logical: LogicalNetwork,
    batches: TreeBatches,
    progress: ReportProgress = None,
) -> tuple[list[int], list[int], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """See `Core.route_trees`."""
    stocks = {arc: list(stock) for arc, stock in logical.stocks.items()}
    numbers: dict[Path, int] = {}
    roots: list[int] = []
    multiplicities: list[int] = []
    entries: list[int] = []
    for place, (root, multiplicity, tree) in enumerate(
        zip(batches.roots, batches.multiplicities, batches.trees, strict=True)
    ):
        left = multiplicity
        while left:
            part = min([left, *(stocks[arc][-1][1] for arc in tree)])
            entries += (numbers.setdefault(path, len(numbers)) for path in _take_paths(stocks, tree, part))
            roots.append(root)
            multiplicities.append(part)
            left -= part
        if progress is not None:
            progress(place + 1, len(batches.roots))
    starts = np.cumsum([0, *map(len, numbers)])
    nodes = [node for path in numbers for node in path]
    return roots, multiplicities, *(np.array(each, dtype=np.int32) for each in (entries, starts, nodes))  # type: ignore[return-value]


def _take_paths(stocks: dict[Arc, Stock], tree: list[Arc], part: int) -> list[Path]:
    paths: list[Path] = []
    for arc in tree:
        take(stocks[arc], part, lambda path, _: paths.append(path))
    return paths
