from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, product

import networkx as nx
import pytest

from forestcoll.topology import Topology
from forestcoll.topology.families.tiers import Draws
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import Size, build_topology, recipe_of
from refusal import refusal


def undirected(topology: Topology) -> nx.Graph:
    return to_networkx(topology).to_undirected()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("ring:nodes=2", nx.path_graph(2)),
        ("ring:nodes=3", nx.cycle_graph(3)),
        ("ring:nodes=9", nx.cycle_graph(9)),
        ("torus:dims=5", nx.cycle_graph(5)),
        ("torus:dims=2", nx.path_graph(2)),
        ("torus:dims=2x2", nx.cycle_graph(4)),
        ("torus:dims=4x3x2", nx.grid_graph((2, 3, 4), periodic=(False, True, True))),
        ("mesh:dims=6", nx.path_graph(6)),
        ("mesh:dims=2x3x4", nx.grid_graph((4, 3, 2))),
        ("hypercube:dim=1", nx.path_graph(2)),
        ("hypercube:dim=4", nx.hypercube_graph(4)),
        ("complete:nodes=5", nx.complete_graph(5)),
        ("complete-bipartite:left=1,right=1", nx.path_graph(2)),
        ("complete-bipartite:left=2,right=5", nx.complete_bipartite_graph(2, 5)),
        ("hamming:dim=1,base=5", nx.complete_graph(5)),
        ("hamming:dim=3,base=2", nx.hypercube_graph(3)),
        ("hamming:dim=2,base=3", nx.cartesian_product(nx.complete_graph(3), nx.complete_graph(3))),
        ("circulant:nodes=16,offsets=3+4", nx.circulant_graph(16, [3, 4])),
        ("circulant:nodes=8,offsets=1+4", nx.circulant_graph(8, [1, 4])),
        ("circulant:nodes=2,offsets=1", nx.path_graph(2)),
        ("fat-tree:levels=3,arity=2", nx.balanced_tree(2, 3)),
    ],
)
def test_a_family_is_isomorphic_to_the_graph_of_its_name(spec: str, expected: nx.Graph) -> None:
    topology = build_topology(spec)
    assert nx.is_isomorphic(undirected(topology), expected)
    assert len(topology.links) == 2 * expected.number_of_edges()


DEGREES = {
    "ring:nodes=6": 2,
    "ring:nodes=6,one_way=true": 1,
    "torus:dims=4x4x4": 6,
    "torus:dims=2x4": 3,
    "hypercube:dim=5": 5,
    "complete:nodes=7": 6,
    "complete-bipartite:left=3,right=3": 3,
    "hamming:dim=3,base=4": 9,
    "circulant:nodes=10,offsets=1+5": 3,
    "circulant:nodes=10,offsets=1+5+7,one_way=true": 3,
}


def test_direct_networks_are_regular() -> None:
    for (spec, degree), bandwidth in product(DEGREES.items(), ("1", "25/3")):
        topology = build_topology(f"{spec},bandwidth={bandwidth}")
        assert set(topology.egress) == set(topology.ingress) == {degree * Fraction(bandwidth)}, spec
        assert {link.bandwidth for link in topology.links} == {Fraction(bandwidth)}, spec
        assert not topology.switches, spec
        assert [node.id for node in topology.nodes] == list(range(len(topology.nodes))), spec


def test_one_way_links_go_to_the_next_node_parallel_ones_add_up_and_the_last_dimension_varies_fastest() -> None:
    for spec in ("ring:nodes=5,one_way=true", "circulant:nodes=5,offsets=1,one_way=true"):
        links = {(link.source, link.target) for link in build_topology(spec).links}
        assert links == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)}, spec
    for one_way, degree in (("true", 3), ("false", 6)):
        ring = build_topology(f"ring:nodes=5,one_way={one_way},parallel=3")
        assert set(ring.egress) == set(ring.ingress) == {degree}
    graph = to_networkx(build_topology("mesh:dims=2x3"))
    assert set(graph[0]) == {1, 3}


NODES = {
    # compute nodes and switches
    "fat-tree:levels=1,arity=5": (5, 1),
    "fat-tree:levels=3,arity=4": (64, 21),
    "rail:boxes=3,gpus=4": (12, 3 + 4 + 1),
    "rail-only:boxes=3,gpus=4": (12, 3 + 4),
    "dragonfly": (72, 36),
    "dragonfly:routers=1,nodes=2,global_links=1": (4, 2),
    "dragonfly:routers=4,nodes=1,global_links=2,groups=4": (16, 16),
    "dragonfly:routers=4,nodes=1,global_links=2,pair_links=4": (12, 12),
    "dragonfly-plus:leaves=3,spines=2,nodes=2,global_links=2": (30, 25),
}


def test_switched_networks_have_the_expected_nodes_and_are_balanced() -> None:
    for spec, count in NODES.items():
        topology = build_topology(spec)
        assert (len(topology.compute), len(topology.switches)) == count, spec
        assert topology.ingress == topology.egress, spec
        assert len({topology.egress[number] for number in topology.compute}) == 1, spec


def test_a_fat_tree_widens_towards_the_root() -> None:
    topology = build_topology("fat-tree:levels=3,arity=4,bandwidth=3,oversubscription=3/2")
    assert Counter(link.bandwidth for link in topology.links) == {
        Fraction(3): 2 * 64,
        Fraction(8): 2 * 16,
        Fraction(64, 3): 2 * 4,
    }
    assert topology.egress[topology.number("level1/switch0")] == 4 * 3 + 8
    assert topology.egress[topology.number("level3/switch0")] == 4 * Fraction(64, 3)


def test_gpu_i_of_every_box_is_on_rail_i() -> None:
    spec = "boxes=3,gpus=4,scale_up_bandwidth=9,nic_bandwidth=2"
    only = to_networkx(build_topology(f"rail-only:{spec}"))
    spine = to_networkx(build_topology(f"rail:{spec},oversubscription=4"))
    for graph in (only, spine):
        assert {node for node in graph["rail2"] if node != "spine"} == {f"b{box}/gpu2" for box in range(3)}
        assert graph["b1/gpu2"]["rail2"]["bandwidth"] == 2
        assert graph["b1/gpu2"]["b1/switch"]["bandwidth"] == 9
        assert graph.nodes["b1/gpu2"]["box"] == graph.nodes["b1/switch"]["box"] == 1
    assert "spine" not in only
    assert set(spine["spine"]) == {f"rail{rail}" for rail in range(4)}
    assert spine["rail2"]["spine"]["bandwidth"] == "3/2"


@pytest.mark.parametrize(
    ("routers", "global_links", "groups"),
    [(4, 2, 9), (4, 2, 5), (4, 2, 4), (4, 2, 3), (4, 2, 2), (1, 3, 4), (3, 1, 2), (2, 3, 6), (5, 3, 7)],
)
def test_the_routers_and_groups_of_a_dragonfly_are_fully_connected(
    routers: int, global_links: int, groups: int
) -> None:
    spec = f"routers={routers},nodes=2,global_links={global_links},groups={groups}"
    topology = build_topology(f"dragonfly:{spec},local_bandwidth=100,global_bandwidth=7")
    graph = to_networkx(topology)
    assert topology.ingress == topology.egress
    between: Counter[tuple[int, int]] = Counter()
    of_router: Counter[object] = Counter()
    for one, other, data in graph.edges(data=True):
        ends = (graph.nodes[one]["group"], graph.nodes[other]["group"])
        if ends[0] != ends[1]:
            between[ends] += data["bandwidth"] // 7
            of_router[one] += data["bandwidth"] // 7
    each = routers * global_links // (groups - 1)
    assert between == {(a, b): each for a in range(groups) for b in range(groups) if a != b}
    assert max(of_router.values()) <= global_links
    spread = [of_router[f"g{group}/router{router}"] for group in range(groups) for router in range(routers)]
    assert max(spread) - min(spread) <= 1
    for one, other in combinations(range(routers), 2):
        assert graph[f"g0/router{one}"][f"g0/router{other}"]["bandwidth"] == 100
    size = recipe_of(f"dragonfly:{spec}")[1].size()
    assert size.compute == len(topology.compute)
    assert size.links >= len(topology.links)


def test_a_dragonfly_plus_joins_spines_and_a_pair_of_groups_has_the_links_asked_for() -> None:
    spec = "dragonfly-plus:leaves=3,spines=4,nodes=2,global_links=2,groups=3,pair_links=3"
    graph = to_networkx(build_topology(f"{spec},local_bandwidth=100,global_bandwidth=7"))
    assert set(graph["g1/leaf2"]) == {10, 11, *(f"g1/spine{spine}" for spine in range(4))}
    between: Counter[tuple[int, int]] = Counter()
    for one, other, data in graph.edges(data=True):
        ends = (graph.nodes[one]["group"], graph.nodes[other]["group"])
        if ends[0] != ends[1]:
            assert "spine" in one
            assert "spine" in other
            between[ends] += data["bandwidth"] // 7
    assert between == {(a, b): 3 for a in range(3) for b in range(3) if a != b}
    assert "make pair_links smaller" in refusal(build_topology, "dragonfly:pair_links=9")
    assert "with 8 global links of a group, 4 for each other group it is at most 3" in refusal(
        build_topology, "dragonfly:groups=5,pair_links=4"
    )


SIZES = """ring:nodes=2 ring:nodes=2,one_way=true ring:nodes=5,one_way=true torus:dims=2x3x4 mesh:dims=2x3x4
hypercube:dim=6 complete:nodes=9 complete-bipartite:left=3,right=4 hamming:dim=3,base=3 circulant:nodes=9,offsets=1+2+4
circulant:nodes=8,offsets=1+4 circulant:nodes=8,offsets=1+7,one_way=true fat-tree:levels=3,arity=3 rail:boxes=2,gpus=3
rail-only:boxes=2,gpus=3 dragonfly:routers=2,nodes=1,global_links=1 dragonfly-plus:leaves=3,spines=2"""


def test_the_stated_size_equals_the_size_built() -> None:
    for spec in SIZES.split():
        topology = build_topology(spec)
        assert recipe_of(spec)[1].size() == Size(len(topology.compute), len(topology.links)), spec


def test_a_seed_determines_a_platform_of_tiers_and_bandwidths_are_drawn_from_the_slowest() -> None:
    assert build_topology("tiers:seed=4") == build_topology("tiers:seed=4")
    links = [build_topology(f"tiers:seed={seed}").links for seed in range(6)]
    assert all(one != other for one, other in pairwise(links))
    topology = build_topology("tiers:seed=9,slowest=50,local_bandwidth=8")
    local = [node for node, each in enumerate(topology.nodes) if each.attributes["tier"] == "local"]
    inside = [link.bandwidth for link in topology.links if link.source in local and link.target in local]
    assert inside
    assert all(Fraction(4) <= bandwidth <= 8 for bandwidth in inside)
    assert all(link.latency_us is not None and link.latency_us >= 1 for link in topology.links)


def test_draws_equal_those_of_splitmix64_and_include_both_ends_of_the_range() -> None:
    draws = Draws(1234567)
    assert [draws._next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    draws = Draws(0)
    assert {draws.integer(3, 7) for _ in range(300)} == {3, 4, 5, 6, 7}


def test_platforms_of_tiers_have_their_size_and_two_compute_nodes_or_more() -> None:
    for seed in range(20):
        topology = build_topology(f"tiers:wide=6,areas=3,metropolitan=5,offices=2,local=4,seed={seed}")
        assert len(topology.nodes) == 6 + 3 * 5 + 3 * 2 * 4
        assert topology.port_model == "one-port"
        assert {node.attributes["tier"] for node in topology.nodes} == {"wide", "metropolitan", "local"}
        duplex = (6 - 1 + 2) + 3 * (5 - 1 + 2) + 6 * 3 + 3 + 6
        assert len(topology.links) == 2 * duplex
    topology = build_topology("tiers:routers=true")
    assert (len(topology.compute), len(topology.switches)) == (16, 13)
    message = refusal(build_topology, "tiers:offices=0,routers=true")
    assert "with routers only local nodes compute, and there are fewer than two" in message
    message = refusal(build_topology, "tiers:wide=1,areas=0")
    assert "there are fewer than two nodes; make the wide network larger" in message
