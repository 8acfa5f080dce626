"""Small programs in the formats of the runtimes, and schedules to export."""

import json
from pathlib import Path
from typing import Any

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.registry import build_topology

GOLDEN = Path(__file__).parents[2] / "golden"

ALGORITHM = """\
<algo name="pair" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="0" \
outofplace="1" minBytes="0" maxBytes="0">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""
"""An allgather of two ranks that is correct in all dialects."""

REDUCTION = """\
<algo name="sum" proto="LL" nchannels="1" nchunksperloop="2" ngpus="2" coll="reducescatter" inplace="0" \
outofplace="1" minBytes="0" maxBytes="1048576">
  <gpu id="0" i_chunks="2" o_chunks="1" s_chunks="1">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="1" dstbuf="i" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="1" send="-1" recv="-1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
    </tb>
    <tb id="2" send="-1" recv="-1" chan="0">
      <step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="1" deps="0" hasdep="0"/>
      <step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="0" deps="1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="2" o_chunks="1" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="rrc" srcbuf="i" srcoff="1" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
"""
"""A reduce-scatter of two ranks with a nop, dependencies and both kinds of sums, for Azure's executor and RCCL."""


def local(buffer: str, index: int, size: int = 1) -> dict[str, Any]:
    return {"type": buffer, "index": index, "size": size}


def remote(number: int, index: int, size: int = 1) -> dict[str, Any]:
    return {"buffer_id": number, "index": index, "size": size}


def plan() -> dict[str, Any]:
    """An allgather in place of two ranks: greetings, a put each, and signals; each call gives a new one."""
    return {
        "name": "pair",
        "collective": "allgather",
        "protocol": "Simple",
        "inplace": True,
        "reuse_resources": False,
        "use_double_scratch_buffer": False,
        "num_threads_per_block": 1024,
        "buffer_alignment": 16,
        "min_message_size": 0,
        "max_message_size": 2**30,
        "gpus": [_gpu(0), _gpu(1)],
    }


def _gpu(rank: int) -> dict[str, Any]:
    operations = [
        {"name": "rlxsignal", "channel_ids": [0], "channel_type": "memory"},
        {"name": "rlxwait", "channel_ids": [0], "channel_type": "memory"},
        {"name": "nop"},
        {"name": "put", "src_buff": [local("o", rank)], "dst_buff": [remote(0, rank)], "channel_type": "memory"},
        {"name": "nop"},
        {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
        {"name": "wait", "channel_ids": [0], "channel_type": "memory"},
    ]
    block = {
        "id": 0,
        "ops": operations,
        "channels": [{"channel_type": "memory", "channel_ids": [0]}],
        "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}],
    }
    return {
        "id": rank,
        "input_chunks": 1,
        "output_chunks": 2,
        "scratch_chunks": 0,
        "channels": [{"channel_type": "memory", "connected_to": [1 - rank]}],
        "remote_buffers": [{"rank": 1 - rank, "type": "o", "access_channel_types": ["memory"]}],
        "semaphores": [],
        "threadblocks": [block],
    }


def packet_plan() -> dict[str, Any]:
    """An allreduce in place of two ranks with packets: each sends a half, adds up its own, and sends the sum back."""
    document = plan() | {"name": "packets", "collective": "allreduce", "protocol": "LL"}
    for rank, gpu in enumerate(document["gpus"]):
        other = 1 - rank
        gpu |= {"input_chunks": 2, "scratch_chunks": 2}
        gpu["remote_buffers"][0]["type"] = "s"
        gpu["threadblocks"][0]["ops"] = [
            {"name": "ppkt", "src_buff": [local("i", other)], "dst_buff": [remote(0, 0)], "channel_type": "memory"},
            {
                "name": "respkt",
                "src_buff": [local("i", rank), local("s", 0)],
                "dst_buff": [local("i", rank), remote(0, 1)],
                "channel_type": "memory",
            },
            {"name": "upkt", "src_buff": [local("s", 1)], "dst_buff": [local("i", other)]},
        ]
    return document


def loop_plan() -> dict[str, Any]:
    """The allgather of `plan` with the put and the signals in a pipeline."""
    document = plan()
    for gpu in document["gpus"]:
        operations = gpu["threadblocks"][0]["ops"]
        inner = {"iter_context": {"unit_size": 65536, "num_chunks": 1}, "ops": operations[3:]}
        gpu["threadblocks"][0]["ops"] = [*operations[:3], {"name": "pipeline", **inner}]
    return document


def switch_plan() -> dict[str, Any]:
    """An allreduce in place of two ranks by a switch that adds up one half for each rank."""
    document = plan() | {"name": "switch", "collective": "allreduce"}
    for rank, gpu in enumerate(document["gpus"]):
        gpu |= {"input_chunks": 2, "remote_buffers": []}
        group = {"size": 2, "ranks": [0, 1]}
        gpu["channels"].append({"channel_type": "switch", "buffer_type": "i", "rank_groups": [group]})
        block = gpu["threadblocks"][0]
        block |= {"remote_buffer_refs": []}
        block["channels"].append({"channel_type": "switch", "channel_ids": [0]})
        half = [{"switch_channel_id": 0, "index": rank, "size": 1}]
        block["ops"][3] = {"name": "glres", "src_buff": half, "dst_buff": half, "channel_type": "switch"}
    return document


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document)


def schedule(spec: str, collective: Collective = Collective.ALLGATHER) -> TreeSchedule:
    topology = build_topology(spec)
    root = topology.nodes[topology.compute[0]].id if collective.has_root else None
    made: TreeSchedule = generate(topology, Demand(collective, root=root))
    return made
