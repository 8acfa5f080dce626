"""Checks that traces fit together, with arrays: each message has both ends, and no node waits forever.

ASTRA-sim does not report a node that waits forever: the simulation ends without it, or hangs.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.programs.formats.chakra.document import NodeType, Trace

IntArray: TypeAlias = npt.NDArray[np.int64]


class Fitting:
    """Traces that are added one after the other, from rank 0 on. Only their columns are kept, not their nodes."""

    def __init__(self, ranks: int) -> None:
        """Start without traces; there will be `ranks` of them."""
        self._ranks = ranks
        self._size = 0
        self._sound = True
        self._messages: dict[NodeType, list[IntArray]] = {NodeType.SEND: [], NodeType.RECEIVE: []}
        self._waits: list[IntArray] = []
        self.nodes = 0

    def add(self, trace: Trace) -> None:
        """Add the trace of the next rank."""
        nodes = trace.nodes
        first, self.nodes = self.nodes, self.nodes + len(nodes)
        rows = np.array([(n.number, n.kind, n.size, n.peer, n.tag) for n in nodes], dtype=np.int64).reshape(-1, 5)
        number, kind, size, peer, tag = rows.T
        order = np.argsort(number, kind="stable")
        moves = kind != NodeType.COMPUTE
        self._sound &= len(np.unique(number)) == len(number) and bool((size[moves] > 0).all())
        self._sound &= bool(((peer >= 0) & (peer < self._ranks) & (peer != trace.rank))[moves].all())
        counts = [len(node.after) for node in nodes]
        after = np.fromiter(chain.from_iterable(node.after for node in nodes), np.int64, sum(counts))
        place = np.minimum(np.searchsorted(number[order], after), max(len(nodes) - 1, 0))
        self._sound &= not len(after) or bool((number[order][place] == after).all())
        if not self._sound:
            return
        later = np.repeat(np.arange(len(nodes)), counts)
        self._waits.append(np.stack((order[place], later), axis=1) + first if len(after) else np.zeros((0, 2), int))
        for each, listed in self._messages.items():
            which = np.flatnonzero(kind == each)
            here = np.full(len(which), trace.rank)
            ends = (here, peer[which]) if each is NodeType.SEND else (peer[which], here)
            listed.append(np.stack((*ends, tag[which], size[which], which + first), axis=1))

    @property
    def is_proven(self) -> bool:
        """Return whether the traces fit together: every message has both ends, and every node can be done."""
        if not self._sound:
            return False
        sent, received = (_sorted(listed) for listed in self._messages.values())
        if sent.shape != received.shape or not (sent[:, :4] == received[:, :4]).all():
            return False
        edges = np.concatenate([*self._waits, np.stack((sent[:, 4], received[:, 4]), axis=1)])
        return _all_done(self.nodes, edges)


def _sorted(messages: Sequence[IntArray]) -> IntArray:
    """Return messages in the order of their ends, tags and sizes, and then of their nodes."""
    rows = np.concatenate(messages) if messages else np.zeros((0, 5), dtype=np.int64)
    return rows[np.lexsort(rows.T[::-1])]


def _all_done(count: int, edges: IntArray) -> bool:
    """Return whether `count` nodes can be done one after the other, each edge from an earlier to a later one."""
    edges = edges[np.argsort(edges[:, 0], kind="stable")]
    later = edges[:, 1]
    starts = np.searchsorted(edges[:, 0], np.arange(count + 1))
    needs = np.bincount(later, minlength=count)
    ready, done = np.flatnonzero(needs == 0), 0
    while len(ready):
        done += len(ready)
        lengths = starts[ready + 1] - starts[ready]
        shifts = np.repeat(starts[ready] - (np.cumsum(lengths) - lengths), lengths)
        woken = later[np.arange(int(lengths.sum())) + shifts]
        np.subtract.at(needs, woken, 1)
        ready = np.unique(woken[needs[woken] == 0])
    return done == count
