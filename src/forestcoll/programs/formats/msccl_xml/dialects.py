"""The runtimes that load MSCCL XML, and how their limits and names differ.

From their source code: microsoft/msccl `src/graph/topo.cc`, `src/graph/xml.h`, `src/include/msccl.h` (last commit of
2023); Azure/msccl-executor-nccl and ROCm/rccl `src/misc/msccl/msccl_parser.cc`, `src/include/msccl/msccl_struct.h`
(2024). RCCL removed MSCCL in ROCm 7.13. See `docs/runtimes.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forestcoll.base.errors import InputError, argument, unknown_name
from forestcoll.programs.model import Task
from forestcoll.programs.model.limits import Limits

MAX_COUNT = 71
"""The most chunks that a step moves (`MSCCL_MAX_COUNT` is one more)."""

MAX_BLOCKS_PER_CHANNEL = 32
"""The most blocks of a rank that send, and as many that receive, on one channel."""

MAX_DEPENDED_BLOCK = 127
"""The greatest number of a block that another can wait for; the runtimes store it in 8 bits with a sign."""

MAX_OFFSET = 2**15 - 1
"""The greatest offset; the runtimes store it in 16 bits with a sign."""

MAX_NODES = 4095
"""The most XML elements in the part of a rank, including `<algo>` and every `<gpu>`."""

MAX_CHILDREN = 1024
"""The most child elements of an element."""

MAX_VALUE_LENGTH = 255
"""The most characters of an attribute."""

MAX_FUSED = 16
"""The most consecutive `re` steps that a runtime may fuse into one."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The capacity of a connection between two blocks, for a protocol.

    Attributes:
        slots: the number of messages that fit. A connection has 8 steps; a message takes 4 with Simple, else 1.
        slot_bytes: the size of a message in bytes with the default buffers of NCCL.
        slices: the parts of a message that move one after the other (`MSCCL_CHUNKSTEPS` / `MSCCL_SLICESTEPS`).
    """

    slots: int
    slot_bytes: int
    slices: int = 1


CONNECTIONS: Mapping[str, Connection] = MappingProxyType(
    {
        "Simple": Connection(2, 2**21, 2),
        "LL": Connection(8, 2**15),
        "LL128": Connection(8, 576_000),
    }
)
"""The capacity of a connection for each protocol."""

_STEPS = 8  # of a connection


def joined_bytes(protocol: str, *, has_root: bool) -> int:
    """Return the most bytes of several chunks in one message (`mscclMaxAllowedCount`): as many as fit.

    In a broadcast or reduce with Simple, it is computed for messages of one step (`BROADCAST_CHUNKSTEPS`,
    `REDUCE_CHUNKSTEPS`), although they take as many steps as in other collectives.

    Args:
        protocol: the protocol.
        has_root: whether the collective is a broadcast or a reduce.
    """
    connection = CONNECTIONS[protocol]
    return connection.slot_bytes // (_STEPS // connection.slots if has_root else 1)


DEFAULT_MAX_BYTES = 2**27
"""`maxBytes` of a file that does not state it (microsoft/msccl; the other runtimes require it)."""


MAX_CHANNELS = 32
"""The most channels that are used; RCCL has had 32 to 128, depending on the version."""


class DialectName(StrEnum):
    """The name of a dialect on the command line."""

    MICROSOFT = "microsoft"
    AZURE = "azure"
    RCCL = "rccl"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names and limits of one runtime.

    Attributes:
        name: the runtime.
        tasks: its name for each collective.
        steps: the most steps of a block.
        blocks: the most blocks of a rank.
        channels: the number of channels.
        required: attributes of `<algo>` without which it ignores the file.
        exact_chunks: whether `i_chunks` and `o_chunks` must agree with `nchunksperloop`, unless they are 0.
        one_place: whether a file is either in place or out of place, never both.
    """

    name: DialectName
    tasks: Mapping[str, Task]
    steps: int
    blocks: int
    channels: int
    required: tuple[str, ...]
    exact_chunks: bool
    one_place: bool

    def spelling(self, task: Task) -> str:
        """Return the name of `task` in this dialect.

        Raises:
            InputError: the dialect has no name for it.
        """
        for name, known in self.tasks.items():
            if known is task:
                return name
        raise InputError(f"the {self.name.value} dialect of MSCCL XML has no {task.value}; it has {self._known}")

    @property
    def _known(self) -> str:
        return ", ".join(sorted(self.tasks))


_TASKS = {
    "allgather": Task.ALLGATHER,
    "allreduce": Task.ALLREDUCE,
    "broadcast": Task.BROADCAST,
    "reduce": Task.REDUCE,
    "alltoall": Task.ALL_TO_ALL,
}
_META = ("minBytes", "maxBytes", "inplace", "outofplace")

_MICROSOFT = Dialect(
    name=DialectName.MICROSOFT,
    tasks=MappingProxyType(_TASKS | {"reduce_scatter": Task.REDUCE_SCATTER, "custom": Task.CUSTOM}),
    steps=256,
    blocks=216,
    channels=32,
    required=("inplace",),
    exact_chunks=True,
    one_place=True,
)
_AZURE = Dialect(
    name=DialectName.AZURE,
    tasks=MappingProxyType(_TASKS | {"reducescatter": Task.REDUCE_SCATTER}),
    steps=64,
    blocks=1024,
    channels=32,
    required=_META,
    exact_chunks=False,
    one_place=False,
)
_RCCL = Dialect(
    name=DialectName.RCCL,
    tasks=_AZURE.tasks,
    steps=64,
    blocks=64,
    channels=128,
    required=_META,
    exact_chunks=False,
    one_place=False,
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({each.name.value: each for each in (_MICROSOFT, _AZURE, _RCCL)})
"""All dialects by name."""

TASKS: Mapping[str, Task] = MappingProxyType(dict(_MICROSOFT.tasks) | dict(_AZURE.tasks))
"""All names of collectives in any dialect."""


def dialect_named(name: str) -> Dialect:
    """Return the dialect called `name`.

    Raises:
        InputError: there is none.
    """
    if not isinstance(name, str) or name not in DIALECTS:
        raise unknown_name(f"there is no dialect {argument(name)} of MSCCL XML", name, DIALECTS)
    return DIALECTS[name]


def limits(dialect: Dialect, ranks: int) -> Limits:
    """Return the limits of a program for `ranks` ranks in `dialect`."""
    return Limits(
        name=f"MSCCL XML for {dialect.name.value}",
        blocks=dialect.blocks,
        steps=dialect.steps,
        channels=min(dialect.channels, MAX_CHANNELS),
        blocks_per_channel=MAX_BLOCKS_PER_CHANNEL,
        count=MAX_COUNT,
        chunks=MAX_OFFSET,
        waits=1,
        steps_of_rank=MAX_NODES - 1 - ranks,
        dependency_block=MAX_DEPENDED_BLOCK,
        channels_of_block=1,
    )
