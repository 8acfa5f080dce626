"""Graph files for NCCL: the fewest channels that reach the optimum of rings, what the file says, what is refused."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from pathlib import Path

import pytest

from forestcoll import Topology, TopologyBuilder, compare, generate, load_topology
from forestcoll.nccl.graph.file import read_graphs
from forestcoll.nccl.graph.given import scheduled_graphs
from forestcoll.nccl.graph.hosts import host_graphs
from forestcoll.topology.changes import changed_network
from forestcoll.topology.importers.source import Source
from refusal import refusal

MESH = "hgx-a100-4:boxes=1"
LOST = "b0/gpu0--b0/gpu1=75"
"""One of the four NVLinks of a pair is lost."""


def mesh(*bandwidths: int) -> Topology:
    """Return four GPUs, each pair with a link of its own bandwidth."""
    builder = TopologyBuilder("mesh")
    for gpu in range(4):
        builder.add_compute(gpu)
    for pair, bandwidth in zip([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], bandwidths, strict=True):
        builder.add_duplex(*pair, bandwidth)
    return builder.build()


def reached(topology: Topology, rings: tuple[tuple[int, ...], ...]) -> Fraction:
    """Return what equal rings carry together: an oracle of its own."""
    loads = Counter(hop for ring in rings for hop in zip(ring, (*ring[1:], ring[0]), strict=True))
    return len(rings) * min(topology.bandwidths[hop] / load for hop, load in loads.items())


@pytest.mark.parametrize("bandwidths", [(1,) * 6, (3, 4, 4, 4, 4, 4), (2, 1, 1, 1, 1, 2), (1, 2, 2, 2, 2, 1)])
def test_no_fewer_channels_reach_as_much(bandwidths: tuple[int, ...]) -> None:
    topology = mesh(*bandwidths)
    [found] = host_graphs(topology)
    rings = found.rings
    assert rings is not None
    assert rings.is_proven
    assert reached(topology, rings.orders) == rings.total == rings.optimum
    every = [(0, *order) for order in permutations((1, 2, 3))]
    for count in range(1, min(len(rings.orders), 8)):
        assert all(reached(topology, few) < rings.total for few in combinations_with_replacement(every, count)), count


def test_a_mesh_with_a_lost_nvlink_keeps_all_that_its_gpus_have() -> None:
    # NCCL's own search reaches 180 of 220 GB/s; speeds in the file are NCCL's, 20 GB/s for an NVLink.
    [found] = host_graphs(changed_network(load_topology(MESH), degrade=[LOST]))
    assert found.rings is not None
    assert (len(found.rings.orders), found.rings.total, found.sms) == (22, Fraction(275), 44)
    read = read_graphs(Source("g", found.text, "g")).rings
    assert read is not None
    assert (read.speed * 22, read.kind, read.devices) == (Fraction(220), "NVL", (0, 1, 2, 3))


def test_an_allreduce_on_a_damaged_mesh_gets_chains_which_reach_the_bound(tmp_path: Path) -> None:
    network = changed_network(load_topology(MESH), degrade=[LOST])
    [found] = host_graphs(network, "allreduce")
    assert found.rings is not None
    assert found.chains is not None
    assert len(found.rings.orders) == len(found.chains.orders) == 23
    (tmp_path / "g.xml").write_text(found.text)
    rows = compare(network, "allreduce", sizes=[2**20], baselines=[tmp_path / "g.xml"])
    assert rows.row(f"{tmp_path / 'g.xml'}: trees").algbw == rows.optimal_algbw == Fraction(575, 3)
    assert host_graphs(load_topology(MESH), "allreduce")[0].chains is None


def test_rings_of_several_hosts_use_each_nic_and_reach_the_bound_of_rings(tmp_path: Path) -> None:
    for spec, channels, algbw in [
        ("dgx-a100:boxes=2", 8, "640/3"),
        ("dgx-2:boxes=2", 8, "3200/31"),
        ("aws-p5:boxes=2", 32, "1280/3"),
        ("hgx-a100-4:boxes=3", 4, "1200/11"),
    ]:
        [found] = host_graphs(load_topology(spec))
        assert found.rings is not None
        assert len(found.rings.orders) == channels
        (tmp_path / "g.xml").write_text(found.text)
        row = compare(spec, sizes=[2**20], baselines=[tmp_path / "g.xml"]).row(f"{tmp_path / 'g.xml'}: rings")
        assert row.algbw == Fraction(algbw), spec


def test_a_channel_is_no_faster_than_two_sms_of_the_gpu() -> None:
    for spec, count in [("dgx-a100:boxes=1", 5), ("dgx-h100:boxes=1", 5), ("dgx-b200:boxes=1", 6)]:
        rings = host_graphs(load_topology(spec))[0].rings
        assert rings is not None
        assert (len(rings.orders), rings.total) == (count, rings.optimum), spec


def test_hosts_that_differ_have_as_many_channels_as_each_other() -> None:
    found = host_graphs(load_topology("dgx-h100:boxes=3").without("b1/gpu0--ib"))
    assert [each.hosts for each in found] == [("b0", "b2"), ("b1",)]
    assert [(len(each.rings.orders), each.rings.total) for each in found if each.rings] == [(7, Fraction(350))] * 2


def test_the_file_has_hexadecimal_devices_and_opposite_rings_in_pairs() -> None:
    [found] = host_graphs(load_topology("dgx-a100:boxes=2,gpus=2"))
    assert found.text == (
        '<graphs version="1">\n'
        '  <graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="25" speedinter="25" latencyinter="0" '
        'typeintra="NVL" typeinter="PIX" samechannels="0">\n'
        '    <channel><net dev="0x0"/><gpu dev="0x0"/><gpu dev="0x1"/><net dev="0x1"/></channel>\n'
        '    <channel><net dev="0x1"/><gpu dev="0x1"/><gpu dev="0x0"/><net dev="0x0"/></channel>\n'
        "  </graph>\n"
        "</graphs>\n"
    )


@pytest.mark.parametrize(
    "spec", ["mi250:boxes=1", "dgx-a100:boxes=2", "dgx-a100:boxes=3,pcie=true", "dgx-2:boxes=2", "aws-p5:boxes=2"]
)
def test_a_schedule_of_rings_is_written_as_it_is(tmp_path: Path, spec: str) -> None:
    for collective in ("allgather", "allreduce"):
        schedule = generate(spec, collective, "nccl-ring")
        [found] = scheduled_graphs(schedule)
        (tmp_path / "g.xml").write_text(found.text)
        rows = compare(spec, collective, sizes=[2**20], baselines=[tmp_path / "g.xml"])
        assert rows.row(f"{tmp_path / 'g.xml'}: rings").algbw == schedule.algbw


def test_a_schedule_of_other_trees_is_refused() -> None:
    assert "its trees are no rings" in refusal(scheduled_graphs, generate("hypercube:dim=3"))
    assert "NCCL's rings are for an allgather" in refusal(
        scheduled_graphs, generate("ring:nodes=4", "broadcast:root=0")
    )
    assert "36 equal channels" in refusal(scheduled_graphs, generate("dgx-1:boxes=1", method="nccl-ring"))


def test_what_nccl_cannot_say_is_one_line() -> None:
    assert "b0 has 72 GPUs" in refusal(host_graphs, load_topology("gb200-nvl72"))
    assert "no rings for an all-to-all" in refusal(host_graphs, load_topology(MESH), "all-to-all")
    star = TopologyBuilder("star")
    for leaf in range(4):
        star.add_compute(leaf)
    for leaf in range(1, 4):
        star.add_duplex(0, leaf, 1)
    assert "no ring passes through all GPUs" in refusal(host_graphs, star.build())
    shared = TopologyBuilder("shared")
    for rank in range(2):
        shared.add_compute(rank, box="host", gpu="0")
    shared.add_duplex(0, 1, 1)
    assert "several ranks share a GPU" in refusal(host_graphs, shared.build())
    joined = TopologyBuilder("joined")
    switch = joined.add_switch("switch", device="nvswitch")
    for rank in range(4):
        joined.add_duplex(joined.add_compute(rank, box=rank // 2), switch, 1)
    assert "NVLink joins hosts" in refusal(host_graphs, joined.build())
