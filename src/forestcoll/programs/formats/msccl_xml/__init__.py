"""MSCCL XML, which microsoft/msccl, Azure's executor and RCCL up to ROCm 7.12 load, each in its own dialect."""

from forestcoll.programs.formats.msccl_xml.dialects import DIALECTS as DIALECTS
from forestcoll.programs.formats.msccl_xml.dialects import Dialect as Dialect
from forestcoll.programs.formats.msccl_xml.dialects import DialectName as DialectName
from forestcoll.programs.formats.msccl_xml.dialects import dialect_named as dialect_named
from forestcoll.programs.formats.msccl_xml.dialects import limits as limits
from forestcoll.programs.formats.msccl_xml.document import Algorithm as Algorithm
from forestcoll.programs.formats.msccl_xml.from_program import from_program as from_program
from forestcoll.programs.formats.msccl_xml.reading import parse_algorithm as parse_algorithm
from forestcoll.programs.formats.msccl_xml.reading import read_algorithm as read_algorithm
from forestcoll.programs.formats.msccl_xml.rules import dialect_fault as dialect_fault
from forestcoll.programs.formats.msccl_xml.rules import form_fault as form_fault
from forestcoll.programs.formats.msccl_xml.rules import remarks as remarks
from forestcoll.programs.formats.msccl_xml.to_program import greatest_right_size as greatest_right_size
from forestcoll.programs.formats.msccl_xml.to_program import to_program as to_program
from forestcoll.programs.formats.msccl_xml.writing import emit as emit
