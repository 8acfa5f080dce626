"""Upgrades and new links are compared with fresh runs on the changed networks; classes of symmetric changes."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_failures import counted, random_network

from forestcoll import additions, failures, optimum, upgrades
from forestcoll.base.errors import InputError
from forestcoll.demand.demand import Demand
from forestcoll.presentation.results.comparisons.what_if import study_page
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import load_topology
from forestcoll.what_if.exchanges import exchanges_of_boxes
from forestcoll.what_if.upgrades import Upgrade
from networks import examples
from refusal import refusal


def network_of(network: str | int) -> Topology:
    return load_topology(network) if isinstance(network, str) else random_network(network)


def upgraded(topology: Topology, row: Upgrade, bandwidth: Fraction, demand: str = "allgather") -> Fraction:
    factor = bandwidth / row.bandwidth
    now = {(link.source, link.target): link.bandwidth for link in topology.links}
    more: dict[tuple[int, int], Fraction] = {
        way: now[way] * factor for ends in row.links for way in (ends, ends[::-1]) if way in now
    }
    return Fraction(optimum(topology.with_bandwidths(more), demand).algbw)


@pytest.mark.parametrize(
    "network", ["dgx-a100:boxes=2,gpus=4", "mi250:boxes=2,gpus=8", "ring:nodes=5", 1, 2, 3, 4, 9, 12]
)
def test_every_point_of_a_curve_is_that_of_a_fresh_run(network: str | int) -> None:
    topology = network_of(network)
    study = upgrades(topology)
    assert study.base.algbw == optimum(topology).algbw
    for row in study.rows:
        for (low, below), (high, above) in zip(row.curve, row.curve[1:], strict=False):
            assert upgraded(topology, row, low) == below
            assert upgraded(topology, row, (low + high) / 2) == (below + above) / 2
        assert upgraded(topology, row, row.at) == row.algbw
        assert row.ratio == row.algbw / study.base.algbw


CLUSTERS = st.builds(
    "cluster:box={},boxes={},nics={},nic_bandwidth={}{}".format,
    st.sampled_from(["dgx-h100", "dgx-h100:nvls=false", "dgx-a100"]).map(lambda box: f"'{box}'" if ":" in box else box),
    st.integers(2, 4),
    st.sampled_from([2, 4, 8]),
    st.sampled_from([25, 50, 400]),
    st.sampled_from(["", ",rails=1", ",boxes_per_leaf=1,oversubscription=2"]),
)
"""Clusters of boxes, with one network or several, and with NICs that are slower or faster than the box."""


@examples(30)
@given(CLUSTERS, st.sampled_from(["allgather", "reduce-scatter", "allreduce", "broadcast:root=0", "reduce:root=0"]))
def test_what_if_of_clusters_is_that_of_fresh_runs(network: str, demand: str) -> None:
    topology = load_topology(network)
    study = upgrades(topology, demand)
    assert study.base.algbw == optimum(topology, demand).algbw
    for row in study.rows:
        assert upgraded(topology, row, row.at, demand) == row.algbw
    for failed in failures(topology, "nics", demand).rows:
        assert failed.value.algbw == optimum(failed.change.applied(topology), demand).algbw
    assert all(row.value.algbw >= study.base.algbw for row in additions(topology, demand, bandwidth=50).rows[:3])


@pytest.mark.parametrize("network", ["dgx-a100:boxes=2,gpus=4", "mi250:boxes=2,gpus=8", 2, 3, 9])
def test_a_breakpoint_is_the_least_bandwidth_that_gains_all(network: str | int) -> None:
    topology = network_of(network)
    for row in upgrades(topology).rows:
        if row.breakpoint is None:
            last = row.curve[-1][0]
            gain = upgraded(topology, row, 5 * last) - upgraded(topology, row, 4 * last)
            assert gain == row.gain_beyond * last > 0  # type: ignore[operator]
            continue
        assert row.gain_beyond == 0
        assert upgraded(topology, row, 1000 * row.breakpoint) == row.algbw
        if row.breakpoint > row.bandwidth:
            assert upgraded(topology, row, row.breakpoint * Fraction(999, 1000)) < row.algbw


def test_upgrades_on_an_executor_are_the_same() -> None:
    for network, collective in (("dgx-a100:boxes=2,gpus=4", "allreduce"), (4, "allgather")):
        topology = network_of(network)
        with ThreadPoolExecutor(2) as threads:
            assert upgrades(topology, collective, executor=threads).rows == upgrades(topology, collective).rows


def test_a_known_breakpoint() -> None:
    """Two A100 boxes: with b between GPU and NVSwitch, all but one GPU give (25 + b) 16/15; a box gives 400 at most."""
    row = upgrades("dgx-a100:boxes=2").rows[0]
    assert row.name == "16 links of 300 GB/s between GPUs and box switches"
    assert (row.count, str(row.bandwidth), str(row.breakpoint), str(row.algbw)) == (1, "300", "350", "400")
    assert row.ratio == Fraction(15, 13)
    row = upgrades("dgx-a100:boxes=2", "allreduce").rows[0]
    assert row.breakpoint == 350
    assert row.algbw == 200
    row = upgrades("ring:nodes=4").rows[0]  # more of all its links always gains
    assert row.breakpoint is None
    assert row.at == row.ratio == 2


@pytest.mark.parametrize("network", ["mesh:dims=4", "dgx-a100:boxes=2,gpus=2", 3, 4, 9])
def test_new_links_are_those_of_fresh_runs(network: str | int) -> None:
    topology = network_of(network)
    expected: Counter[Fraction] = Counter()
    now = {(link.source, link.target): link.bandwidth for link in topology.links}
    for ends in combinations(range(len(topology.nodes)), 2):
        more = {way: now.get(way, Fraction(0)) + 3 for way in (ends, ends[::-1])}
        expected[optimum(topology.with_bandwidths(more)).algbw] += 1
    study = additions(topology, bandwidth=3)
    assert counted(study) == expected
    for row in study.rows:
        changed = row.change.applied(topology)
        inside = set(row.value.cut)
        leaving = sum(link.bandwidth for link in changed.links if link.source in inside and link.target not in inside)
        whole = len(topology.compute)
        assert row.value.algbw == leaving / Fraction(len(inside & set(topology.compute)), whole)


@pytest.mark.parametrize("collective", ["reduce-scatter", "broadcast", "reduce"])
@pytest.mark.parametrize("network", ["mesh:dims=4", "dgx-a100:boxes=2,gpus=2", 3])
def test_new_links_of_a_fraction_are_those_of_fresh_runs(network: str | int, collective: str) -> None:
    topology = network_of(network)
    root = topology.nodes[topology.compute[0]].id if collective in {"broadcast", "reduce"} else None
    for row in additions(topology, Demand(collective, root=root), bandwidth=Fraction(3, 7)).rows:
        assert row.value.algbw == optimum(row.change.applied(topology), Demand(collective, root=root)).algbw


@pytest.mark.parametrize("network", ["mesh:dims=4", "mi250:boxes=2,gpus=8", "dgx-a100:boxes=2,gpus=2", 1, 3, 4, 9])
def test_pairs_of_a_large_network_that_are_left_out_gain_nothing(
    network: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = network_of(network)
    whole = additions(topology, bandwidth=2)
    monkeypatch.setattr("forestcoll.what_if.additions._MOST_NODES", 0)
    part = additions(topology, bandwidth=2)
    now = whole.base.algbw
    one, other = ({value: count for value, count in counted(each).items() if value > now} for each in (whole, part))
    assert one == other
    assert len(part.rows) <= len(whole.rows)


def test_a_large_network_without_a_link_that_gains_or_with_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.what_if.additions._MOST_NODES", 0)
    study = additions("dgx-a100:boxes=4")
    assert study.rows == ()
    assert "No new link gains anything." in study_page(study, "new link").lines()
    monkeypatch.setattr("forestcoll.what_if.additions._MOST_PAIRS", 0)
    with pytest.raises(InputError, match="1 pairs of nodes may gain from a link, 0 at most"):
        additions("mesh:dims=4")


def test_a_new_link_is_as_fast_as_both_ends_allow() -> None:
    names = {row.change.name for row in additions("dgx-a100:boxes=2").rows}
    assert "b0/gpu0--b0/gpu1=300" in names
    assert "b0/nvswitch--ib=25" in names


@pytest.mark.parametrize(
    ("value", "said"), [("x", "such as 25"), (0, "must be greater than 0"), ("-1GB/s", "greater than 0")]
)
def test_a_wrong_bandwidth_is_refused(value: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        additions("ring:nodes=4", bandwidth=value)


@pytest.mark.parametrize("network", ["dgx-a100:boxes=2,gpus=2", "mesh:dims=4", 3, 9])
@pytest.mark.parametrize("collective", ["all-to-all", "gather", "scatter"])
def test_gains_of_exchanges_are_those_of_fresh_runs(network: str | int, collective: str) -> None:
    topology = network_of(network)
    root = "" if collective == "all-to-all" else f":root={topology.nodes[topology.compute[0]].id}"
    demand = f"{collective}{root}"
    for row in upgrades(topology, demand).rows:
        for (low, below), (high, above) in zip(row.curve, row.curve[1:], strict=False):
            assert upgraded(topology, row, low, demand) == below
            assert upgraded(topology, row, (low + high) / 2, demand) == (below + above) / 2
        assert upgraded(topology, row, row.at, demand) == row.algbw
        beyond = upgraded(topology, row, 1000 * row.at, demand)
        assert beyond == row.algbw if row.breakpoint is not None else beyond > row.algbw
    for new in additions(topology, demand, bandwidth=3).rows:
        assert new.value.algbw == optimum(new.change.applied(topology), demand).algbw


def test_boxes_can_be_exchanged_where_a_link_is_broken() -> None:
    whole = load_topology("superpod-h100:boxes=5")
    broken = changed_network(whole, ["b2/gpu3--leaf3"])
    assert len(list(exchanges_of_boxes(whole))) == 4
    images = list(exchanges_of_boxes(broken))
    assert len(images) == 3
    third = [number for number, node in enumerate(broken.nodes) if node.attributes.get("box") == 2]
    assert all((image[third] == third).all() for image in images)


def test_unlike_boxes_are_not_exchanged() -> None:
    builder = TopologyBuilder("unlike")
    for box, bandwidth in enumerate((5, 6, 5)):
        builder.add_duplex(builder.add_compute(f"a{box}", box=box), builder.add_compute(f"b{box}", box=box), bandwidth)
    builder.add_switch("fabric")
    for box in range(3):
        builder.add_duplex(f"a{box}", "fabric", 1)
    (image,) = exchanges_of_boxes(builder.build())
    assert image.tolist() == [4, 5, 2, 3, 0, 1, 6]


def test_prices_make_the_upgrade_that_gains_most_for_the_money_the_first() -> None:
    """Of two A100 boxes, 50 GB/s more on 16 links to NVSwitches gain 160/3, and 25 more on 16 NICs half of that."""
    cheap, costly = (upgrades("dgx-a100:boxes=2", prices=[f"nic={nic}", "GPU--box switch=10"]).rows for nic in (1, 20))
    assert [row.name.partition(" between ")[0] for row in (cheap[0], costly[0])] == [
        "16 links of 25 GB/s",
        "16 links of 300 GB/s",
    ]
    row = costly[0]
    assert row.price == 160
    assert row.cost == 160 * 50
    assert row.gain_per_cost == Fraction(160, 3) / 8000
    assert cheap[0].cost == 16 * 25
    assert cheap[0].gain_per_cost == Fraction(16, 15) / 16  # a NIC of 1 more gives each GPU 1 more of 15/16
    unpriced = next(row for row in upgrades("dgx-a100:boxes=2", prices=["nic=1"]).rows if row.bandwidth == 300)
    assert unpriced.cost is unpriced.gain_per_cost is None


def test_a_curve_in_money_gains_most_at_first() -> None:
    for row in upgrades("mi250:boxes=2", prices=["GPU--GPU=2", "nic=3"]).rows:
        cost, gain = row.cost, row.gain_per_cost
        if cost is not None and gain is not None and row.curve:
            assert row.algbw - row.curve[0][1] <= gain * cost


def test_a_nic_with_two_nodes_has_one_price() -> None:
    builder = TopologyBuilder("two")
    for box in range(2):
        for gpu in range(2):
            builder.add_compute(f"b{box}/g{gpu}", box=box)
        builder.add_duplex(f"b{box}/g0", f"b{box}/g1", 100)
        for way in ("out", "in"):
            builder.add_switch(f"b{box}/nic/{way}", box=box, device="nic", nic=f"b{box}/nic")
    builder.add_switch("fabric")
    for box in range(2):
        for gpu in range(2):
            builder.add_link(f"b{box}/g{gpu}", f"b{box}/nic/out", 10)
            builder.add_link(f"b{box}/nic/in", f"b{box}/g{gpu}", 10)
        builder.add_link(f"b{box}/nic/out", "fabric", 10)
        builder.add_link("fabric", f"b{box}/nic/in", 10)
    network = builder.build()
    assert [each.change.name for each in failures(network, "nics").rows] == ["b0/nic"]
    row = upgrades(network, prices=["nic=7"]).rows[0]
    assert row.price == 14  # two NICs
    assert row.ratio > 1


def test_an_adapter_that_is_a_compute_node_has_a_whole_price() -> None:
    builder = TopologyBuilder("fabric")
    for host in range(2):
        builder.add_compute(f"h{host}/mlx5_0", box=f"h{host}", nic="mlx5_0")  # as ibnetdiscover is imported
    builder.add_switch("leaf")
    for host in range(2):
        builder.add_duplex(f"h{host}/mlx5_0", "leaf", 50)
    assert upgrades(builder.build(), prices=["nic=7"]).rows[0].price == 14


@pytest.mark.parametrize("text", ["nic", "nic=0", "nic=-1", "nic=x", "=5", "b0/gpu0--b1/gpu0=3", "GPU--spine switch=1"])
def test_a_price_of_no_links_or_no_money_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        upgrades("dgx-a100:boxes=2", prices=[text])


def test_a_price_that_is_too_long_is_refused_with_the_limit() -> None:
    assert refusal(lambda: upgrades("dgx-a100:boxes=2", prices=["nic=1e300"])) == (
        "price 'nic=1e300': expected LINKS=PRICE, a number greater than 0 of at most 60 digits, as in nic=20"
    )
