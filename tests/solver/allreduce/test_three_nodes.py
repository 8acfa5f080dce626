"""All networks of three nodes with bandwidths up to 3: the rate along trees, and the networks of Theorem 3."""

from fractions import Fraction
from itertools import product

import pytest
from allreduce_oracles import spanning_trees

from allreduce_factor import SMALL
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.bounds.cut_edge import cut_edge
from forestcoll.solver.exact_lp.linear_program import LinearProgram
from forestcoll.solver.exact_lp.row import Row
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.topology import Topology

NETWORKS = next(kind for kind in SMALL if kind.name == "one way, 3 nodes, links of 1 to 3")


def uses_all_links(topology: Topology, rate: Fraction) -> bool:
    """Return whether pairs of trees with this rate together can use each link, by the program of Theorem 2."""
    pairs = [
        (*inward, *outward)
        for root in topology.compute
        for inward, outward in product(*(list(spanning_trees(topology, root, out=out)) for out in (False, True)))
    ]
    least = len(pairs)  # the column of the least use of a link
    program = LinearProgram([0] * least + [1])
    for number, link in enumerate(topology.links):
        uses = {column: pair.count(number) for column, pair in enumerate(pairs) if number in pair}
        program.add(Row(uses, None, int(link.bandwidth)))
        program.add(Row({**uses, least: -1}, 0, None))
    program.add(Row(dict.fromkeys(range(least), 1), int(rate), None))
    exact = program.exact(program.solve())
    assert exact is not None
    values, prices = exact
    assert program.proves(values, prices)
    return values[least] > 0


@pytest.mark.slow
def test_the_rate_along_trees_is_the_cut_or_a_quarter_of_all_bandwidth() -> None:
    members = 0
    for topology in NETWORKS.networks():
        found, cut = allreduce_optimum(topology), cut_set_bound(topology).algbw
        total = sum((link.bandwidth for link in topology.links), Fraction(0))
        assert found.exact
        assert found.upper == min(cut, total / 4)
        if found.upper == cut and cut_edge(topology, cut) is not None:
            members += 1
            assert uses_all_links(topology, cut)
    assert members == 362
