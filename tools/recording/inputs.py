"""The small files that command lines read: each folder of `lines.py` and `wrong.py` begins with all of them."""

import json
from collections.abc import Mapping, Sequence

from recording.running import ROOT, Content

_EDGES = [
    {"source": "a", "target": "b", "bandwidth": 50},
    {"source": "c", "target": "d", "bandwidth": 50},
    *({"source": name, "target": "spine", "bandwidth": 25} for name in "abc"),
    {"source": "d", "target": "spine", "bandwidth": 12.5},
]
_FIGURE_1 = [("s", "1", 1), ("s", "2", 1), ("1", "2", 1), ("2", "1", 1), ("1", "3", 2), ("2", "4", 2)]
_UNBALANCED = [("a", "s", 3), ("b", "s", 3), ("s", "c", 6), ("c", "a", 9), ("c", "b", 9)]
_ODD = [("a", "b", 10), ("b", "c", "25/3"), ("c", "a", "40Gb/s"), ("a", "c", 0.1)]
_LINE = [("a", "b", 4), ("b", "a", 4), ("b", "c", 2), ("c", "b", 2), ("c", "d", 1), ("d", "c", 1)]


def _network(
    name: str,
    edges: Sequence[tuple[str, str, object]],
    more: Mapping[str, Mapping[str, object]] | None = None,
    **graph: object,
) -> str:
    """Return the file of a network of one-way links; `more` has attributes of nodes."""
    nodes = dict.fromkeys(end for source, target, _ in edges for end in (source, target))
    document = {
        "directed": True,
        "graph": {"format": "forestcoll.topology/1", "name": name, "bandwidth_unit": "GB/s"} | graph,
        "nodes": [{"id": node, **(more or {}).get(node, {})} for node in nodes],
        "edges": [{"source": one, "target": other, "bandwidth": value} for one, other, value in edges],
    }
    return json.dumps(document)


LATENCY = json.dumps(
    {
        "directed": False,
        "graph": {"format": "forestcoll.topology/1", "name": "five hosts", "bandwidth_unit": "GB/s"},
        "nodes": [{"id": place} for place in range(5)],
        "edges": [
            {"source": place, "target": (place + step) % 5, "bandwidth": 10 * step, "latency_us": 3 - step}
            for place in range(5)
            for step in (1, 2)
        ],
    }
)

HOSTS = json.dumps(
    {
        "directed": False,
        "graph": {"format": "forestcoll.topology/1", "name": "four hosts", "bandwidth_unit": "GB/s"},
        "nodes": [*({"id": name} for name in "abcd"), {"id": "spine", "kind": "switch"}],
        "edges": _EDGES,
    }
)


def _channel(start: int, gpus: list[int]) -> str:
    """Return a ring of NCCL through one box."""
    order = "".join(f'<gpu dev="{gpu}"/>' for gpu in gpus)
    return f'<channel><net dev="{start}"/>{order}<net dev="{1 - start}"/></channel>'


_MATRIX = "     GPU0 GPU1 GPU2 GPU3 NIC0 CPU Affinity\n"
_CHANNELS = _channel(0, [0, 7, 6, 5, 4, 3, 2, 1]) + _channel(1, [1, 2, 3, 4, 5, 6, 7, 0])

TEXTS: dict[str, Content] = {
    "hosts.json": HOSTS,
    "latency.json": LATENCY,
    "odd.json": _network("odd bandwidths", _ODD),
    "unbalanced.json": _network("a switch", _UNBALANCED, {"s": {"kind": "switch"}}),
    "figure-1.json": _network("figure 1", _FIGURE_1, port_model="one-port"),
    "shared.json": _network("shared", _FIGURE_1, {"s": {"send_bandwidth": "3/2"}}, port_model="bounded-multi-port"),
    "slow.json": _network(
        "overheads",
        _FIGURE_1,
        {"s": {"send_overhead": "1/2"}, "1": {"receive_overhead": 1}, "3": {"receive_overhead": "1/3"}},
        port_model="one-port",
    ),
    "triangle.json": _network("half duplex", _FIGURE_1[:4], port_model="half-duplex"),
    "line.json": _network("a line", _LINE, port_model="one-port"),
    "crates.json": _network("crates", _LINE, bandwidth_unit="crates/day"),
    "split.json": _network("in two parts", [("a", "b", 1), ("b", "a", 1), ("c", "d", 1), ("d", "c", 1)]),
    "demand.csv": ",b0/gpu0,b0/gpu1,b1/gpu0,b1/gpu1\nb0/gpu0,0,1/2,1/4,1/4\nb0/gpu1,0,0,1/4,1/4\n"
    "b1/gpu0,1/8,0,0,1/2\nb1/gpu1,0,1/8,0,0\n",
    "three.csv": "0,1,2\n1/2,0,3\n0.1,4,0\n",
    "pieces.json": '{"format": "forestcoll.demand/1", "pieces": [{"id": "weights", "size": "1/2", "held_by": '
    '["b0/gpu0"], "needed_by": ["b0/gpu1", "b1/gpu0", "b1/gpu1"]}, {"id": "cache", "size": "1/4", "held_by": "0,2", '
    '"needed_by": "1,3"}, {"id": "sums", "size": 0.25, "sum_of": "0-1", "needed_by": [2, 3]}, {"id": "here", '
    '"held_by": "0-3", "needed_by": [1]}]}',
    "shards.json": '{"0": "1/2", "1": "1/4", "2": "1/4"}',
    "groups.json": '{"groups": [{"ranks": "0-3"}, {"ranks": [4, 5], "size": "1/2", "collective": "broadcast", '
    '"root": 5}]}',
    "times.csv": "size,time_us\n1024,12\n1048576,90\n16777216,900\n268435456,14000\n",
    "rates.csv": "schedule,size,algbw\nring.json,1048576,11\nring.json,67108864,31.5\nring.json,1073741824,38\n",
    "costs.json": '{"format": "forestcoll.costs/1", "alpha_us": 14.5, "overhead_us": 0.4, "launch_us": 75, '
    '"efficiency": 0.67, "nic_efficiency": null, "rank_gbps": null, "block_gbps": 20, "incast": 0.1, '
    '"reduction_us_per_mb": 2}',
    "low.json": '{"format": "forestcoll.costs/1", "alpha_us": 1.5, "efficiency": 0.4}',
    "topo.txt": f"{_MATRIX}GPU0  X   NV12 NV12 NV12 PXB  0-31\nGPU1 NV12  X   NV12 NV12 PXB  0-31\nGPU2 NV12 NV12  X   "
    "NV12 SYS  32-63\nGPU3 NV12 NV12 NV12  X   SYS  32-63\nNIC0 PXB  PXB  SYS  SYS   X\n",
    "h100.txt": "     GPU0 GPU1 CPU Affinity\nGPU0  X   NV18 0-55\nGPU1 NV18  X   0-55\n",
    "edges.txt": "a b 25\nb c {'capacity': 25}\na c 10\n",
    "graph.xml": f'<graphs version="1"><graph id="0" pattern="4" crossnic="2" nchannels="2" speedintra="20" '
    f'speedinter="20">{_CHANNELS}</graph></graphs>',
    "profile.json": '{"format": "forestcoll.profile/1", "name": "two layers", "layers": [{"name": "one", '
    '"forward_us": 10, "backward_us": "41/2", "gradient_bytes": 4000000, "exchange_bytes": 0}, {"name": "two", '
    '"forward_us": 5, "backward_us": 10, "gradient_bytes": 1000000, "exchange_bytes": 200000}]}',
    "empty.json": "",
    "list.json": "[1, 2]",
    "cut.json": '{"directed": true,\n "nodes": [}',
    "text.txt": "no network at all\n",
    "binary.json": b"\x89PNG\r\n\x1a\n\x00\xff\xfe",
}
"""Files that commands read; some of them are wrong."""


def inputs() -> dict[str, Content]:
    """Return all small files, with the log of nccl-tests and a profile of the examples."""
    log = (ROOT / "examples" / "nccl-tests.log").read_bytes()
    return TEXTS | {"nccl-tests.log": log}
