"""Finding a symmetry of any network, from its nodes and links alone.

`find_symmetry` looks for a large abelian group that acts freely on the compute nodes or, if the network is almost
symmetric, on many of them. Its work is counted against a
budget; when the budget is used up, it returns what was found so far. The steps:

1. Colours are refined (`refinement`): nodes of different colours cannot be exchanged.
2. The graph is split into pieces, and the pieces into smaller ones, until each is connected even without redundant
   arcs (`splitting`). Copies are matched (`alignment`), and the pieces form a tree (`pieces`).
3. Copies are shifted, together with the group of one copy, which acts in the same way on all of them. For copies of
   several sorts, the group contains what all sorts can do at the same time (`search`, `group`).
4. A piece that cannot be split is searched by itself (`connected`): by its numbering, and by trying images.

The result is tested against the links before it is returned (`proof`), by code that shares nothing with the search.
"""

import numpy as np

from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphisms.graph import graph_of
from forestcoll.topology.symmetry.automorphisms.proof import prove
from forestcoll.topology.symmetry.automorphisms.refinement import Budget
from forestcoll.topology.symmetry.automorphisms.search import group_of
from forestcoll.topology.symmetry.shifts import Shift, Symmetry

__all__ = ["find_symmetry"]

_WORK = 1_000_000_000
"""The most arcs that are visited; this takes a few seconds."""


def find_symmetry(topology: Topology, *, moves_all: bool = True) -> Symmetry:
    """Return a group of symmetries of `topology` that moves every compute node, as large as could be found.

    Symmetries keep the sort of each node, and the bandwidth and latency of each link. Ids and other attributes are
    ignored. The group is trivial if no symmetry was found; it may be smaller than the largest one.

    If not `moves_all`, the group may leave compute nodes in place, such as those of a box with a fault, and the compute
    nodes are in as few orbits as could be found. The group still acts freely on one of these orbits.

    Raises:
        InternalError: a defect: the result is not such a group.
    """
    graph = graph_of(topology)
    found = group_of(graph, Budget(_WORK), moves_all=moves_all)
    symmetry = Symmetry(tuple(Shift(each.order, each.image.astype(np.int32)) for each in found))
    prove(graph, symmetry, moves_all=moves_all)
    return symmetry
