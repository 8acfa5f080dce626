"""The letters of the buffers of a rank, which MSCCL and MSCCL++ have in common."""

from collections.abc import Mapping
from types import MappingProxyType

from forestcoll.programs.model import Buffer

LETTERS: Mapping[Buffer, str] = MappingProxyType({Buffer.INPUT: "i", Buffer.OUTPUT: "o", Buffer.SCRATCH: "s"})
"""The letter of each buffer."""

BUFFERS: Mapping[str, Buffer] = MappingProxyType({letter: buffer for buffer, letter in LETTERS.items()})
"""The buffer of each letter."""
