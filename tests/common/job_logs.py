"""Logs of jobs of NCCL, written line by line as NCCL 2.30 writes them, whole or cut as in a file that ranks share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Tree = Sequence[int]
"""The parent of each rank; -1 for the root."""

MARKS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "mpirun": lambda rank: f"[1,{rank}]<stdout>:",
    "srun": lambda rank: f"{rank}: ",
    "torchrun": lambda rank: f"[default{rank % 2}]:",
    "time stamp": lambda rank: f"2026-11-28T00:31:0{rank % 10}.123456Z ",
    "colour": lambda rank: f"\x1b[0;3{rank % 8}m\x1b[1m",
}
"""What stands before the lines of a rank."""


@dataclass(frozen=True)
class Job:
    """A job with one communicator.

    Attributes:
        hosts: the name of the host of each rank.
        rings: the ring of each channel.
        trees: the tree of each channel.
        version: the version of NCCL.
        name: the number of the communicator.
        graph: whether the subsystem GRAPH is on.
        nvlink: GB/s of the NVLinks of a GPU to its switch.
        nic: GB/s of the NIC of a host.
    """

    hosts: Sequence[str]
    rings: Sequence[Sequence[int]]
    trees: Sequence[Tree]
    version: str = "2.30.7"
    name: str = "0x9b3e512baceab3e5"
    graph: bool = True
    nvlink: float = 370.8
    nic: float = 50.0

    def mark(self, rank: int) -> str:
        """Return the mark of the process of a rank."""
        return f"{self.hosts[rank]}:{4000 + rank}:{4000 + rank} [{self.local(rank)}] NCCL INFO "

    def local(self, rank: int) -> int:
        """Return the place of a rank in its host."""
        return sum(host == self.hosts[rank] for host in self.hosts[:rank])

    def lines(self, rank: int) -> list[str]:
        """Return the lines of a rank."""
        return [self.mark(rank) + text for text in self._texts(rank)]

    def text(self, before: str = "none") -> str:
        """Return the log, one rank after the other."""
        ranks = range(len(self.hosts))
        return "".join(f"{MARKS[before](rank)}{line}\n" for rank in ranks for line in self.lines(rank))

    def cut_text(self, block: int = 4096) -> str:
        """Return the log as ranks write it into one file: in blocks, which end in the middle of lines."""
        left = ["".join(f"{line}\n" for line in self.lines(rank)) for rank in range(len(self.hosts))]
        found = ""
        while any(left):
            found += "".join(text[:block] for text in left)
            left = [text[block:] for text in left]
        return found

    def _texts(self, rank: int) -> list[str]:
        size, names = len(self.hosts), list(dict.fromkeys(self.hosts))
        comm = f"comm 0x55662a97{rank:04x} rank {rank}"
        own = [each for each, host in enumerate(self.hosts) if host == self.hosts[rank]]
        gpu = f"cudaDev {self.local(rank)} nvmlDev {self.local(rank)} busId {self.local(rank) + 1}b000"
        begin = f"ncclCommInitRank {comm} nranks {size} {gpu} commId {self.name} - Init"
        texts = [
            f"NCCL version {self.version}+cuda13.3",
            "NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.10<0>",
            f"[Rank {rank}] {begin} START",
        ]
        if self.graph:
            texts += self._system(own)
        texts.append(
            f"{comm} nRanks {size} nNodes {len(names)} localRanks {len(own)} localRank {own.index(rank)} MNNVL 0"
        )
        places = [(ring, ring.index(rank)) for ring in self.rings]
        if rank == 0:
            width = len(str(size - 1))
            for channel, ring in enumerate(self.rings):
                line = f"Channel {channel:02d}/{len(self.rings):02d} :" + "".join(f" {each:{width}d}" for each in ring)
                texts.append(line if len(line) < 128 else line[:124] + "...")
        if self.graph:
            texts += [
                f"Ring {channel:02d} : {ring[at - 1]} -> {rank} -> {ring[(at + 1) % size]}"
                for channel, (ring, at) in enumerate(places)
            ]
        entries = "".join(f" [{channel}] {self._tree(tree, rank)}" for channel, tree in enumerate(self.trees))
        texts.append(f"Trees{entries}"[:1023])
        texts.append(f"{len(self.rings)} coll channels, 0 collnet channels, 0 nvls channels, 2 p2p channels")
        texts.append(f"{begin} COMPLETE")
        for channel, (ring, at) in enumerate(places):
            texts += self._connections(channel, ring[at - 1], rank, ring[(at + 1) % size])
        texts.append("Connected all rings, use ring PXN 0 GDR 0")
        return texts

    def _tree(self, tree: Tree, rank: int) -> str:
        below = [child for child, parent in enumerate(tree) if parent == rank]
        return "/".join(map(str, [*below, -1, -1, -1][:3])) + f"->{rank}->{tree[rank]}"

    def _connections(self, channel: int, before: int, rank: int, after: int) -> list[str]:
        names = [f"{each}[{self.local(each)}]" for each in (before, rank, after)]
        texts = []
        if self.hosts[before] != self.hosts[rank]:
            texts.append(f"Channel {channel:02d}/0 : {names[0]} -> {names[1]} [receive] via NET/IB/0/GDRDMA")
        if self.hosts[after] == self.hosts[rank]:
            texts.append(f"Channel {channel:02d}/0 : {names[1]} -> {names[2]} via P2P/CUMEM")
        else:
            texts.append(f"Channel {channel:02d}/0 : {names[1]} -> {names[2]} [send] via NET/IB/0/GDRDMA")
        return texts

    def _system(self, own: Sequence[int]) -> list[str]:
        texts = ["=== System : maxBw 48.0 totalBw 370.8 ===", "CPU/0-0 (1/1/3)"]
        for place in range(len(own)):
            texts.append(f"+ PCI[48.0] - DEV/0-{place + 1}b000 (10de233510de18bf)")
            texts.append(f"              + LOC[5000.0] - GPU/0-{place + 1}b000")
            texts.append(f"              + NVL[{self.nvlink}] - NVS/0-0")
        texts += ["+ PCI[100.0] - NIC/0-40000", f"               + NET[{self.nic}] - NET/0-0 (0/1/1/50.000000)"]
        return [*texts, "=========================================="]


def job(hosts: int, gpus: int, channels: int = 2, **options: object) -> Job:
    """Return a job whose rings go through the ranks in their order, and whose trees are heaps and mirrored heaps."""
    size = hosts * gpus
    heap = [-1, *((rank - 1) // 2 for rank in range(1, size))]
    mirrored = [size - 1 - heap[size - 1 - rank] if rank < size - 1 else -1 for rank in range(size)]
    return Job(
        [f"node-{rank // gpus:02d}" for rank in range(size)],
        [tuple(range(size))] * channels,
        [heap if channel < channels / 2 else mirrored for channel in range(channels)],
        **options,  # type: ignore[arg-type]
    )
