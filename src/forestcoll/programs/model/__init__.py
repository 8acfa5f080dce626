"""Programs: what ranks, thread blocks and channels do with chunks of buffers."""

from forestcoll.programs.model.fault import ProgramFault, block_name, fault_at, instruction_name, step_name
from forestcoll.programs.model.program import (
    Barrier,
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Loop,
    Message,
    Multicast,
    Place,
    Program,
    Protocol,
    Rank,
    Span,
)
from forestcoll.programs.model.ranks import DeferredRanks, block_counts, instruction_count, message_counts
from forestcoll.programs.model.task import Task
from forestcoll.programs.model.validation import buffer_chunks, check_well_formed, data_chunks, first_malformed

__all__ = [
    "Barrier",
    "Block",
    "Buffer",
    "Channel",
    "ChannelKind",
    "DeferredRanks",
    "Dependency",
    "Instruction",
    "Loop",
    "Message",
    "Multicast",
    "Place",
    "Program",
    "ProgramFault",
    "Protocol",
    "Rank",
    "Span",
    "Task",
    "block_counts",
    "block_name",
    "buffer_chunks",
    "check_well_formed",
    "data_chunks",
    "fault_at",
    "first_malformed",
    "instruction_count",
    "instruction_name",
    "message_counts",
    "step_name",
]
