"""NCCL's tuning table of a job, and what NCCL chooses by it: algorithm, protocol and channels of each size.

When a communicator starts, NCCL makes a table of the machine: a latency and a bandwidth for each collective, algorithm
and protocol. For a call with M bytes of total data, it expects `latency · k + M / (1000 · bandwidth · f)` microseconds,
and takes the entry with the least time, the first of equal ones:

- f: the part of the bandwidth that trees of an allreduce reach, by log2(M / 64);
- k: 1.4 (1.9 before compute capability 8.0) for a ring of an allreduce over several hosts with the protocol Simple, if
  each rank has 64 bytes or more on each channel.

Of its channels, NCCL uses as many as get `channel_bytes` each, and at least one.

Source: times that NCCL 2.28.9, 2.30.7 and 2.32.3 handed to a tuner plugin, and what they printed. Times, algorithms and
protocols are equal; channels are too, except for PAT and a few sizes of LL128. Those of NVLS were not compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from forestcoll.demand.collective import Collective

ALGORITHMS = ("TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT")
"""The algorithms in the order of NCCL's tables, with the names that NCCL prints."""

PROTOCOLS = ("LL", "LL128", "SIMPLE")
"""The protocols in the order of NCCL's tables."""

COLLECTIVES = (
    Collective.BROADCAST,
    Collective.REDUCE,
    Collective.ALLGATHER,
    Collective.REDUCE_SCATTER,
    Collective.ALLREDUCE,
)
"""The collectives in the order of NCCL's tables."""

_TREE_PARTS = {
    "LL": "1 1 1 1 .9 .8 .7 .7 .7 .7 .6 .5 .4 .4 .5 .6 .7 .8 .9 1 1 1 1",
    "LL128": "1 1 1 1 1 .9 .8 .8 .8 .7 .6 .6 .6 .6 .6 .6 .8 .9 .9 .9 .9 1 1",
    "SIMPLE": ".9 .9 .9 .9 .9 .9 .9 .8 .7 .6 .6 .5 .5 .5 .5 .6 .7 .8 .7 .7 .8 .9 .9",
}
_PARTS = {name: tuple(map(float, text.split())) for name, text in _TREE_PARTS.items()}
"""The part f of the bandwidth for each log2(M / 64)."""

_USE_ALL_CHANNELS = frozenset({"COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE"})


class Key(NamedTuple):
    """The place of an entry: a collective, an algorithm and a protocol, as NCCL prints both."""

    collective: Collective
    algorithm: str
    protocol: str


class Entry(NamedTuple):
    """What NCCL's table has in one place.

    Attributes:
        latency_us: the latency in microseconds.
        bandwidth: the algbw in GB/s.
        channel_bytes: the least bytes of M for each channel; with less data, fewer channels are used.
    """

    latency_us: float
    bandwidth: float
    channel_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """What NCCL uses for one size.

    Attributes:
        size: the data M in bytes.
        algorithm: the algorithm, as NCCL prints it, such as `RING`.
        protocol: `LL`, `LL128` or `SIMPLE`.
        channels: the number of channels.
        microseconds: the time that NCCL expects.
    """

    size: int
    algorithm: str
    protocol: str
    channels: int
    microseconds: float


@dataclass(frozen=True)
class Table:
    """The tuning table of a communicator.

    Attributes:
        version: the version of NCCL, such as `2.32.3`.
        source: where the table comes from, in words.
        capability: the compute capability of the GPUs, times 10.
        hosts: the number of hosts.
        ranks: the number of ranks.
        channels: the number of channels.
        entries: the entries that NCCL may choose, in the order of its own table.
        graphs: the graph file with the rings and trees that NCCL finds, of each kind of host; empty if not known.

    Example:
        >>> entries = {
        ...     Key(Collective.ALLGATHER, "RING", "LL"): Entry(10, 50, 512),
        ...     Key(Collective.ALLGATHER, "RING", "SIMPLE"): Entry(30, 100, 32768),
        ... }
        >>> table = Table("2.32.3", "an example", 90, hosts=1, ranks=8, channels=16, entries=entries)
        >>> table.choice(Collective.ALLGATHER, 1024)
        Choice(size=1024, algorithm='RING', protocol='LL', channels=2, microseconds=10.020480155944824)
        >>> table.choice(Collective.ALLGATHER, 2**30).protocol
        'SIMPLE'
    """

    version: str
    source: str
    capability: int
    hosts: int
    ranks: int
    channels: int
    entries: Mapping[Key, Entry]
    graphs: tuple[str, ...] = ()

    def microseconds(self, key: Key, size: int, most: float = inf) -> float:
        """Return the time that NCCL expects for `size` bytes with an entry, in its own precision of 32 bits.

        Args:
            key: the entry.
            size: the data M in bytes.
            most: the most algbw that the network allows, in GB/s; NCCL itself counts that of the hosts only.
        """
        entry = self.entries[key]
        latency, bandwidth = np.float32(entry.latency_us), np.float32(entry.bandwidth)
        if key.collective is Collective.ALLREDUCE:
            step = (size >> 6).bit_length() - 1
            is_tree = key.algorithm == "TREE" or (key.algorithm == "NVLS_TREE" and self.capability >= 100)
            if is_tree and 0 <= step < len(_PARTS[key.protocol]):
                bandwidth *= np.float32(_PARTS[key.protocol][step])
            is_ring = (key.algorithm, key.protocol) == ("RING", "SIMPLE")
            if is_ring and self.hosts > 1 and size // (self.channels * self.ranks) >= 64:
                latency = np.float32(float(latency) * (1.9 if self.capability < 80 else 1.4))
        bandwidth = np.float32(min(float(bandwidth), most))
        return float(latency + np.float32(size) / (np.float32(1000) * bandwidth))

    def algorithms(self, collective: Collective) -> list[str]:
        """Return the algorithms that NCCL offers for a collective."""
        return list(dict.fromkeys(key.algorithm for key in self.entries if key.collective is collective))

    def choice(self, collective: Collective, size: int, algorithm: str | None = None) -> Choice | None:
        """Return what NCCL uses for `size` bytes, if it must take an algorithm; None if the table has no such entry."""
        keys = [key for key in self.entries if key.collective is collective and algorithm in {None, key.algorithm}]
        if not keys:
            return None
        key = min(keys, key=lambda each: self.microseconds(each, size))
        return Choice(size, key.algorithm, key.protocol, self._channels(key, size), self.microseconds(key, size))

    def _channels(self, key: Key, size: int) -> int:
        least = self.entries[key].channel_bytes
        if key.algorithm in _USE_ALL_CHANNELS or not least:
            return self.channels
        return max(1, min(self.channels, size // least))
