"""The least lengths of walks."""

from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest

from forestcoll.base.errors import InternalError
from forestcoll.topology import TopologyBuilder
from forestcoll.topology.graph.metric import Metric
from networks import drawn_network


@pytest.mark.parametrize("dtype", [np.float64, np.int64, object])
@pytest.mark.parametrize("backwards", [False, True])
def test_distances_are_those_of_networkx(*, dtype: type, backwards: bool) -> None:
    topology = drawn_network(1, nodes=9, kinds="ca", one_way=True)
    lengths: npt.NDArray[Any] = np.random.default_rng(1).integers(1, 100, len(topology.links)).astype(dtype)
    graph = nx.DiGraph()
    for link, length in zip(topology.links, lengths.tolist(), strict=True):
        graph.add_edge(*((link.target, link.source) if backwards else (link.source, link.target)), weight=length)
    metric = Metric(topology, lengths, 10**6, backwards=backwards)
    assert metric.distances.dtype == dtype
    for start, expected in nx.all_pairs_dijkstra_path_length(graph):
        for end, length in expected.items():
            assert metric.distances[start, end] == length
            assert nx.path_weight(graph, metric.walk(start, end), "weight") == length


def test_a_node_that_is_not_reached_is_far_away() -> None:
    builder = TopologyBuilder("pair and a switch without links")
    for name in "ab":
        builder.add_compute(name)
    builder.add_switch("alone")
    builder.add_duplex("a", "b", 1)
    metric = Metric(builder.build(), np.array([2, 3]), 99)
    assert metric.distances.tolist() == [[0, 2, 99], [3, 0, 99], [99, 99, 0]]
    with pytest.raises(InternalError, match="no walk leads from node 0 to node 2"):
        metric.walk(0, 2)
