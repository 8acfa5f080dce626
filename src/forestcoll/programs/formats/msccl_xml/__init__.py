"""MSCCL XML, which microsoft/msccl, Azure's executor and RCCL up to ROCm 7.12 load, each in its own dialect."""

from forestcoll.programs.formats.msccl_xml.dialects import DIALECTS, Dialect, DialectName, dialect_named, limits
from forestcoll.programs.formats.msccl_xml.document import Algorithm
from forestcoll.programs.formats.msccl_xml.from_program import from_program
from forestcoll.programs.formats.msccl_xml.reading import parse_algorithm, read_algorithm
from forestcoll.programs.formats.msccl_xml.rules import dialect_fault, form_fault, remarks
from forestcoll.programs.formats.msccl_xml.to_program import to_program
from forestcoll.programs.formats.msccl_xml.writing import emit

__all__ = [
    "DIALECTS",
    "Algorithm",
    "Dialect",
    "DialectName",
    "dialect_fault",
    "dialect_named",
    "emit",
    "form_fault",
    "from_program",
    "limits",
    "parse_algorithm",
    "read_algorithm",
    "remarks",
    "to_program",
]
