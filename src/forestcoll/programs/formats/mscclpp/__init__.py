"""Execution plans of MSCCL++ 0.9, in JSON."""

from forestcoll.programs.formats.mscclpp.document import ExecutionPlan
from forestcoll.programs.formats.mscclpp.from_program import from_program, most_bytes
from forestcoll.programs.formats.mscclpp.reading import parse_plan, plan_from_document, read_plan
from forestcoll.programs.formats.mscclpp.rules import RELEASES, limits, plan_fault, refusals, remarks
from forestcoll.programs.formats.mscclpp.snippet import snippet
from forestcoll.programs.formats.mscclpp.to_program import to_program
from forestcoll.programs.formats.mscclpp.writing import emit, text_of

__all__ = [
    "RELEASES",
    "ExecutionPlan",
    "emit",
    "from_program",
    "limits",
    "most_bytes",
    "parse_plan",
    "plan_fault",
    "plan_from_document",
    "read_plan",
    "refusals",
    "remarks",
    "snippet",
    "text_of",
    "to_program",
]
