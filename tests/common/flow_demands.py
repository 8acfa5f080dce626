"""Random demands of flows."""

from fractions import Fraction

from hypothesis import strategies as st

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology

PARTS = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1), Fraction(2)])


@st.composite
def demands(draw: st.DrawFn, topology: Topology) -> NodeDemand:
    """An all-to-all, a gather or a scatter over some of the nodes, perhaps with a matrix."""
    members = tuple(sorted(draw(st.sets(st.sampled_from(topology.compute), min_size=2))))
    ranks = None if members == topology.compute or draw(st.booleans()) else members
    members = topology.compute if ranks is None else ranks
    collective = draw(st.sampled_from([Collective.ALL_TO_ALL, Collective.GATHER, Collective.SCATTER]))
    root = None if collective is Collective.ALL_TO_ALL else draw(st.sampled_from(members))
    plain = NodeDemand(collective, root, None, ranks)
    if draw(st.booleans()):
        return plain
    matrix = [[draw(PARTS) for _ in members] for _ in members]
    for row, source in enumerate(members):
        for column, target in enumerate(members):
            if row == column or (root is not None and root != (target if collective is Collective.GATHER else source)):
                matrix[row][column] = Fraction(0)
    if not any(map(any, matrix)):
        return plain
    return plain.with_matrix(topology, tuple(map(tuple, matrix)))
