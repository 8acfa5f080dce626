"""The cheapest step tree of a root, by dynamic programming over sets of nodes (Dreyfus and Wagner, *Steiner problem*).

A *step tree* brings data of its root to all nodes in S steps. Each of its sends crosses one link at one step, and its
source is the root or has received the data at an earlier step. Each send has a price. Let c(v, t, A) be the least price
of bringing data from v, which has it before step t, to all nodes of the set A:

    send(v, t, B) = min over links v -> u with u in B of  price(v -> u, t) + c(u, t + 1, B without u)
    c(v, t, A)    = min(c(v, t + 1, A),  min over B in A of  send(v, t, B) + c(v, t, A without B))

After the last step, c is 0 for the empty set and infinite for others. Sets are bit masks. Prices are integers, so the
result is exact. Cost: 3^(n-1) additions for each node that may have the data before a step, in NumPy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InternalError
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import hops

Costs = npt.NDArray[Any]
"""A cost for each node and each set of nodes: machine words, or Python integers if prices are long."""

Sets = npt.NDArray[np.int32]
"""Sets of nodes as bit masks."""

_LONGEST = 2**61
"""Costs below this number fit machine words, with room for sums of two."""


@dataclass(frozen=True, slots=True)
class StepTree:
    """A step tree.

    Attributes:
        root: its root.
        price: the sum of the prices of its sends.
        sends: its sends in the order of steps: a step and the number of a link.
    """

    root: int
    price: int
    sends: tuple[tuple[int, int], ...]


class CheapestTrees:
    """Finds the cheapest step trees of some roots for any prices.

    Args:
        topology: a network without switches.
        roots: the roots.
        steps: the number of steps; every root reaches all nodes in as many.

    Attributes:
        topology: the network.
        roots: the roots.
        steps: the number of steps.
        holders: for each step, the nodes that may have data of a root before it.
        bits: for each node but a single root, the set with only this node.
        sets: all sets.
        parts: for each size but 0, the sets of this size, and a row for each of them with all its parts but the empty
            set.
        additions: the number of additions of `find`.
    """

    def __init__(self, topology: Topology, roots: Sequence[int], steps: int) -> None:
        self.topology, self.roots, self.steps = topology, roots, steps
        self.holders = _holders(topology, roots, steps)
        targets = [node for node in range(len(topology.nodes)) if [node] != list(roots)]  # none has the only root
        self.bits = {node: 1 << place for place, node in enumerate(targets)}
        self.sets = np.arange(1 << len(targets), dtype=np.int32)
        self.parts = list(_parts(self.sets, len(targets)))
        self.additions = additions(topology, roots, steps)

    def find(self, prices: Sequence[Sequence[int]]) -> list[StepTree]:
        """Return the cheapest tree of each root.

        Args:
            prices: for each step, the price of a send over each link.
        """
        found = _Prices(self, prices)
        whole = sum(self.bits.values())
        return [found.tree(root, whole & ~self.bits.get(root, 0)) for root in self.roots]


def additions(topology: Topology, roots: Sequence[int], steps: int) -> int:
    """Return the number of additions of `CheapestTrees.find`."""
    holders = _holders(topology, roots, steps)[:-1]
    sets: int = 3 ** (len(topology.nodes) - (len(roots) == 1))
    return sum(map(len, holders)) * sets


def _holders(topology: Topology, roots: Sequence[int], steps: int) -> list[list[int]]:
    """Return, for each step, the nodes that may have data of a root before it."""
    away = hops(roots, topology.targets.__getitem__)
    return [[node for node in away if away[node] <= step] for step in range(steps)]


def _parts(sets: Sets, most: int) -> Iterator[tuple[Sets, Sets]]:
    """Yield, for each size, the sets of this size, and a row for each of them with all its parts but the empty set."""
    sizes = np.array([each.bit_count() for each in sets.tolist()])
    for size in range(1, most + 1):
        rest = sets[sizes == size]
        whole, parts = rest, np.zeros((len(rest), 1), dtype=np.int32)
        for _ in range(size):
            least = rest & -rest
            parts = np.concatenate([parts, parts | least[:, None]], axis=1)
            rest = rest ^ least
        yield whole, parts[:, 1:]


class _Prices:
    """The costs of all sets for some prices: `_costs[t][v, A]` is c(v, t, A); `_sends[t][v][B]` is send(v, t, B)."""

    def __init__(self, of: CheapestTrees, prices: Sequence[Sequence[int]]) -> None:
        self._of, self._prices, nodes = of, prices, len(of.topology.nodes)
        self._far = 1 + nodes * max(map(max, prices))  # dearer than every tree
        self._kind = np.int64 if 2 * self._far < _LONGEST else np.object_
        costs = self._unreached(nodes)
        self._costs, self._sends = [costs], list[dict[int, Costs]]()
        for step in reversed(range(of.steps)):
            holders = of.holders[step]
            sends = self._sends_at(step, costs)
            added = self._last(sends) if step == of.steps - 1 else self._divided(sends, costs[holders])
            costs = self._unreached(nodes)
            costs[holders] = np.minimum(added, self._far)
            self._costs.append(costs)
            self._sends.append(dict(zip(holders, sends, strict=True)))
        self._costs.reverse()
        self._sends.reverse()

    def _unreached(self, count: int) -> Costs:
        """Return the costs of nodes that can bring the data to no other node."""
        costs = np.full((count, len(self._of.sets)), self._far, dtype=self._kind)
        costs[:, 0] = 0
        return costs

    def _sends_at(self, step: int, after: Costs) -> Costs:
        """Return send(v, t, B) of each holder at a step; `after` are the costs after it."""
        of, holders = self._of, self._of.holders[step]
        sends = np.full((len(holders), len(of.sets)), self._far, dtype=self._kind)
        for row, node in zip(sends, holders, strict=True):
            for link in of.topology.leaving[node]:
                target = of.topology.links[link].target
                if bit := of.bits.get(target, 0):
                    with_target = of.sets[of.sets & bit > 0]
                    price = self._prices[step][link] + after[target, with_target ^ bit]
                    row[with_target] = np.minimum(row[with_target], price)
        return sends

    def _last(self, sends: Costs) -> Costs:
        """Return the costs before the last step, at which each node of a set is a target of the holder."""
        costs = np.zeros_like(sends)
        for bit in self._of.bits.values():
            costs[:, bit : 2 * bit] = np.minimum(costs[:, :bit] + sends[:, [bit]], self._far)
        return costs

    def _divided(self, sends: Costs, later: Costs) -> Costs:
        """Return the costs before a step, from those of its sends and those after it."""
        costs = later.copy()
        for sets, parts in self._of.parts:
            least = (sends[:, parts] + costs[:, sets[:, None] ^ parts]).min(axis=2)
            costs[:, sets] = np.minimum(costs[:, sets], least)
        return costs

    def tree(self, root: int, targets: int) -> StepTree:
        """Return the cheapest tree of a root."""
        price = int(self._costs[0][root, targets])
        if price >= self._far:
            raise InternalError(f"a step tree of root {root} does not reach all nodes")
        return StepTree(root, price, tuple(sorted(self._branches(root, 0, targets))))

    def _branches(self, node: int, step: int, targets: int) -> Iterator[tuple[int, int]]:
        """Yield the sends that bring the data from a node, which has it before a step, to a set of nodes."""
        while targets:
            if self._costs[step + 1][node, targets] == self._costs[step][node, targets]:
                step += 1  # the node waits
                continue
            part = self._part(node, step, targets)
            link, target = self._link(node, step, part)
            yield step, link
            yield from self._branches(target, step + 1, part ^ self._of.bits[target])
            targets ^= part

    def _part(self, node: int, step: int, targets: int) -> int:
        """Return the set of nodes that the first send of a node at a step serves."""
        sets, parts = self._of.parts[targets.bit_count() - 1]
        row = parts[np.searchsorted(sets, targets)]
        return int(row[np.argmin(self._sends[step][node][row] + self._costs[step][node][targets ^ row])])

    def _link(self, node: int, step: int, part: int) -> tuple[int, int]:
        """Return the link of a send that serves a set of nodes, and its target."""
        of = self._of
        for link in of.topology.leaving[node]:
            target = of.topology.links[link].target
            bit = of.bits.get(target, 0)
            if part & bit:
                price = self._prices[step][link] + self._costs[step + 1][target, part ^ bit]
                if price == self._sends[step][node][part]:
                    return link, target
        raise InternalError(f"no send of node {node} has the price of its set")
