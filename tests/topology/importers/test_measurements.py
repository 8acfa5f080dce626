"""Networks from measurements of `forestcoll probe`: recorded ones, and computed ones of networks that are known.

The files in `recorded/` were measured with gloo on networks of `forestcoll emulate`, with 300 Mbit/s for 300 GB/s, on
two cores that other programs used, too. The times are divided by 8000, so that the bandwidths are the real ones.
Latencies are left out, because the emulation has none.
"""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.measurement.probe.plan import steps_of
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.imported import Imported
from forestcoll.topology.importers.measurements.document import (
    Host,
    Latency,
    Measurement,
    Measurements,
    Probe,
    measurements_text,
)
from forestcoll.topology.importers.measurements.speeds import BOX_SPEEDS, NETWORK_SPEEDS, nearest_speed
from forestcoll.topology.importers.reading import import_topology
from forestcoll.topology.model import Topology
from import_tools import import_text, links, problem

RECORDED = Path(__file__).parent / "recorded"
Path_ = Callable[[int, int], dict[object, float]]
"""What a send between two ranks uses, with the bandwidth in GB/s."""


def computed(hosts: Sequence[Sequence[int]], path: Path_, noise: float = 0.0) -> Measurements:
    """The measurements of a network in which a send takes as long as the busiest of what it uses."""
    measured: list[Measurement] = []
    for step in steps_of(hosts):
        for sends in step:
            loads: dict[object, float] = {}
            for one, other in sends.pairs:
                for each, bandwidth in path(one, other).items():
                    loads[each] = loads.get(each, 0.0) + 2**20 / bandwidth / 1e9
            slower = 1 + noise * (len(measured) * 7 % 11) / 10
            flows = [
                Probe(one, other, 2**20, Fraction(slower * max(loads[each] for each in path(one, other))))
                for one, other in sends.pairs
            ]
            measured.append(Measurement(sends.kind, tuple(flows)))
    latencies = [Latency(hosts[0][0], hosts[-1][-1], Fraction(1, 50_000))]
    named = tuple(Host(f"node{place}", tuple(ranks)) for place, ranks in enumerate(hosts))
    return Measurements(named, "gloo", 3, tuple(measured), tuple(latencies))


def cluster(hosts: int, ranks: int) -> list[list[int]]:
    return [list(range(host * ranks, (host + 1) * ranks)) for host in range(hosts)]


def imported(measurements: Measurements, **options: str | float) -> Imported:
    return import_text(measurements_text(measurements), **options)


def switched(ranks: int, port: float, outside: Path_) -> Path_:
    """Hosts of some ranks, whose ranks are ports of a switch."""

    def path(one: int, other: int) -> dict[object, float]:
        if one // ranks == other // ranks:
            return {("out", one): port, ("in", other): port}
        return outside(one, other)

    return path


def own_nics(one: int, other: int) -> dict[object, float]:
    return {("up", one): 25, ("down", other): 25}


def network(
    hosts: int, ranks: int, port: float, nic: float, group: int = 1, *, uplinks: tuple[int, int] = (0, 0)
) -> Topology:
    """Hosts with a switch, and a NIC for each `group` ranks; leaf switches of `uplinks[0]` hosts with `uplinks[1]`."""
    builder = TopologyBuilder("known")
    core = builder.add_switch("core")
    for host in range(hosts):
        top = core
        if uplinks[0]:
            top = f"leaf{host // uplinks[0]}"
            if host % uplinks[0] == 0:
                builder.add_duplex(builder.add_switch(top), core, uplinks[1])
        switch = builder.add_switch(f"switch{host}")
        for rank in range(ranks):
            builder.add_compute(f"{host}/{rank}")
            builder.add_duplex(f"{host}/{rank}", switch, port)
            if group == 1:
                builder.add_duplex(f"{host}/{rank}", top, nic)
                continue
            name = f"nic{host}/{rank // group}"
            if rank % group == 0:
                builder.add_duplex(builder.add_switch(name), top, nic)
            builder.add_duplex(f"{host}/{rank}", name, nic)
    return builder.build()


def direct_links() -> Topology:
    builder = TopologyBuilder("direct")
    fabric = builder.add_switch("fabric")
    for rank in range(8):
        builder.add_duplex(builder.add_compute(rank), fabric, 25)
        for other in range(rank - rank % 4, rank):
            builder.add_duplex(rank, other, 100)
    return builder.build()


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("own-nics", network(2, 4, 300, 25), "each rank has a NIC of its own"),
        ("shared-nics", network(2, 4, 300, 25, 2), "8 ranks share 4 NICs"),
        ("one-nic", network(2, 4, 300, 50, 4), "all ranks of a host share one link to the outside"),
        ("direct-links", direct_links(), "the ranks of a box have direct links"),
        ("leaf-switches", network(4, 2, 300, 25, uplinks=(2, 50)), "4 hosts are below 2 leaf switches"),
    ],
)
def test_recorded_measurements_give_the_network_that_was_emulated(name: str, known: Topology, said: str) -> None:
    found = import_topology(RECORDED / f"{name}.json")
    assert found.format == "measurements"
    assert any(text.startswith(said) for text in found.assumed)
    assert [node.id for node in found.topology.nodes[:2]] == ["h0/rank0", "h0/rank1"]
    for collective in ("allgather", "allreduce"):
        assert optimum(found.topology, collective).algbw == optimum(known, collective).algbw


def test_ports_of_a_switch_and_own_nics_and_ranks_that_are_no_neighbours() -> None:
    found = imported(computed(cluster(2, 4), switched(4, 270, own_nics)))
    assert found.bandwidths == {Fraction(300): 16, Fraction(25): 16}
    assert links(found)["node0/rank1", "node0/switch"] == 300
    assert links(found)["fabric", "node1/rank4"] == 25
    assert found.boxes == 2
    assert optimum(found.topology).algbw == optimum(network(2, 4, 300, 25)).algbw
    found = imported(computed([[0, 2], [1, 3]], lambda one, other: {("up", one): 12.5, ("down", other): 12.5}))
    ids = [node.id for node in found.topology.nodes[:4]]
    assert ids == ["node0/rank0", "node1/rank1", "node0/rank2", "node1/rank3"]


def test_each_direction_and_each_direct_link_has_its_own_bandwidth() -> None:
    box = [[0, 1, 2, 3]]
    found = imported(computed(box, lambda one, other: {("out", one): 50, ("in", other): 100}))
    assert links(found)["node0/rank0", "node0/switch"] == 50
    slow = imported(computed(box, lambda one, other: {("out", one): 100, ("in", other): 12.5 if other else 50}))
    assert links(slow)["node0/switch", "node0/rank1"] == Fraction(25, 2)
    assert links(slow)["node0/switch", "node0/rank0"] == 50
    found = imported(computed([[0, 1, 2, 3]], lambda one, other: {(one, other): 50 if abs(one - other) == 2 else 25}))
    assert found.topology.switches == ()
    assert links(found)["node0/rank0", "node0/rank2"] == 50
    assert found.bandwidths == {Fraction(50): 4, Fraction(25): 8}


def test_ranks_that_share_a_nic_need_not_be_neighbours() -> None:
    def shared(nics: int) -> Imported:
        def outside(one: int, other: int) -> dict[object, float]:
            return {("up", one // 4, one % nics): 12.5, ("down", other // 4, other % nics): 12.5}

        found = imported(computed(cluster(3, 4), switched(4, 300, outside)))
        assert optimum(found.topology).algbw == optimum(network(3, 4, 300, 12.5, 4 // nics)).algbw
        return found

    shared(1)
    found = shared(2)
    assert links(found)["node0/rank0", "node0/nic0"] == links(found)["node0/rank2", "node0/nic0"] == Fraction(25, 2)
    assert ("node0/rank1", "node0/nic0") not in links(found)
    assert found.nics == 6


def test_a_nic_behind_the_switch_of_the_box() -> None:
    def path(one: int, other: int) -> dict[object, float]:
        ports: dict[object, float] = {("out", one): 16, ("in", other): 16}
        if one // 4 == other // 4:
            return ports
        return ports | {("up", one // 4): 12.5, ("down", other // 4): 12.5}

    found = imported(computed(cluster(2, 4), path))
    assert any(text.startswith("the NIC is behind the switch of the box") for text in found.assumed)
    assert links(found)["node0/switch", "node0/nic"] == links(found)["node0/nic", "fabric"] == Fraction(25, 2)
    assert ("node0/rank0", "node0/nic") not in links(found)


@pytest.mark.parametrize(
    ("hosts", "leaf", "uplink", "count"),
    [(8, 2, 50, 2), (8, 4, 100, 4), (8, 4, 50, 2), (32, 8, 200, 8), (24, 6, 75, 3)],
)
def test_uplinks_of_leaf_switches(hosts: int, leaf: int, uplink: int, count: int) -> None:
    def outside(one: int, other: int) -> dict[object, float]:
        below = own_nics(one, other)
        leaves = [rank // 2 // leaf for rank in (one, other)]
        if leaves[0] == leaves[1]:
            return below
        return below | {("leaf-up", leaves[0]): uplink, ("leaf-down", leaves[1]): uplink}

    found = imported(computed(cluster(hosts, 2), switched(2, 300, outside), noise=0.05))
    assert any(f"({count} x 25 GB/s)" in text for text in found.assumed)
    assert links(found)["leaf0", "core"] == links(found)["core", "leaf1"] == uplink
    assert optimum(found.topology).algbw == optimum(network(hosts, 2, 300, 25, uplinks=(leaf, uplink))).algbw


def test_hosts_of_one_rank_have_no_switches_and_latencies_add_up() -> None:
    found = imported(computed(cluster(3, 1), own_nics))
    assert found.bandwidths == {Fraction(25): 6}
    assert [node.id for node in found.topology.nodes] == ["node0/rank0", "node1/rank1", "node2/rank2", "fabric"]
    found = imported(computed(cluster(2, 1), own_nics))
    assert {link.latency_us for link in found.topology.links} == {Fraction(10)}


def test_figures_are_kept_if_they_are_not_to_be_rounded_and_the_same_file_gives_the_same_network() -> None:
    found = imported(computed([[0, 1]], lambda one, other: {(one, other): 11.2345678}), rounding="none")
    assert set(found.bandwidths) == {Fraction("11.2346")}
    assert import_text(measurements_text(computed([[0, 1]], lambda *_: {0: 11.2}))).bandwidths == {Fraction(25, 2): 2}
    assert not any("measured" in text for text in found.assumed)
    measurements = computed(cluster(4, 3), switched(3, 280, own_nics), noise=0.08)
    one, other = imported(measurements), imported(measurements)
    assert (one.topology, one.assumed) == (other.topology, other.assumed)


def test_measurements_that_fit_badly_are_listed_with_their_errors() -> None:
    measurements = computed([[0, 1, 2, 3]], lambda one, other: {("out", one): 50, ("in", other): 50})
    slow = Measurement("pair", (Probe(0, 1, 2**20, measurements.measurements[0].seconds * 2),))
    changed = Measurements(measurements.hosts, "gloo", 3, (slow, *measurements.measurements[1:]))
    said = imported(changed).assumed
    worst = "before rounding, the network fits the 23 measurements with errors up to 50.0%"
    assert any(text.startswith(worst) for text in said)
    assert "fits badly: pair, ranks 0 -> 1: 25 GB/s measured, 50 GB/s by the fit (-50%)" in said
    assert not any(text.startswith("fits badly") for text in imported(measurements).assumed)


def test_figures_below_a_speed_are_nearer_than_figures_above_it() -> None:
    speeds = {273: 300, 374: 450, 24.1: 25, 46.5: 46, 49.6: 50, 11.0: 12.5, 11.6: 12.5, 2.9: 3.125, 26.4: 25}
    for measured, value in speeds.items():
        assert nearest_speed(measured, (*BOX_SPEEDS, *NETWORK_SPEEDS)).value == Fraction(value), measured
    found = nearest_speed(0.0337, NETWORK_SPEEDS)
    assert (found.value, found.name) == (Fraction("0.034"), "no speed of the table is near, so rounded to two digits")


def flows(*flow: object) -> dict[str, object]:
    return {"measurements": [{"kind": "pair", "flows": [flow] if flow else []}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hosts": []}, "the ranks are not 0 to 1, each on one host"),
        ({"hosts": [{"name": "a", "ranks": [0, 2]}]}, "the ranks are not 0 to 1, each on one host"),
        ({"hosts": [{"name": "a", "ranks": [0]}, {"name": "a", "ranks": [1]}]}, "two have the same name"),
        ({"hosts": [{"ranks": [0]}]}, 'hosts[0] is {"ranks": [0]}; expected'),
        ({"hosts": 3}, "hosts is 3; expected a list"),
        ({"measurements": []}, "measurements is empty; run forestcoll probe again"),
        ({"measurements": [{"flows": [[0, 1, 8, 1]]}]}, "measurements[0] is "),
        (flows(), "measurements[0].flows is empty"),
        (flows(0, 0, 8, 1), "rank 0 sends to itself"),
        (flows(0, 1, 0, 1), "flows[0][2] is 0; expected the number of bytes"),
        (flows(0, 1, 8, 0), "flows[0][3] is 0; expected seconds, greater"),
        (flows(0, 1, 8, "x"), "flows[0][3]: 'x'"),
        (flows(0, 9, 8, 1), "flows[0][1] is 9; expected 1 at most"),
        (flows(0, 1, 8), "expected a list of 4 numbers"),
        (flows(0, 1, 8, 1), "compute node 'node0/rank1' cannot reach"),
        ({"latencies": [[0, 1]]}, "latencies[0] is [0, 1]; expected a list of 3 numbers"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(change: dict[str, object], said: str) -> None:
    good = json.loads(measurements_text(computed([[0, 1]], lambda *_: {0: 10.0})))
    assert said in problem(json.dumps(good | change))
