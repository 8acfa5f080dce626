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
class _Requirements:
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
    """Return a letter for each of `chunks`, as in `_Requirements`."""
    return "".join("S" if each.switch is not None else "R" if each.remote is not None else "L" for each in chunks)


def fits(pattern: str, chunks: tuple[Chunks, ...]) -> bool:
    """Return whether `chunks` match a pattern of `_Requirements`."""
    return matches(pattern, kinds(chunks))


@lru_cache(maxsize=4096)
def matches(pattern: str, letters: str) -> bool:
    """Return whether letters for sources or targets match a pattern; there are few different ones."""
    return re.fullmatch(pattern, letters) is not None


_SYNC = _Requirements(channel_types=_EITHER, names_channels=True)
_NAME = OperationName

REQUIREMENTS: Mapping[OperationName, _Requirements] = MappingProxyType(
    {
        _NAME.NOTHING: _Requirements(),
        _NAME.BARRIER: _Requirements(),
        _NAME.ACQUIRE: _Requirements(),
        _NAME.RELEASE: _Requirements(),
        _NAME.PIPELINE: _Requirements(),
        _NAME.SIGNAL: _SYNC,
        _NAME.WAIT: _SYNC,
        _NAME.RELAXED_SIGNAL: _SYNC,
        _NAME.RELAXED_WAIT: _SYNC,
        _NAME.FLUSH: _Requirements("", "L*", _PORT, names_channels=True),
        _NAME.PUT: _Requirements("L+", "R+", _EITHER, paired=True),
        _NAME.PUT_SIGNAL: _Requirements("L+", "R+", _PORT, paired=True),
        _NAME.PUT_SIGNAL_FLUSH: _Requirements("L+", "R+", _PORT, paired=True),
        _NAME.GET: _Requirements("R+", "L+", _MEMORY, paired=True),
        _NAME.COPY: _Requirements("L", "L"),
        _NAME.REDUCE: _Requirements("L+", "L", reduces=True),
        _NAME.REDUCE_SEND: _Requirements("L+", "LR+", _MEMORY, reduces=True),
        _NAME.READ_REDUCE: _Requirements("LR+", "L", _MEMORY, reduces=True),
        _NAME.READ_REDUCE_SEND: _Requirements("LR+", "LR+", _MEMORY, reduces=True),
        _NAME.PUT_PACKETS: _Requirements("L+", "R+", _EITHER, paired=True, packet_targets=0),
        _NAME.READ_PUT_PACKETS: _Requirements("L", "R+", _EITHER, packet_sources=0, packet_targets=0),
        _NAME.COPY_PACKETS: _Requirements("L", "L", packet_targets=0),
        _NAME.UNPACK_PACKETS: _Requirements("L", "L", packet_sources=0),
        _NAME.REDUCE_PACKETS: _Requirements("LL+", "L", packet_sources=1, reduces=True),
        _NAME.REDUCE_SEND_PACKETS: _Requirements(
            "LL+", "LR+", _MEMORY, packet_sources=1, packet_targets=1, reduces=True
        ),
        _NAME.REDUCE_COPY_PACKETS: _Requirements("LL+", "LL", packet_sources=1, packet_targets=1, reduces=True),
        _NAME.REDUCE_COPY_SEND_PACKETS: _Requirements(
            "LL+", "LLR+", _MEMORY, packet_sources=1, packet_targets=1, reduces=True
        ),
        _NAME.GROUP_REDUCE_STORE: _Requirements("S", "S", _SWITCH, reduces=True),
        _NAME.GROUP_STORE: _Requirements("L", "S", _SWITCH),
        _NAME.GROUP_STORE_PACKETS: _Requirements("L", "S", _SWITCH, packet_sources=0, packet_targets=0),
    }
)
"""The shape of every operation."""
