"""Finding a symmetry of any network, from its nodes and links alone.

`find_symmetry` looks for a large abelian group that acts freely on the compute nodes, and never looks long: the work
is counted, and when it is used up, what was found by then is the answer. It proceeds as follows.

1. Colours are refined (`refinement`): nodes of different colours cannot take each other's place.
2. The graph falls into pieces (`splitting`), the pieces into smaller ones, until they are connected even without the
   arcs that say nothing. Copies are matched (`alignment`) and make a tree (`pieces`).
3. Copies are shifted, and with them goes the group of one copy, the same in all; copies of several sorts do at once
   what all sorts can do (`search`, `group`).
4. A piece that cannot be split is searched by itself (`connected`), by its numbering and by trying images.

What is found is tested against the links before it is returned (`proof`), by code that shares nothing with the
search.
"""

import numpy as np

from forestcoll.topology.automorphisms.graph import graph_of
from forestcoll.topology.automorphisms.proof import prove
from forestcoll.topology.automorphisms.refinement import Purse
from forestcoll.topology.automorphisms.search import group_of
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry import Shift, Symmetry

__all__ = ["find_symmetry"]

_WORK = 1_000_000_000
"""How many arcs may be looked at: a few seconds."""


def find_symmetry(topology: Topology) -> Symmetry:
    """Return a group of symmetries of `topology` that moves every compute node, as large as could be found.

    Symmetries keep the sort of each node, and the bandwidth and latency of each link; ids and other attributes are
    not looked at. The group is the trivial one where there is none, and may be smaller than the largest.

    Raises:
        InternalError: a defect: what was found is no such group.
    """
    graph = graph_of(topology)
    found = group_of(graph, Purse(_WORK))
    symmetry = Symmetry(tuple(Shift(each.order, each.image.astype(np.int32)) for each in found))
    prove(graph, symmetry)
    return symmetry
