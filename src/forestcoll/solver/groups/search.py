"""The search for the optimum of groups that run at the same time: column generation over trees.

The linear program (`master`) starts with a few trees of each group. Its prices say which further trees would raise the
rate, and `pricing` finds them, until there are none. The weights of the trees are solved in fractions. Then they are
normalised, and the loads of all links are added up, so the rate is correct whatever the program returned. The lengths
of the last prices prove a bound. If both are equal, no schedule along trees is faster. They can differ only for groups
with many members, whose shortest trees are not computed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm
from typing import TypeAlias

import numpy as np

from forestcoll.base.errors import InputError, InternalError, shown
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.groups.value import Group
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.lengths.group_lengths import GroupLengthsProof
from forestcoll.schedule.proof.proof import ProofError
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_system import LONGEST_FAST
from forestcoll.solver.exact_lp.linear_program import LinearProgram, Solution
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.solver.groups.cuts import best_cut
from forestcoll.solver.groups.master import Commodity, Master
from forestcoll.solver.groups.pricing import Floats, Metrics, Pricing
from forestcoll.solver.groups.value import GroupsOptimum, Trees
from forestcoll.topology import Topology
from forestcoll.topology.graph.part import usable_part

MOST_NODES = 1000
"""The most nodes of a network with groups. The prices of walks take the cube of their number."""

MOST_EXACT_NODES = 64
"""The most nodes of a network whose trees are priced in integers, if its bandwidths are long numbers."""

MOST_ROUNDS = 400
"""The most linear programs that are solved."""

MOST_ROOTS = 25_000
"""The most pairs of an allreduce and a root of its trees, without those that a symmetry maps to others."""

_TOLERANCE = 1e-9
"""The relative difference below which floating-point prices are equal."""

_FINE = 2**30
"""The denominator of numbers if the basis is not solved exactly."""


def group_search(
    topology: Topology, groups: Sequence[Group], progress: Progress = SILENT, *, relays: bool = True
) -> GroupsOptimum:
    """Return the optimum of groups that run at the same time.

    Args:
        topology: the network.
        groups: the groups.
        progress: receives the number of rounds.
        relays: whether trees may pass through compute nodes outside their group. The bound always allows it.

    Raises:
        InputError: the network is too large, allreduces have too many roots, or without relays, a group is not
            connected.
        InternalError: a defect of forestcoll.
    """
    if len(topology.nodes) > MOST_NODES:
        raise InputError(
            f"{topology.name}: has {len(topology.nodes)} nodes; groups at the same time are computed for at most "
            f"{MOST_NODES}; use a part of the network"
        )
    progress.begin("packing trees of all groups")
    members = sorted({node for group in groups for node in group.members(topology)})
    master = Master(usable_part(topology, members), groups)
    roots = sum(part.share is None and part.op is PhaseOp.REDUCE for part in master.parts)
    if roots > MOST_ROOTS:
        raise InputError(
            f"{topology.name}: there are {roots} pairs of an allreduce and a root of its trees; at most {MOST_ROOTS} "
            "are possible; run fewer allreduces at the same time"
        )
    found = _GroupSearch(topology, master, progress, relays=relays).run()
    if relays or found.is_optimal:
        return found
    return replace(found, bound=_GroupSearch(topology, master, progress, relays=True).run().bound)


@dataclass(frozen=True)
class _Column:
    """A tree with its part and its links."""

    part: Commodity
    tree: PackedTree
    uses: Mapping[int, int]


class _GroupSearch:
    """Column generation."""

    def __init__(self, topology: Topology, master: Master, progress: Progress, *, relays: bool) -> None:
        self._topology, self._master, self._progress, self._relays = topology, master, progress, relays
        self._pricing = Pricing(master, topology, relays=relays)
        objective = [-each for each in master.capacities] + [0] * (master.columns - len(master.capacities))
        self._program = LinearProgram(objective)
        self._program.add(Constraint(master.amount_row, 1, None))
        self._trees: list[_Column] = []
        self._known: set[tuple[object, ...]] = set()
        self._cut = best_cut(master.part, master.groups)

    def run(self) -> GroupsOptimum:
        """Return the optimum."""
        self._start()
        solution = self._program.solve()
        for number in range(MOST_ROUNDS):
            self._progress.advance(number, 0)
            if self._reaches_cut(solution) or not self._price(solution.values):
                break
            solution = self._program.solve()
        exact = self._program.exact(solution)
        best = self._optimum(*(_rounded(solution) if exact is None or not _is_feasible(*exact) else exact))
        is_long = max(self._master.capacities) > LONGEST_FAST and len(self._topology.nodes) <= MOST_EXACT_NODES
        return self._improved(best) if is_long and not best.is_optimal else best

    def _improved(self, best: GroupsOptimum) -> GroupsOptimum:
        """Return an optimum for numbers too long for floating point: trees are priced in integers."""
        for _ in range(MOST_ROUNDS):
            exact = self._program.refined()
            if exact is None:
                break
            best = max(best, self._optimum(*exact), key=lambda each: each.algbw)
            if best.is_optimal or not self._price_in_integers(exact[0]):
                break
        return best

    def _price_in_integers(self, values: Sequence[Fraction]) -> bool:
        """Add trees that are cheaper than they must be at exact prices; return whether there are any."""
        metrics = self._pricing.exact_metrics(values[: len(self._master.capacities)])
        added = False
        for part in self._master.parts:
            for tree in (*self._pricing.candidates(part, metrics), *self._pricing.shortest(part, metrics)):
                price = sum(values[column] * count for column, count in self._pricing.uses(part, tree).items())
                worth = -sum(values[column] * count for column, count in part.potentials.items())
                added |= price < worth and self._add(part, tree)
        return added

    def _reaches_cut(self, solution: Solution) -> bool:
        """Return whether the trees reach the bound of a cut."""
        if self._cut is None:
            return False
        limit = self._cut[0] / self._master.unit / self._master.amount_scale / self._program.unit
        return -self._program.reached(solution.values) >= as_float(limit) * (1 - _TOLERANCE)

    def _start(self) -> None:
        """Add trees of each part for prices that are equal for all bandwidth."""
        prices = np.array([as_float(self._program.unit, each) if each else 1.0 for each in self._master.capacities])
        metrics = self._pricing.metrics(prices)
        for part in self._master.parts:
            for tree in self._pricing.candidates(part, metrics):
                self._add(part, tree)
        for group in sorted({part.group for part in self._master.parts}):
            if not self._is_connected(group):
                raise InputError(
                    f"{self._topology.name}: {self._name(group)} is not connected without relays; allow relays"
                )

    def _is_connected(self, group: int) -> bool:
        """Return whether the trees can carry all data of a group: from a root of an allreduce, in both phases."""
        found = {_key(column.part) for column in self._trees if column.part.group == group}
        parts = [part for part in self._master.parts if part.group == group]
        if any(part.share is not None and _key(part) not in found for part in parts):
            return False
        free = [part for part in parts if part.share is None]
        roots = [{key[1:] for key in found if key[0] is op} for op in {part.op for part in free}]
        return not free or bool(set.intersection(*roots))

    def _name(self, group: int) -> str:
        """Return the name of a group: that of its first piece, or its number."""
        pieces = self._master.groups[group].pieces
        return f"piece {shown(pieces[0][0])}" if pieces else f"group {group}"

    def _price(self, values: Floats) -> bool:
        """Add trees that are cheaper than they must be; return whether there are any."""
        metrics = self._pricing.metrics(values[: len(self._master.capacities)])
        added = False
        for part in self._master.parts:
            for tree in self._pricing.candidates(part, metrics):
                added |= self._add_if_cheap(part, tree, values)
        return added or self._price_exactly(metrics, values)

    def _price_exactly(self, metrics: Metrics, values: Floats) -> bool:
        added = False
        for part in self._master.parts:
            for tree in self._pricing.shortest(part, metrics):
                added |= self._add_if_cheap(part, tree, values)
        return added

    def _add_if_cheap(self, part: Commodity, tree: PackedTree, values: Floats) -> bool:
        price = sum(values.item(column) * count for column, count in self._pricing.uses(part, tree).items())
        worth = -sum(values.item(column) * count for column, count in part.potentials.items())
        if price >= worth - _TOLERANCE * max(worth, price):
            return False
        return self._add(part, tree)

    def _add(self, part: Commodity, tree: PackedTree) -> bool:
        uses = self._pricing.uses(part, tree)
        key = (part.group, part.op, part.root, part.target, *sorted(uses.items()))
        if key in self._known:
            return False
        self._known.add(key)
        self._trees.append(_Column(part, tree, uses))
        self._program.add(Constraint({**uses, **part.potentials}, 0, None))
        return True

    def _optimum(self, values: Sequence[Fraction], weights: Sequence[Fraction]) -> GroupsOptimum:
        """Return the optimum of exact values of columns and weights of trees, of any accuracy."""
        master = self._master
        shares = Shares(master, self._trees, [-weight for weight in weights[1:]])
        algbw = shares.rate * master.unit
        bound = self._bound(values, algbw)
        if algbw > bound.algbw:
            raise InternalError(f"groups reach {algbw}, more than the bound {bound.algbw}")
        return GroupsOptimum(
            self._topology,
            algbw,
            bound,
            master.groups,
            shares.trees_of_groups(),
            master.orbits.of_group,
            relays=self._relays,
        )

    def _bound(self, values: Sequence[Fraction], reached: Fraction) -> Bound:
        """Return the bound of a cut, if it is reached, or the least bound of this cut and of the prices of links."""
        prices = [values[of_link] for of_link in self._master.of_link.tolist()]
        whole = lcm(*(price.denominator for price in prices))
        of_prices = GroupLengthsProof.of(self._master.part, tuple(int(price * whole) for price in prices))
        bounds: list[Bound] = []
        for proof in (of_prices,) if self._cut is None else (self._cut[1], of_prices):
            with suppress(ProofError):
                algbw = proof.algbw_of_groups(self._topology, self._master.groups)
                bounds.append(Bound(self._master.groups[0].demand.collective, algbw, proof))
            if bounds and bounds[-1].algbw == reached:
                return bounds[-1]
        if not bounds:
            raise InternalError("the prices of a linear program of groups prove no bound")
        return min(bounds, key=lambda bound: bound.algbw)


def _is_feasible(values: Sequence[Fraction], weights: Sequence[Fraction]) -> bool:
    return min(values) >= 0 and max(weights[1:]) <= 0


def _rounded(solution: Solution) -> tuple[list[Fraction], list[Fraction]]:
    """Return values and weights that are near those of floating point, relative to the greatest of them."""
    return _fine(np.maximum(solution.values, 0)), _fine(np.minimum(solution.prices, 0))


def _fine(values: Floats) -> list[Fraction]:
    greatest = Fraction(as_float(np.abs(values).max()) or 1.0)
    return [Fraction(round(as_float(each / as_float(greatest)) * _FINE), _FINE) * greatest for each in values]


_Key: TypeAlias = tuple[PhaseOp, int | None, int | None]
"""The phase, the root and the target of trees."""


def _key(part: Commodity) -> _Key:
    return part.op, part.root, part.target


class Shares:
    """The trees with their shares, computed from weights of any accuracy.

    Attributes:
        rate: the data of size 1 per unit of time and capacity, from the loads of all links.
    """

    def __init__(self, master: Master, columns: Sequence[_Column], weights: Sequence[Fraction]) -> None:
        self._master = master
        used = [(column, weight) for column, weight in zip(columns, weights, strict=True) if weight]
        self._shared = [pair for place in master.orbits.first_groups for pair in self._of_group(place, used)]
        self.rate = 1 / self._time()

    def _of_group(self, place: int, used: Sequence[tuple[_Column, Fraction]]) -> list[tuple[_Column, Fraction]]:
        """Return the trees of a group with the share of each image, relative to the data of the group."""
        own = [(column, weight) for column, weight in used if column.part.group == place]
        totals: dict[_Key, Fraction] = {}
        for column, weight in own:
            key = _key(column.part)
            totals[key] = totals.get(key, Fraction(0)) + weight
        needed = self._needed(place, totals)
        return [
            (column, weight * needed[key] / totals[key]) for column, weight in own if needed[key := _key(column.part)]
        ]

    def _needed(self, place: int, totals: Mapping[_Key, Fraction]) -> dict[_Key, Fraction]:
        """Return the part of the data that the trees of each kind of a group carry, without their images."""
        parts = [part for part in self._master.parts if part.group == place]
        if parts[0].share is not None:
            return {_key(part): part.share or Fraction(0) for part in parts}
        images = Fraction(self._master.orbits.size_of(place), self._master.orbits.order)
        if self._master.one_phase:
            return {_key(parts[0]): images}
        roots = {root for _, root, _ in totals}
        least = {root: min(totals.get((op, root, None), Fraction(0)) for op in PhaseOp) for root in roots}
        whole = sum(least.values(), Fraction(0))
        return {(op, root, None): images * each / whole for root, each in least.items() for op in PhaseOp}

    def _time(self) -> Fraction:
        """Return the time of the busiest class of links for one unit of data."""
        loads = [Fraction(0)] * len(self._master.capacities)
        for column, share in self._shared:
            load = self._master.orbits.order * self._master.groups[column.part.group].size * share
            for of_link, count in column.uses.items():
                loads[of_link] += load * count
        return max(load / each for load, each in zip(loads, self._master.capacities, strict=True))

    def trees_of_groups(self) -> tuple[Trees, ...]:
        """Return the trees of each group: the images of the listed trees. Equal images are one tree."""
        found: list[dict[PhaseOp, dict[tuple[object, ...], PackedTree]]] = [{} for _ in self._master.groups]
        centred = [(column.part, self._centred(column), share) for column, share in self._shared]
        for nodes, groups in self._master.orbits.elements():
            for part, tree, share in centred:
                arcs = tuple(tuple(nodes[node] for node in arc) for arc in tree.arcs)
                moved = PackedTree(nodes[tree.root], arcs, share)
                for op in PhaseOp if self._master.one_phase else (part.op,):
                    trees = found[groups[part.group]].setdefault(op, {})
                    key = (moved.root, *sorted(arcs))
                    known = trees.get(key)
                    trees[key] = moved if known is None else replace(known, weight=known.weight + share)
        return tuple({op: tuple(trees.values()) for op, trees in sorted(each.items())} for each in found)

    def _centred(self, column: _Column) -> PackedTree:
        """Return the tree; with any root, it has the member as its root that makes it lowest."""
        if column.part.root is not None:
            return column.tree
        members = self._master.groups[column.part.group].members(self._master.part)
        return min((column.tree.rerooted(node) for node in members), key=lambda each: each.height)
