"""Every row of a study is compared with a fresh run on the changed network."""

import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from forestcoll import failures, optimum
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.demand import Demand
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.failures import parts_of
from forestcoll.topology.registry import load_topology
from forestcoll.what_if import changes_of
from forestcoll.what_if.study import Study
from started import dask_executor


def rebuilt(topology: Topology, gone_links: set[tuple[int, int]], gone_nodes: set[int]) -> Topology | None:
    """Build the network after failures from its parts; None if compute nodes are apart or fewer than two."""
    builder = TopologyBuilder("changed")
    for number, node in enumerate(topology.nodes):
        if number in gone_nodes:
            continue
        if node.is_compute:
            builder.add_compute(node.id, **node.attributes)
        else:
            builder.add_switch(node.id, multicast=node.multicast, aggregation=node.aggregation)
    for link in topology.links:
        ends = {link.source, link.target}
        if not ends & gone_nodes and (min(ends), max(ends)) not in gone_links:
            source, target = topology.ids((link.source, link.target))
            builder.add_link(source, target, link.bandwidth)
    try:
        return builder.build()
    except InputError:
        return None


def all_values(topology: Topology, part: str = "links", at_once: int = 1, **asked: Any) -> Counter[Fraction]:
    """Return how often fresh runs on the changed networks have each bandwidth."""
    found: Counter[Fraction] = Counter()
    for changes in combinations(parts_of(topology, part), at_once):
        links = {ends for change in changes for ends in change.links}
        network = rebuilt(topology, links, {node for change in changes for node in change.nodes})
        found[Fraction(0) if network is None else optimum(network, Demand(**asked)).algbw] += 1
    return found


def counted(study: Study) -> Counter[Fraction]:
    found: Counter[Fraction] = Counter()
    for row in study.rows:
        found[row.value.algbw] += row.count
    return found


def random_network(seed: int, *, one_way: bool = False) -> Topology:
    draws = random.Random(seed)  # noqa: S311 (networks of a test)
    builder = TopologyBuilder(f"random {seed}")
    compute, switches = draws.randint(2, 5), draws.randint(0, 3)
    nodes = [builder.add_compute(f"g{each}", box=each % 2) for each in range(compute)]
    nodes += [builder.add_switch(f"s{each}") for each in range(switches)]
    order = draws.sample(nodes, len(nodes))
    pairs = [*zip(order, [*order[1:], order[0]], strict=True)]
    pairs += [(draws.choice(nodes), draws.choice(nodes)) for _ in range(draws.randint(1, 4))]
    for one, other in pairs:
        if one != other:
            bandwidth = Fraction(draws.randint(1, 6), draws.randint(1, 3))
            builder.add_link(one, other, bandwidth)
            builder.add_link(other, one, bandwidth if not one_way else draws.randint(1, 4))
    return builder.build()


@pytest.mark.parametrize("part", ["links", "nics", "nodes", "switches", "boxes"])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_failures_of_two_boxes_are_those_of_fresh_runs(part: str, collective: str) -> None:
    topology = load_topology("dgx-a100:boxes=2,gpus=3")
    study = failures(topology, part, collective)
    assert counted(study) == all_values(topology, part, collective=collective)
    assert study.base.algbw == optimum(topology, collective).algbw
    assert [row.ratio for row in study.rows] == sorted(row.value.algbw / study.base.algbw for row in study.rows)


@pytest.mark.parametrize("part", ["links", "switches", "boxes"])
@pytest.mark.parametrize("seed", [*range(9), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(9, 40))])
def test_failures_of_random_networks_are_those_of_fresh_runs(seed: int, part: str) -> None:
    topology = random_network(seed)
    if part == "switches" and not topology.switches:
        with pytest.raises(InputError, match="there are no switches that can fail"):
            failures(topology, part)
        return
    assert counted(failures(topology, part)) == all_values(topology, part)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))])
def test_failures_with_unbalanced_switches_are_those_of_fresh_runs(seed: int) -> None:
    topology = random_network(seed, one_way=True)
    for collective in ("allgather", "reduce-scatter"):
        assert counted(failures(topology, demand=collective)) == all_values(topology, collective=collective)


@pytest.mark.parametrize(
    ("spec", "at_once"), [("dgx-a100:boxes=2,gpus=2", 2), ("torus:dims=3x3", 2), ("ring:nodes=6", 3)]
)
def test_several_failures_at_once_are_those_of_fresh_runs(spec: str, at_once: int) -> None:
    topology = load_topology(spec)
    assert counted(failures(topology, at_once=at_once)) == all_values(topology, at_once=at_once)


@pytest.mark.parametrize("at_once", [1, 2])
def test_failures_after_a_failure_are_those_of_fresh_runs(at_once: int) -> None:
    topology = changed_network(load_topology("cluster:box=dgx-a100:gpus=2,boxes=3,rails=2"), ["b1/gpu0--leaf0"])
    study = failures(topology, at_once=at_once)
    assert counted(study) == all_values(topology, at_once=at_once)
    assert len(study.rows) < sum(row.count for row in study.rows)


def test_failures_with_a_root_or_ranks_are_those_of_fresh_runs() -> None:
    asked: list[tuple[Topology, dict[str, Any]]] = [
        (random_network(seed), {"collective": collective, "root": "g0"})
        for seed in (0, 3, 5)
        for collective in ("broadcast", "reduce")
    ]
    for topology, options in [*asked, (load_topology("dgx-a100:boxes=2,gpus=4"), {"ranks": "0-1,4-5"})]:
        assert counted(failures(topology, demand=Demand(**options))) == all_values(topology, **options), options


@pytest.mark.parametrize("collective", ["all-to-all", "gather", "scatter"])
@pytest.mark.parametrize(
    ("network", "part"),
    [("dgx-a100:boxes=2,gpus=3", part) for part in ("links", "nics", "switches")]
    + [(seed, "links") for seed in (0, 1, 3, 5, 7)],
)
def test_failures_of_exchanges_are_those_of_fresh_runs(network: str | int, part: str, collective: str) -> None:
    topology = load_topology(network) if isinstance(network, str) else random_network(network)
    root = None if collective == "all-to-all" else topology.nodes[0].id
    asked: dict[str, Any] = {"collective": collective, "root": root}
    study = failures(topology, part, Demand(**asked))
    assert study.base.algbw == optimum(topology, Demand(**asked)).algbw
    assert counted(study) == all_values(topology, part, **asked)


def test_exchanges_of_ranks_without_a_box_and_on_slower_links_are_those_of_fresh_runs() -> None:
    ranks: dict[str, Any] = {"collective": "all-to-all", "ranks": "0-1,4-5"}
    topology = load_topology("dgx-a100:boxes=2,gpus=4")
    assert counted(failures(topology, demand=Demand(**ranks))) == all_values(topology, **ranks)
    (row,) = failures("dgx-a100:boxes=3,gpus=2", "boxes", "all-to-all").rows
    assert row.value.algbw == optimum("dgx-a100:boxes=2,gpus=2", "all-to-all").algbw
    assert failures("dgx-a100:boxes=2", "boxes", "gather:root=0").rows[0].value.algbw == 0  # its root is gone
    (row,) = changes_of(topology, "gather:root=0", degrade=["b0/gpu0--b0/nvswitch=10%"]).rows
    assert row.value.algbw == optimum(row.change.applied(topology), "gather:root=0").algbw


@pytest.mark.parametrize(("collective", "unused"), [("gather", "0--1"), ("scatter", "0--2")])
def test_only_links_in_the_direction_of_the_data_are_needed(collective: str, unused: str) -> None:
    """In the ring 0 -> 1 -> 2 -> 0, 2/3 of the data enters or leaves the root 0 over one link."""
    rows = failures("ring:nodes=3,one_way=true", demand=f"{collective}:root=0").rows
    assert {row.change.name: row.value.algbw for row in rows} == {
        name: Fraction(3, 2) if name == unused else 0 for name in ("0--1", "0--2", "1--2")
    }


@pytest.mark.parametrize("spec", ["mi250:boxes=2,gpus=8", "mesh:dims=4"])
def test_a_cut_is_the_bottleneck_that_results(spec: str) -> None:
    topology = load_topology(spec)
    for row in failures(topology).rows:
        changed, inside = row.change.applied(topology), set(row.value.cut)
        assert 0 < len(inside) < len(topology.nodes)
        leaving = sum(link.bandwidth for link in changed.links if link.source in inside and link.target not in inside)
        assert bool(leaving) == (spec != "mesh:dims=4")  # which falls apart
        part = Fraction(len(inside & set(topology.compute)), len(topology.compute))
        assert row.value.algbw == (leaving / part if leaving else 0)


def test_a_box_that_fails_takes_no_part() -> None:
    row = failures("dgx-a100:boxes=3", "boxes").rows[0]
    assert (row.change.name, row.count) == ("box 0", 3)
    assert row.value.algbw == optimum("dgx-a100:boxes=2").algbw


def test_a_nic_with_two_ports_fails_as_one() -> None:
    (row,) = failures("cluster:box=dgx-h100,boxes=2,planes=2", "nics").rows
    assert (row.change.name, row.count, len(row.change.links)) == ("b0/nic0", 16, 2)
    (port,) = [row for row in failures("cluster:box=dgx-h100,boxes=2,planes=2").rows if "plane" in row.change.name]
    assert port.count == 32


def test_symmetric_failures_are_one_row() -> None:
    assert [row.count for row in failures("dgx-a100:boxes=2").rows] == [16, 16]
    assert [row.count for row in failures("torus:dims=4x4x4").rows] == [64, 64, 64]
    assert [row.count for row in failures("superpod-h100:boxes=128", "switches").rows] == [1, 128, 32]
    study = failures("superpod-h100:boxes=128")
    assert sorted(row.count for row in study.rows) == [32, 1024, 1024]
    nic = next(row for row in study.rows if row.change.name == "b0/gpu0--leaf0")
    assert nic.value.algbw == 350 * Fraction(128, 127)


def test_executors_give_the_same_rows() -> None:
    topology = random_network(7)
    here = failures(topology)
    with ThreadPoolExecutor(2) as threads:
        assert failures(topology, executor=threads).rows == here.rows
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        assert failures(topology, executor=processes).rows == here.rows
        for network, demand in (("dgx-a100:boxes=2,gpus=2", "allreduce"), (topology, "all-to-all")):
            assert failures(network, demand=demand, executor=processes).rows == failures(network, demand=demand).rows


def test_a_dask_client_gives_the_same_rows(tmp_path: Path) -> None:
    with dask_executor(tmp_path) as executor:
        topology = load_topology("mi250:boxes=2,gpus=8")
        assert failures(topology, executor=executor).rows == failures(topology).rows


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"topology": "ring:nodes=4", "part": "cables"}, "nothing called 'cables' can fail"),
        ({"topology": "ring:nodes=4", "part": "link"}, "did you mean 'links'"),
        ({"topology": "ring:nodes=4", "part": "switches"}, "there are no switches that can fail"),
        ({"topology": "ring:nodes=4", "part": "boxes"}, "no node has the attribute box"),
        ({"topology": "ring:nodes=4", "part": "nics"}, "a NIC is a link between"),
        ({"topology": "ring:nodes=4", "at_once": 5}, "at_once is 5; expected an integer from 1 to 4"),
        ({"topology": "ring:nodes=4", "at_once": 0}, "at_once is 0"),
        ({"topology": "dgx-a100:boxes=16", "at_once": 4}, "ask for fewer at once"),
        ({"topology": "ring:nodes=4", "demand": "broadcast"}, "needs a root"),
        ({"topology": "ring:nodes=4", "demand": "allgather:ranks=9"}, "there is no rank"),
        (
            {"topology": "ring:nodes=2", "demand": Demand("all-to-all", matrix=[[0, 1], [2, 0]])},
            "needs equal parts of the data; leave shards and the demand matrix out",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        failures(**arguments)  # type: ignore[arg-type]


def test_one_port_is_refused() -> None:
    with pytest.raises(NoSolutionError, match="port_model"):
        failures("tiers")


def test_a_degraded_link_is_a_row() -> None:
    study = changes_of("dgx-a100:boxes=2", without=["b1/gpu0--ib"], degrade=["b0/gpu0--ib=100Gb/s"])
    (row,) = study.rows
    assert row.change.name == "b1/gpu0--ib + b0/gpu0--ib=100Gb/s"
    assert row.value.algbw == optimum(row.change.applied(study.topology)).algbw == 320
