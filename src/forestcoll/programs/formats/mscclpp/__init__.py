"""Execution plans of MSCCL++ 0.9, in JSON."""

from forestcoll.programs.formats.mscclpp.document import ExecutionPlan as ExecutionPlan
from forestcoll.programs.formats.mscclpp.from_program import from_program as from_program
from forestcoll.programs.formats.mscclpp.from_program import most_bytes as most_bytes
from forestcoll.programs.formats.mscclpp.reading import parse_plan as parse_plan
from forestcoll.programs.formats.mscclpp.reading import plan_from_document as plan_from_document
from forestcoll.programs.formats.mscclpp.reading import read_plan as read_plan
from forestcoll.programs.formats.mscclpp.rules import RELEASES as RELEASES
from forestcoll.programs.formats.mscclpp.rules import limits as limits
from forestcoll.programs.formats.mscclpp.rules import plan_fault as plan_fault
from forestcoll.programs.formats.mscclpp.rules import refusals as refusals
from forestcoll.programs.formats.mscclpp.rules import remarks as remarks
from forestcoll.programs.formats.mscclpp.snippet import snippet as snippet
from forestcoll.programs.formats.mscclpp.to_program import to_program as to_program
from forestcoll.programs.formats.mscclpp.writing import emit as emit
from forestcoll.programs.formats.mscclpp.writing import text_of as text_of
