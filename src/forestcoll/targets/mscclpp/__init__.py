"""Execution plans of MSCCL++ 0.9, in JSON."""

from forestcoll.targets.mscclpp.document import Plan
from forestcoll.targets.mscclpp.from_program import from_program, most_bytes
from forestcoll.targets.mscclpp.reading import parse_plan, plan_from_document, read_plan
from forestcoll.targets.mscclpp.rules import RELEASES, limits, plan_fault, refusals, remarks
from forestcoll.targets.mscclpp.snippet import snippet
from forestcoll.targets.mscclpp.to_program import to_program
from forestcoll.targets.mscclpp.writing import emit, text_of

__all__ = [
    "RELEASES",
    "Plan",
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
