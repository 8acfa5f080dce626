"""The runtimes that load MSCCL's XML, and how their limits and names differ.

Read in their sources: microsoft/msccl `src/graph/topo.cc`, `src/graph/xml.h`, `src/include/msccl.h` (last commit of
2023); Azure/msccl-executor-nccl and ROCm/rccl `src/misc/msccl/msccl_parser.cc`, `src/include/msccl/msccl_struct.h`
(2024). RCCL has had no MSCCL since ROCm 7.13. `docs/runtimes.md` says more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from forestcoll.errors import InputError, shown
from forestcoll.program import Task
from forestcoll.program.limits import Limits

MAX_COUNT = 71
"""The most chunks that a step moves (`MSCCL_MAX_COUNT` is the first number that is too great)."""

MAX_BLOCKS_PER_CHANNEL = 32
"""The most blocks of a rank that send, and as many that receive, on one channel."""

MAX_DEPENDED_BLOCK = 127
"""The greatest number of a block that another can wait for: the runtimes keep it in 8 bits with a sign."""

MAX_OFFSET = 2**15 - 1
"""The greatest offset, likewise in 16 bits."""

MAX_NODES = 4095
"""The most XML elements that a rank's part may have, with `<algo>` and every `<gpu>`."""

MAX_CHILDREN = 1024
"""The most elements within one."""

MAX_VALUE_LENGTH = 255
"""The most characters of an attribute."""

MAX_FUSED = 16
"""The most `re` steps in a row that a runtime may make one of."""


@dataclass(frozen=True, slots=True)
class Connection:
    """What a connection between two blocks holds, with a protocol.

    Attributes:
        slots: how many messages: it has 8 steps, of which one takes 4 with Simple, else 1.
        slot_bytes: how much data a message has room for, with the buffers that NCCL takes unless told otherwise.
    """

    slots: int
    slot_bytes: int


CONNECTIONS: Mapping[str, Connection] = MappingProxyType(
    {
        "Simple": Connection(2, 2**21),
        "LL": Connection(8, 2**15),
        "LL128": Connection(8, 576_000),
    }
)
"""What connections hold, by protocol."""

DEFAULT_MAX_BYTES = 2**27
"""`maxBytes` of a file that does not say it (microsoft/msccl; the others want it)."""


MAX_CHANNELS = 32
"""The most channels that are used: RCCL has had 32 to 128, by version."""


class DialectName(StrEnum):
    """What a dialect is called on the command line."""

    MICROSOFT = "microsoft"
    AZURE = "azure"
    RCCL = "rccl"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one runtime takes.

    Attributes:
        name: which runtime.
        tasks: what it calls each collective.
        steps: the most steps of a block.
        blocks: the most blocks of a rank.
        channels: how many channels there are.
        required: attributes of `<algo>` without which it ignores the file.
        exact_chunks: whether `i_chunks` and `o_chunks` must fit `nchunksperloop`, unless they are 0.
        one_place: whether one file is for either in place or out of place, never both.
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
        """Return what this dialect calls `task`.

        Raises:
            InputError: it has no name for it.
        """
        for name, known in self.tasks.items():
            if known is task:
                return name
        raise InputError(f"the {self.name.value} dialect of MSCCL's XML knows no {task.value}; it knows {self._known}")

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
"""Every dialect by its name."""

TASKS: Mapping[str, Task] = MappingProxyType(dict(_MICROSOFT.tasks) | dict(_AZURE.tasks))
"""Every name of a collective in any dialect."""


def dialect_named(name: str) -> Dialect:
    """Return the dialect called `name`.

    Raises:
        InputError: there is none.
    """
    if name not in DIALECTS:
        raise InputError(f"there is no dialect {shown(name)} of MSCCL's XML; there are {', '.join(DIALECTS)}")
    return DIALECTS[name]


def limits(dialect: Dialect, ranks: int) -> Limits:
    """Return what a program for `ranks` ranks must stay within to be written in `dialect`."""
    return Limits(
        name=f"MSCCL's XML for {dialect.name.value}",
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
