"""Valid files of every kind that forestcoll reads, from which the fuzzers start.

They are written by forestcoll itself, or are recorded in the tests.
"""

from collections.abc import Iterator
from pathlib import Path

from fuzz.running import run

NETWORKS = {
    "ring": "ring:nodes=3",
    "box": "dgx-a100:boxes=2,gpus=2",
    "torus": "torus:dims=2x3",
    "nvls": "dgx-h100:boxes=2,gpus=2,nvls=true",
}
_TESTS = Path(__file__).parents[2] / "tests"

TEXTS = {
    "demand.csv": "0,1,2\n1/2,0,3\n0.1,4,0\n",
    "named.csv": ",0,1,2\n0,0,1,1\n1,1,0,1\n2,1,1,0\n",
    "pieces.json": (
        '{"format": "forestcoll.demand/1", "pieces": [{"id": "a", "size": "1/2", "held_by": [0, 1], "needed_by": [2]}, '
        '{"id": "b", "sum_of": "1-2", "needed_by": "0,2"}, {"id": "c", "held_by": ["0"], "needed_by": "1-2"}]}'
    ),
    "shards.json": '{"0": "1/2", "1": "1/4", "2": "1/4"}',
    "times.csv": "size,time_us\n1024,12\n1048576,90\n16777216,900\n268435456,14000\n",
    "nccl-tests.json": (
        '{"args": ["./all_reduce_perf"], "config": {"ngpus": 1, "devices": [{"rank": 0, "group": 0}]}, '
        '"results": [{"size": 8000, "redop": "sum", "root": "-1", "out_of_place": {"time": 8.0, "alg_bw": 1.0, '
        '"bus_bw": 1.0, "nwrong": 0.0}, "in_place": null}], "errors": [""], "end_time": ""}'
    ),
    "inspector.log": (
        '{"header": {"id": "0x1", "rank": 0, "n_ranks": 4}, "coll_perf": {"coll": "AllGather", "coll_msg_size_bytes": '
        '1024, "coll_exec_time_us": 7, "coll_timing_source": "kernel_gpu"}}\n{"header": {}, "p2p_perf": {}}\n'
    ),
    "ras.json": (
        '{"communicators": [{"hash": "0x1", "size": 2, "ranks": [{"rank": 0, "collective_counts": {"AllReduce": 1}}], '
        '"missing_ranks": [{"rank": 1, "host": "10.0.0.1", "pid": 7}]}]}'
    ),
    "rccl-tests.csv": (
        "numCycle,collective,ranks,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
        "0,AllReduce,2,4,8000,float,sum,0,8.0,1.0,1.75,0\n0,AllReduce,2,4,8000,float,sum,1,8.0,1.0,1.75,N/A\n"
    ),
    "matrix.csv": ",a,b,c\na,0,1,2\nb,1,0,2\nc,2,2,0\n",
    "edges.txt": "a b 25\nb c {'capacity': 25}\na c 10\n",
    "slurm.conf": "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n",
    "topo.txt": "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV12\tPIX\nGPU1\tNV12\t X \tSYS\nNIC0\tPIX\tSYS\t X \n",
    "peer.txt": (
        "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)\n   D\\D     0      1 \n"
        "     0 900.10 270.20 \n     1 270.10 901.00 \n"
    ),
    "astra.yaml": (
        "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25.0 ]\nlatency: [ 500.0, 500.0 ]\n"
    ),
    "graph.gml": (
        'graph [\n node [ id 0 label "a" ]\n node [ id 1 label "b" ]\n edge [ source 0 target 1 capacity 5 ]\n]\n'
    ),
    "nccl.xml": (
        '<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">'
        '<pci busid="0000:01:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<pci busid="0000:02:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<gpu dev="0" sm="80" rank="0" gdr="1"><nvlink target="0000:04:00.0" count="12" tclass="0x030200"/></gpu></pci>'
        '<pci busid="0000:04:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<gpu dev="1" sm="80" rank="1" gdr="1"><nvlink target="0000:02:00.0" count="12" tclass="0x030200"/></gpu></pci>'
        '<pci busid="0000:05:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">'
        '<nic><net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" maxconn="1" gdr="1"/></nic></pci>'
        "</pci></cpu></system>\n"
    ),
}
"""Small files of other tools."""

COMMANDS = (
    *(f"topology {spec} -o {name}.json" for name, spec in NETWORKS.items()),
    "generate ring:nodes=3 -o allgather.json",
    "generate ring:nodes=3 -o allgather.json.gz",
    "generate dgx-a100:boxes=2,gpus=2 --collective allreduce -o allreduce.json",
    "generate dgx-a100:boxes=2,gpus=2 --compact -o compact.json",
    "generate dgx-h100:boxes=2,gpus=2,nvls=true --collective allreduce -o nvls-allreduce.json",
    "generate torus:dims=2x3 --collective reduce --root 0 -o reduce.json",
    "generate ring:nodes=3 --demand pieces.json -o moved.json",
    "generate torus:dims=2x3 --collective allreduce --method bfb -o steps.json",
    "generate ring:nodes=3 --collective all-to-all -o flows.json",
    "one-port ring:nodes=3 --source 0 -o series.json",
    "export allgather.json --to msccl-xml -o program.xml",
    "export allgather.json --to mscclpp-json -o program.json",
    "export allgather.json --to goal -o program.goal",
    "compare ring:nodes=3 --baselines direct --html report.html",
    "view ring:nodes=3 -o view.svg",
)
"""The commands that write the other seeds."""


def write_seeds(folder: Path) -> list[Path]:
    """Write all seeds to `folder`, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    for line in COMMANDS:
        done = run(line.split(), folder, seconds=120)
        if done.status != 0:
            raise RuntimeError(f"{line}: {done.err}")
    for path in _recorded():
        (folder / path.name).write_bytes(path.read_bytes())
    return sorted(folder.iterdir())


def _recorded() -> Iterator[Path]:
    yield _TESTS.parent / "examples" / "nccl-tests.log"
    for folder in (_TESTS / "topology" / "importers" / "recorded", _TESTS.parent / "examples" / "profiles"):
        yield from (path for path in sorted(folder.iterdir()) if path.is_file())
