"""Division of routes at relays, because a runtime sends from compute node to compute node.

Trees are found with idle nodes as switches. If several routes of a tree meet at a relay, `in_network` has already made
them end and begin there. A route that only passes through a relay is divided into two. The result is still a tree,
because a tree reaches each node once, and no link carries more.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.trees.expansion import distinct_rows
from forestcoll.schedule.trees.value import Phase


def divided_at(relays: Collection[int], nodes: int, routes: Rows, phase: Phase) -> tuple[Rows, Phase]:
    """Return the routes and the phase with every route divided at each of `relays`; the network has `nodes` nodes."""
    if not relays:
        return routes, phase
    is_relay = np.zeros(nodes, dtype=np.bool_)
    is_relay[list(relays)] = True
    is_stop = is_relay[routes.entries]
    is_stop[routes.starts[:-1]] = is_stop[routes.starts[1:] - 1] = False
    if not is_stop.any():
        return routes, phase
    table, first_pieces = _pieces(routes, is_stop)
    counts = np.diff(first_pieces)
    table, numbers = distinct_rows(table)
    entries = phase.routes.entries
    starts = row_starts(counts[entries])
    pieces = np.repeat(first_pieces[:-1][entries] - starts[:-1], counts[entries]) + np.arange(starts[-1])
    trees = Rows(starts[phase.routes.starts], numbers[pieces].astype(np.int32))
    return table, replace(phase, routes=trees)


def _pieces(routes: Rows, is_stop: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> tuple[Rows, IntArray]:
    """Return the pieces of all routes in order, and the number of the first piece of each route, then the total."""
    copies = np.where(is_stop, 2, 1)  # a stop is the end of one piece and the beginning of the next
    entries = np.repeat(routes.entries, copies)
    last = np.cumsum(copies) - 1
    begins = np.sort(np.concatenate([last[routes.starts[:-1]], last[is_stop]]))
    lengths = np.diff(np.concatenate([begins, [len(entries)]]))
    stops = np.concatenate([[0], np.cumsum(is_stop)])
    first_pieces: IntArray = np.arange(len(routes) + 1) + stops[routes.starts]
    return Rows(row_starts(lengths), entries), first_pieces
