"""The parts of a base network, by builder spec: its wiring, its mirror, and its schedule if that is not a BFB one."""

from functools import cache

import numpy as np

from forestcoll.algorithms.direct_networks.stored import stored
from forestcoll.design.mirrors import find_mirror
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring, is_mirror
from forestcoll.schedule.rows import IntArray
from forestcoll.topology.families._direct import ArcRecipe
from forestcoll.topology.families.cayley import Cayley
from forestcoll.topology.families.circulant import Circulant
from forestcoll.topology.families.de_bruijn import DeBruijn
from forestcoll.topology.registry import build_topology, recipe_of

LARGEST_SEARCHED_MIRROR = 64
"""The largest base network for which a mirror is searched. Larger ones have a mirror by a formula, or none is known."""


@cache
def base_wiring(spec: str) -> Wiring:
    """Return the wiring of the network that a builder makes, with parallel arcs and loops."""
    _, recipe = recipe_of(spec)
    if isinstance(recipe, Cayley):
        return _cayley_wiring(recipe)
    if isinstance(recipe, ArcRecipe):
        return Wiring.of_arcs(recipe.order(), recipe.arcs())
    wiring = Wiring.of_topology(build_topology(spec))
    parallel: int = getattr(recipe, "parallel", 1)
    return Wiring(np.repeat(wiring.targets, parallel, axis=1)) if wiring.is_simple else wiring


def _cayley_wiring(recipe: Cayley) -> Wiring:
    """Return the wiring of `recipe.arcs()`, with all products of a generator in one array."""
    group = recipe.group()
    outer, inner = np.divmod(np.arange(group.order, dtype=np.int64), group.inner)
    powers = np.array([pow(group.ratio, exponent, group.outer) for exponent in range(group.inner)])[inner]
    columns = []
    for generator in recipe.generators:
        third, fourth = divmod(generator, group.inner)
        columns.append((outer + powers * third) % group.outer * group.inner + (inner + fourth) % group.inner)
    return Wiring(np.stack(columns, axis=1).astype(np.int32))


def base_sends(spec: str, wiring: Wiring) -> Sends:
    """Return the schedule of a base whose schedule was found by search."""
    found = stored(spec)
    steps, shards, sources, targets, lows, highs = found.columns
    ports = (wiring.targets[sources] == targets[:, None]).argmax(axis=1)
    columns = (steps, shards, sources * wiring.degree + ports, lows, highs)
    return joined(int(steps.max()) + 1, found.parts, [columns])


def base_mirror(spec: str, wiring: Wiring) -> IntArray | None:
    """Return an isomorphism from a base to its transpose, or None if none is known."""
    numbers = np.arange(wiring.nodes, dtype=np.int32)
    if wiring.is_bidirectional:
        return numbers
    for image in _images_by_formula(spec, numbers):
        if is_mirror(wiring, image):
            return image
    return _searched_mirror(spec) if wiring.nodes <= LARGEST_SEARCHED_MIRROR else None


def _images_by_formula(spec: str, numbers: IntArray) -> list[IntArray]:
    _, recipe = recipe_of(spec)
    negative = -numbers % len(numbers)
    if isinstance(recipe, DeBruijn):
        digits = [numbers // recipe.degree**place % recipe.degree for place in range(recipe.length)]
        return [sum(digit * recipe.degree ** (recipe.length - 1 - place) for place, digit in enumerate(digits))]
    if isinstance(recipe, Cayley):
        group = recipe.group()
        return [np.array([group.inverse(element) for element in range(group.order)], dtype=np.int32)]
    if isinstance(recipe, Circulant):
        return [negative]
    return [negative]


@cache
def _searched_mirror(spec: str) -> IntArray | None:
    return find_mirror(base_wiring(spec))
