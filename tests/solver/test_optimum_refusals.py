from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.solver.optimum import optima_by_trees, optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology


def star(*bandwidths: tuple[Fraction, Fraction]) -> Topology:
    """Return a star: for each pair, a compute node whose links to and from the switch have these bandwidths."""
    builder = TopologyBuilder("star")
    builder.add_switch("hub")
    for node, (up, down) in enumerate(bandwidths):
        builder.add_compute(node)
        builder.add_link(node, "hub", up)
        builder.add_link("hub", node, down)
    return builder.build()


def test_a_number_of_trees_whose_rounding_unbalances_a_switch_is_refused() -> None:
    topology = star((Fraction(2), Fraction(3)), (Fraction(3), Fraction(3)), (Fraction(4), Fraction(3)))
    with pytest.raises(NoSolutionError) as caught:
        optimum(topology, trees=1)
    assert str(caught.value) == (
        "star: with 1 tree per root, switch 'hub' would receive 1 tree fewer than it sends, and "
        f"the trees need all routes over it; use {optimum(topology).trees_per_root} trees per root"
    )
    assert optimum(topology, trees=optimum(topology).trees_per_root).algbw == optimum(topology).algbw


def test_a_one_port_network_is_refused() -> None:
    builder = TopologyBuilder("phones", port_model="one-port")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), 1)
    topology = builder.build()
    for function in (optimum, partial(optima_by_trees, most=2)):
        with pytest.raises(NoSolutionError) as caught:
            function(topology)
        assert str(caught.value) == (
            "phones: port_model is one-port; this function needs nodes that use all their links at once "
            "(if they can, leave port_model out); 'forestcoll broadcast-series' handles one port"
        )


def test_numpy_integers_are_accepted_as_numbers_of_trees() -> None:
    ring = build_topology("ring:nodes=4")
    assert optimum(ring, trees=np.int64(2)).trees_per_root == 2  # type: ignore[arg-type]
    assert optimum(ring, max_trees=np.int32(2)) == optimum(ring, max_trees=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trees": 0}, "trees is 0; it must be at least 1"),
        ({"trees": -3}, "trees is -3; it must be at least 1"),
        ({"max_trees": 0}, "max_trees is 0; it must be at least 1"),
        ({"trees": 1.5}, "trees is 1.5; it must be an integer of 1 or more"),
        ({"trees": "x"}, "trees is 'x'; it must be an integer of 1 or more"),
        ({"trees": True}, "trees is true; it must be an integer of 1 or more"),
        ({"max_trees": 2.0}, "max_trees is 2.0; it must be an integer of 1 or more"),
        ({"trees": -(10**5000)}, "trees is an integer of about 5001 digits; it must be at least 1"),
        ({"trees": 10**100}, "trees has more than 100 digits; ask for fewer"),
        ({"max_trees": 10**5000}, "max_trees has more than 100 digits; ask for fewer"),
        ({"trees": 1, "max_trees": 2}, "trees and max_trees exclude each other; give one of them"),
    ],
)
def test_invalid_numbers_of_trees_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        optimum(build_topology("ring:nodes=4"), **options)
    assert str(caught.value) == message
