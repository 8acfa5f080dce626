"""Layouts: the groups of each dimension, the first one fastest."""

from forestcoll.demand.groups.layout import DIMENSIONS, Layout
from forestcoll.topology.registry import load_topology
from refusal import refusal


def layout_groups(layout: str, run: str | None = None) -> tuple[tuple[int, ...], ...]:
    found = Layout.of(layout)
    return tuple(group for name in found.running(run) for group in found.groups(name))


def test_the_first_dimension_is_the_fastest() -> None:
    assert layout_groups("tp=2,dp=3", "tp") == ((0, 1), (2, 3), (4, 5))
    assert layout_groups("tp=2,dp=3") == layout_groups("tp=2,dp=3", "dp") == ((0, 2, 4), (1, 3, 5))
    assert layout_groups("TP=2, cp=2, dp=2", "cp") == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert layout_groups("tp=2,dp=2", "dp,tp") == ((0, 2), (1, 3), (0, 1), (2, 3))  # run in the given order


def test_the_groups_of_each_dimension_contain_each_rank_once() -> None:
    layout = Layout.of("pp=3,tp=4,ep=2,cp=1,dp=5,fsdp=2")
    assert set(layout.names) == set(DIMENSIONS)
    for name, size in layout.sizes:
        groups = layout.groups(name)
        assert {len(group) for group in groups} == {size}
        assert sorted(rank for group in groups for rank in group) == list(range(layout.ranks))


def test_wrong_layouts_are_refused() -> None:
    for layout, run, message in [
        ("", None, "layout: '' is not a dimension; write it as in tp=8"),
        ("tp", None, "layout: 'tp' is not a dimension; write it as in tp=8"),
        ("tp=0", None, "layout: 'tp=0' is not a dimension; write it as in tp=8"),
        ("tp=-2", None, "layout: 'tp=-2' is not a dimension; write it as in tp=8"),
        ("xp=2", None, "layout: there is no dimension 'xp'; "),
        ("tp=2,tp=2", None, "layout: tp is given twice; give each dimension once"),
        ("tp=2,dp=2", "pp", "run: 'pp' is not in layout tp=2,dp=2; name one of tp, dp"),
        ("tp=2,dp=2", "tp,tp", "run: tp is named twice; name each dimension once"),
        ("tp=2,dp=1", None, "run: dp has size 1, so its groups have one rank each; name another dimension"),
    ]:
        assert refusal(layout_groups, layout, run).startswith(message)


def test_a_layout_with_another_number_of_ranks_points_to_groups() -> None:
    network = load_topology("dgx-a100:boxes=4").without("b3/gpu7")
    assert refusal(Layout.of("tp=8,dp=4").check, network) == (
        "layout tp=8,dp=4 has 32 ranks, and dgx-a100:boxes=4 without b3/gpu7 has 31 compute nodes; the sizes must "
        "multiply to this number; if some take no part, list the groups (--groups '0,8,16;1,9,17')"
    )
