"""The requirements of each operation of MSCCL++, from its kernel (`src/core/include/execution_kernel.hpp`)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from forestcoll.programs.formats.mscclpp.document import ChannelType, Chunks, OperationName

_MEMORY = (ChannelType.MEMORY,)
_PORT = (ChannelType.PORT,)
_EITHER = (ChannelType.MEMORY, ChannelType.PORT)
_SWITCH = (ChannelType.SWITCH,)


@dataclass(frozen=True, slots=True)
class Shape:
    """The requirements of an operation.

    Attributes:
        sources: what `src_buff` may contain: a regular expression over L (the rank itself), R (another), S (a switch).
        targets: the same for `dst_buff`.
        channel_types: the types of channel that may reach other ranks; empty if it reaches none.
        paired: whether source number i goes to target number i.
        names_channels: whether `channel_ids` must name channels over any type of channel.
        packet_sources: sources from this index on are packets; None if none are.
        packet_targets: targets from this index on are packets; None if none are.
        reduces: whether data is added up.
    """

    sources: str = ""
    targets: str = ""
    channel_types: tuple[ChannelType, ...] = ()
    paired: bool = False
    names_channels: bool = False
    packet_sources: int | None = None
    packet_targets: int | None = None
    reduces: bool = False

    @property
    def has_packets(self) -> bool:
        """Return whether the operation reads or writes packets."""
        return self.packet_sources is not None or self.packet_targets is not None


def kinds(chunks: tuple[Chunks, ...]) -> str:
    """Return a letter for each of `chunks`, as in `Shape`."""
    return "".join("S" if each.switch is not None else "R" if each.remote is not None else "L" for each in chunks)


def fits(pattern: str, chunks: tuple[Chunks, ...]) -> bool:
    """Return whether `chunks` match a pattern of `Shape`."""
    return matches(pattern, kinds(chunks))


@lru_cache(maxsize=4096)
def matches(pattern: str, letters: str) -> bool:
    """Return whether letters for sources or targets match a pattern; there are few different ones."""
    return re.fullmatch(pattern, letters) is not None


_SYNC = Shape(channel_types=_EITHER, names_channels=True)
_NAME = OperationName

SHAPES: Mapping[OperationName, Shape] = MappingProxyType(
    {
        _NAME.NOTHING: Shape(),
        _NAME.BARRIER: Shape(),
        _NAME.ACQUIRE: Shape(),
        _NAME.RELEASE: Shape(),
        _NAME.PIPELINE: Shape(),
        _NAME.SIGNAL: _SYNC,
        _NAME.WAIT: _SYNC,
        _NAME.RELAXED_SIGNAL: _SYNC,
        _NAME.RELAXED_WAIT: _SYNC,
        _NAME.FLUSH: Shape("", "L*", _PORT, names_channels=True),
        _NAME.PUT: Shape("L+", "R+", _EITHER, paired=True),
        _NAME.PUT_SIGNAL: Shape("L+", "R+", _PORT, paired=True),
        _NAME.PUT_SIGNAL_FLUSH: Shape("L+", "R+", _PORT, paired=True),
        _NAME.GET: Shape("R+", "L+", _MEMORY, paired=True),
        _NAME.COPY: Shape("L", "L"),
        _NAME.REDUCE: Shape("L+", "L", reduces=True),
        _NAME.REDUCE_SEND: Shape("L+", "LR+", _MEMORY, reduces=True),
        _NAME.READ_REDUCE: Shape("LR+", "L", _MEMORY, reduces=True),
        _NAME.READ_REDUCE_SEND: Shape("LR+", "LR+", _MEMORY, reduces=True),
        _NAME.PUT_PACKETS: Shape("L+", "R+", _EITHER, paired=True, packet_targets=0),
        _NAME.READ_PUT_PACKETS: Shape("L", "R+", _EITHER, packet_sources=0, packet_targets=0),
        _NAME.COPY_PACKETS: Shape("L", "L", packet_targets=0),
        _NAME.UNPACK_PACKETS: Shape("L", "L", packet_sources=0),
        _NAME.REDUCE_PACKETS: Shape("LL+", "L", packet_sources=1, reduces=True),
        _NAME.REDUCE_SEND_PACKETS: Shape("LL+", "LR+", _MEMORY, packet_sources=1, packet_targets=1, reduces=True),
        _NAME.REDUCE_COPY_PACKETS: Shape("LL+", "LL", packet_sources=1, packet_targets=1, reduces=True),
        _NAME.REDUCE_COPY_SEND_PACKETS: Shape("LL+", "LLR+", _MEMORY, packet_sources=1, packet_targets=1, reduces=True),
        _NAME.GROUP_REDUCE_STORE: Shape("S", "S", _SWITCH, reduces=True),
        _NAME.GROUP_STORE: Shape("L", "S", _SWITCH),
        _NAME.GROUP_STORE_PACKETS: Shape("L", "S", _SWITCH, packet_sources=0, packet_targets=0),
    }
)
"""The shape of every operation."""
