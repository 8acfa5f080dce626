"""Tables of layouts: the rate of each dimension, the links that limit it, and other orders."""

from fractions import Fraction

from forestcoll.demand.groups.layout import layout_groups
from forestcoll.solver.groups.gains import group_gains
from forestcoll.solver.groups.layouts import layout_table
from forestcoll.solver.groups.solving import groups_optimum


def test_each_row_is_the_optimum_of_its_groups() -> None:
    table = layout_table("dgx-a100:boxes=2", "tp=4,cp=2,dp=2", "allreduce")
    assert [row.name for row in table.rows] == ["tp", "cp", "dp"]
    for row in table.rows:
        best = groups_optimum("dgx-a100:boxes=2", layout_groups("tp=4,cp=2,dp=2", row.name), "allreduce")
        assert (row.algbw, row.groups, row.is_optimal) == (best.algbw, len(best.groups), True)
        assert row.algbw_alone == min(gain.algbw_alone for gain in group_gains(best).groups)
        assert row.limited_by


def test_all_orders_are_compared_and_the_fastest_is_first() -> None:
    table = layout_table("dgx-a100:boxes=2", "tp=4,cp=2,dp=2", "allreduce")
    assert len({order.names for order in table.orders}) == 6
    times = [order.time for order in table.orders]
    assert times == sorted(times)
    for order in table.orders:
        sizes = {"tp": 4, "cp": 2, "dp": 2}
        layout = ",".join(f"{name}={sizes[name]}" for name in order.names)
        best = groups_optimum("dgx-a100:boxes=2", layout_groups(layout, "dp"), "allreduce")
        assert order.algbws["dp"] == best.algbw


def test_dimensions_of_size_1_have_no_row() -> None:
    table = layout_table("ring:nodes=4", "tp=4,dp=1", "allgather")
    assert [(row.name, row.algbw) for row in table.rows] == [("tp", Fraction(8, 3))]
    assert len(table.orders) == 2


def test_groups_without_relays_are_never_faster() -> None:
    pairs = layout_groups("tp=4,dp=4", "dp")
    best = groups_optimum("dgx-h100:boxes=2", pairs, "allreduce")
    bare = groups_optimum("dgx-h100:boxes=2", pairs, "allreduce", relays=False)
    assert bare.algbw <= best.algbw == best.bound.algbw
    assert bare.bound.algbw == best.bound.algbw
    assert not any(bare.uses_relays(group) for group in range(len(pairs)))
    assert group_gains(best).without_relays == bare.algbw
