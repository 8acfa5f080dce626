"""Lists of cables: whole, right after each change, and with as few steps as the two networks allow."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.topology.writers.cabling import DUPLEX, Cable, read_cabling, text_of, write_cabling
from refusal import refusal

NETWORKS = (
    "torus:dims=2x3",
    "circulant:nodes=6,offsets=1+3",
    "complete:nodes=6",
    "ring:nodes=6",
    "kautz:degree=2,length=1",
    "generalized-kautz:degree=2,nodes=6",
    "shifted-ring:nodes=6",
)


def joined(cables: tuple[Cable, ...]) -> Counter[tuple[str, str]]:
    """Return how many cables carry data from a node to another."""
    found = Counter((cable.first.node, cable.second.node) for cable in cables)
    return found + Counter((cable.second.node, cable.first.node) for cable in cables if cable.kind == DUPLEX)


def links_of(network: Topology) -> Counter[tuple[str, str]]:
    least = min(link.bandwidth for link in network.links)
    found: Counter[tuple[str, str]] = Counter()
    for ends, each in network.bandwidths.items():
        source, target = map(str, network.ids(ends))
        found[source, target] = int(each / least)
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(NETWORKS), min_size=1, max_size=4))
def test_each_list_leads_to_the_network_and_keeps_all_cables_that_it_can(tmp_path: Path, specs: list[str]) -> None:
    path, before, kind = tmp_path / "cables.csv", Counter[tuple[str, str]](), None
    path.unlink(missing_ok=True)
    for spec in specs:
        network = build_topology(spec)
        counts = write_cabling(network, path, path if path.exists() else None)
        cables = read_cabling(path)
        wanted = links_of(network)
        assert joined(cables) == wanted
        now = cables[0].kind
        ways = 2 if now == DUPLEX else 1
        kept = (before & wanted).total() // ways if now == kind else 0
        assert counts["keep"] == kept
        assert counts["keep"] + counts["connect"] == len(cables)
        degree = max(Counter(source for source, _ in wanted.elements()).values())
        most = max(end.port for cable in cables for end in (cable.first, cable.second))
        assert most < degree or counts["keep"]
        before, kind = wanted, now


def network_of(*bandwidths: int) -> Topology:
    builder = TopologyBuilder("n")
    nodes = [builder.add_compute(name) for name in "abc"]
    for place, bandwidth in enumerate(bandwidths):
        builder.add_duplex(nodes[place], nodes[(place + 1) % 3], bandwidth)
    return builder.build()


def test_a_link_of_twice_the_bandwidth_is_two_cables() -> None:
    assert text_of(network_of(2, 1)).splitlines()[1:] == [
        "connect,duplex,a,0,b,0",
        "connect,duplex,a,1,b,1",
        "connect,duplex,b,2,c,0",
    ]
    assert "link 'b' -> 'c' has 3 and is no multiple" in refusal(text_of, network_of(2, 3, 2))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no list of cables"),
        ("a,b\n", "is no list of cables"),
        ("{head}\nplug,duplex,0,0,1,0\n", "line 2: action is 'plug'"),
        ("{head}\nkeep,triplex,0,0,1,0\n", "line 2: cable is 'triplex'"),
        ("{head}\nkeep,duplex,0,x,1,0\n", "line 2: port is 'x'"),
        ("{head}\nkeep,duplex,0,0,1,-1\n", "line 2: other_port is '-1'"),
        ("{head}\nkeep,duplex,0,0,1\n", "line 2: has 5 columns"),
        ("{head}\nkeep,duplex,0,0,1,0\nkeep,duplex,2,0,0,0\n", "port 0 of '0' has two cables"),
    ],
)
def test_lists_that_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "cables.csv"
    path.write_text(text.format(head="action,cable,node,port,other_node,other_port"))
    message = refusal(read_cabling, path)
    assert message.startswith(str(path))
    assert words in message


def test_networks_that_have_no_list() -> None:
    assert "has switches" in refusal(text_of, build_topology("dgx-a100:boxes=2"))
