"""The examples at the end of the help of each command.

`tests/cli` runs the examples of each command in order. An example may read a file that an earlier example wrote.
`nccl-tests.log` is the log of an allgather on two DGX A100, `nccl-job.log` that of a job of NCCL on two hosts.
"""

EXAMPLES = {
    "bench": (
        "forestcoll emulate ring:nodes=2 --scale 200Mbit=1 -- forestcoll bench -b 256K -e 1M -f 2 --library none",
        "forestcoll emulate ring:nodes=3 --scale 1Gbit=1 -- forestcoll bench -b 1M -e 1M --library none --json",
    ),
    "compare": (
        "forestcoll compare dgx-a100:boxes=2",
        "forestcoll compare dgx-a100:boxes=2 --html report.html",
        "forestcoll compare dgx-a100:boxes=2 --collective allreduce --baselines nccl-ring,nccl-tree --json",
    ),
    "design": (
        "forestcoll design --nodes 12 --degree 4 --size 1MB -o topology=network.json",
        "forestcoll design --nodes 36 --degree 4 torus:dims=3x3 -o plot=frontier.svg -o picture=net.svg",
        "forestcoll design --nodes 8 --degree 4 --profile llama-3-8b --layout tp=2,fsdp=4 -o topology=network.json",
        "forestcoll design torus:dims=3x3 --by line-graph --by degree=2 -o schedule.json",
    ),
    "emulate": (
        "forestcoll emulate ring:nodes=3 --scale 100Mbit=1 -- sh -c 'echo rank $RANK of $WORLD_SIZE'",
        "forestcoll emulate dgx-a100:boxes=1 --scale 100Mbit=300GB/s -- sh -c 'ip -brief address show main'",
    ),
    "explain": (
        "forestcoll explain dgx-a100:boxes=2 --measured nccl-tests.log",
        "forestcoll explain --measured nccl-tests.log --json",
        "forestcoll explain dgx-h100:boxes=1 --busbw 480 --collective allreduce",
        "forestcoll explain --measured nccl-job.log",
    ),
    "export": (
        "forestcoll generate ring:nodes=4 --collective allreduce -o schedule.json",
        "forestcoll export schedule.json --to mscclpp-json -o plan.json -o snippet=register.py",
        "forestcoll export schedule.json --to goal --bytes 64MiB -o schedule.goal",
        "forestcoll export hgx-a100-4:boxes=1 --to nccl-graph -o graph.xml",
    ),
    "fit": (
        "forestcoll fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring -o costs.json",
        "forestcoll compare dgx-a100:boxes=2 --baselines nccl-ring --costs costs.json",
        "forestcoll fit nccl-tests.log --schedule dgx-a100:boxes=2 --algorithm nccl-ring --model alpha-beta --json",
    ),
    "generate": (
        "forestcoll generate dgx-a100:boxes=2 -o schedule.json",
        "forestcoll generate torus:dims=4x4 --method bfb -o steps.json.gz",
        "forestcoll generate torus:dims=3x3 --survive links -o survive.json -o failover=left",
        "forestcoll generate dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce -o bundle.json",
    ),
    "import": (
        "forestcoll topology dgx-a100:boxes=2 -o network.graphml",
        "forestcoll import network.graphml -o network.json",
        "forestcoll optimum network.json",
    ),
    "one-port": (
        "forestcoll one-port torus:dims=3x3 --source 0 --ports one -o series.json",
        "forestcoll verify series.json",
        "forestcoll one-port ring:nodes=5 --source 0 --size 256MiB --method packets:count=64",
    ),
    "optimum": (
        "forestcoll optimum dgx-a100:boxes=2",
        "forestcoll optimum dgx-a100:boxes=2 --collective allreduce",
        "forestcoll optimum dgx-a100:boxes=2 --layout tp=8,dp=2 --collective allreduce --all",
        "forestcoll optimum torus:dims=3x3 --all",
        "forestcoll optimum circulant:nodes=12,offsets=1+3+4+5 --frontier -o frontier.svg",
    ),
    "probe": (
        "forestcoll emulate ring:nodes=2 --scale 100Mbit=1 -- forestcoll probe -o measured.json",
        "forestcoll emulate ring:nodes=2 --scale 100Mbit=1 -- forestcoll probe --repeat 1 --json -o measured.json",
        "forestcoll import measured.json -o network.json",
    ),
    "rank-order": (
        "forestcoll rank-order cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4",
        "forestcoll rank-order torus:dims=4x4 --collective allgather --to slurm -o hosts.txt",
        "forestcoll rank-order dgx-a100:boxes=4 --layout tp=8,dp=4 --json",
    ),
    "simulate": (
        "forestcoll generate dgx-a100:boxes=2 --collective allreduce -o schedule.json",
        "forestcoll simulate schedule.json --sizes 1MiB..1GiB",
        "forestcoll simulate schedule.json --alpha-us 2 -o times.csv -o links=links.csv",
    ),
    "topology": (
        "forestcoll topology nvidia",
        "forestcoll topology torus:dims=4x4x4,bandwidth=25 -o network.json.gz",
        "forestcoll topology network.json.gz --to graphml -o network.graphml",
    ),
    "train-time": (
        "forestcoll train-time switch-base-256 torus:dims=4x4",
        "forestcoll train-time switch-base-256 ring:nodes=8 --buckets 25MB,100MB --json",
        "forestcoll train-time gpt2-small circulant:nodes=12,offsets=2+3",
        "forestcoll train-time mixtral-8x7b dgx-a100:boxes=2 --layout ep=8,fsdp=2 --sweep batch=1,2,4 -o chart.svg",
    ),
    "tune": (
        "forestcoll tune hypercube:dim=2 --collective allreduce --sizes 1K..1M -o tuned",
        "forestcoll tune hypercube:dim=2 --sizes 64K..64M --json",
        "forestcoll tune dgx-h100:boxes=4 --collective allreduce --to nccl-tuner -o tuner",
    ),
    "verify": (
        "forestcoll generate dgx-a100:boxes=2 -o schedule.json",
        "forestcoll verify schedule.json",
        "forestcoll verify schedule.json --json",
        "forestcoll export schedule.json --to msccl-xml -o program.xml",
        "forestcoll verify program.xml --dialect microsoft",
    ),
    "view": (
        "forestcoll view dgx-a100:boxes=2 -o network.svg",
        "forestcoll generate dgx-a100:boxes=2 -o schedule.json",
        "forestcoll view schedule.json -o schedule.html",
    ),
    "what-if": (
        "forestcoll what-if dgx-a100:boxes=2 --fail links",
        "forestcoll what-if mi250:boxes=2 --upgrade",
        "forestcoll what-if dgx-a100:boxes=2 --fail nics -o failover",
    ),
}
"""The examples of each command, one line each."""


def epilog_of(command: str) -> str:
    r"""Return the last paragraph of the help of a command. Its first character tells click not to wrap the lines.

    Example:
        >>> epilog_of("explain")[:60]
        '\x08\nExamples:\n  forestcoll explain dgx-a100:boxes=2 --measured'
    """
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])
