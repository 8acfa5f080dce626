from collections import Counter
from fractions import Fraction
from itertools import combinations

import networkx as nx
import pytest

from forestcoll.topology import Topology
from forestcoll.topology.networkx_graph import to_networkx
from forestcoll.topology.registry import build_topology, builders

SPECS = {spec.name: spec for spec in builders()}


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


@pytest.mark.parametrize(
    ("spec", "degree"),
    [
        ("ring:nodes=6", 2),
        ("ring:nodes=6,one_way=true", 1),
        ("torus:dims=4x4x4", 6),
        ("torus:dims=2x4", 3),
        ("hypercube:dim=5", 5),
        ("complete:nodes=7", 6),
        ("complete-bipartite:left=3,right=3", 3),
        ("hamming:dim=3,base=4", 9),
        ("circulant:nodes=10,offsets=1+5", 3),
        ("circulant:nodes=10,offsets=1+5+7,one_way=true", 3),
    ],
)
@pytest.mark.parametrize("bandwidth", ["1", "25/3"])
def test_direct_networks_are_regular(spec: str, degree: int, bandwidth: str) -> None:
    topology = build_topology(f"{spec},bandwidth={bandwidth}")
    assert set(topology.egress) == set(topology.ingress) == {degree * Fraction(bandwidth)}
    assert {link.bandwidth for link in topology.links} == {Fraction(bandwidth)}
    assert not topology.switches
    assert [node.id for node in topology.nodes] == list(range(len(topology.nodes)))


@pytest.mark.parametrize("spec", ["ring:nodes=5,one_way=true", "circulant:nodes=5,offsets=1,one_way=true"])
def test_one_way_links_go_to_the_next_node(spec: str) -> None:
    topology = build_topology(spec)
    assert {(link.source, link.target) for link in topology.links} == {(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)}


def test_the_last_dimension_varies_fastest() -> None:
    graph = to_networkx(build_topology("mesh:dims=2x3"))
    assert set(graph[0]) == {1, 3}


@pytest.mark.parametrize(
    ("spec", "compute", "switches"),
    [
        ("fat-tree:levels=1,arity=5", 5, 1),
        ("fat-tree:levels=3,arity=4", 64, 21),
        ("rail:boxes=3,gpus=4", 12, 3 + 4 + 1),
        ("rail-only:boxes=3,gpus=4", 12, 3 + 4),
        ("dragonfly", 72, 36),
        ("dragonfly:routers=1,nodes=2,global_links=1", 4, 2),
        ("dragonfly:routers=4,nodes=1,global_links=2,groups=4", 16, 16),
    ],
)
def test_switched_networks_have_the_expected_nodes_and_are_balanced(spec: str, compute: int, switches: int) -> None:
    topology = build_topology(spec)
    assert (len(topology.compute), len(topology.switches)) == (compute, switches)
    assert topology.ingress == topology.egress
    assert len({topology.egress[number] for number in topology.compute}) == 1


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
    spec = "boxes=3,gpus=4,scale_up_bandwidth=9,rail_bandwidth=2"
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
    values = {"routers": routers, "nodes": 2, "global_links": global_links, "groups": groups}
    size = SPECS["dragonfly"].recipe(**values).size()
    assert size.compute == len(topology.compute)
    assert size.links >= len(topology.links)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ring", {"nodes": 2}),
        ("ring", {"nodes": 2, "one_way": True}),
        ("ring", {"nodes": 5, "one_way": True}),
        ("torus", {"dims": (2, 3, 4)}),
        ("mesh", {"dims": (2, 3, 4)}),
        ("hypercube", {"dim": 6}),
        ("complete", {"nodes": 9}),
        ("complete-bipartite", {"left": 3, "right": 4}),
        ("hamming", {"dim": 3, "base": 3}),
        ("circulant", {"nodes": 9, "offsets": (1, 2, 4)}),
        ("circulant", {"nodes": 8, "offsets": (1, 4)}),
        ("circulant", {"nodes": 8, "offsets": (1, 7), "one_way": True}),
        ("fat-tree", {"levels": 3, "arity": 3}),
        ("rail", {"boxes": 2, "gpus": 3}),
        ("rail-only", {"boxes": 2, "gpus": 3}),
        ("dragonfly", {"routers": 2, "nodes": 1, "global_links": 1}),
    ],
)
def test_the_stated_size_equals_the_size_built(name: str, values: dict[str, object]) -> None:
    spec = SPECS[name]
    kinds = {parameter.name: parameter.kind for parameter in spec.parameters}
    topology = build_topology(
        f"{name}:" + ",".join(f"{key}={kinds[key].write(value)}" for key, value in values.items())
    )
    size = spec.recipe(**values).size()
    assert (size.compute, size.links) == (len(topology.compute), len(topology.links))
