"""Groups on networks of one-way links."""

import pytest

from forestcoll import InputError, TopologyBuilder, groups_optimum


def test_an_allreduce_needs_one_root_that_both_phases_reach() -> None:
    builder = TopologyBuilder("one-way ring")
    for node in "abc":
        builder.add_compute(node)
    for source, target in ("ab", "bc", "ca"):
        builder.add_link(source, target, 1)
    with pytest.raises(InputError, match=r"^one-way ring: group 0 is not connected without relays; allow relays$"):
        groups_optimum(builder.build(), "0,1", "allreduce", relays=False)
