"""From trees of logical arcs to trees of physical paths: each copy takes one path from the stock of each arc."""

from collections.abc import Sequence

import numpy as np

from forestcoll.kernels.interface import ReportProgress, RoutedTrees
from forestcoll.kernels.reference.network import Arc, Problem
from forestcoll.kernels.reference.packing import TreeBatches, pack_trees
from forestcoll.kernels.reference.switches import LogicalNetwork, Path, Stock, remove_switches, take


def route_trees(
    problem: Problem,  # noqa: ARG001 (part of the interface)
    logical: LogicalNetwork,
    batches: TreeBatches,
    progress: ReportProgress = None,
) -> RoutedTrees:
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
    return RoutedTrees(roots, multiplicities, *(np.array(each, dtype=np.int32) for each in (entries, starts, nodes)))


def grow_trees(
    problem: Problem, supply: int, progress: ReportProgress = None, *, prove: bool = True
) -> tuple[RoutedTrees, dict[str, int]]:
    """See `Core.grow_trees`. Plain Python does not grow optimistically: all trees are packed by `pack_trees`."""
    del prove
    logical = remove_switches(problem, supply, progress)
    batches, counters = pack_trees(problem, logical, supply, progress)
    return route_trees(problem, logical, batches, progress), counters | {"missing": 0}


def grow_base_trees(
    problem: Problem,
    supply: int,
    images: Sequence[Sequence[int]],
    arc_orbits: Sequence[int],
    unit: int,
    progress: ReportProgress = None,
) -> tuple[RoutedTrees, dict[str, int]]:
    """See `Core.grow_base_trees`. Plain Python does not grow base trees: all are reported as missing."""
    del supply, images, arc_orbits, progress
    nothing = np.zeros(0, dtype=np.int32)
    trees = RoutedTrees([], [], nothing, np.zeros(1, dtype=np.int32), nothing)
    return trees, {"missing": len(problem.terminals) // unit}


def _take_paths(stocks: dict[Arc, Stock], tree: list[Arc], part: int) -> list[Path]:
    paths: list[Path] = []
    for arc in tree:
        take(stocks[arc], part, lambda path, _: paths.append(path))
    return paths
