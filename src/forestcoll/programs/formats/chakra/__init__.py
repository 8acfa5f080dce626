"""Execution traces of Chakra, one file for each rank, as ASTRA-sim runs them."""

from forestcoll.programs.formats.chakra.astra_sim import check_astra_sim_folder as check_astra_sim_folder
from forestcoll.programs.formats.chakra.astra_sim import files_of as files_of
from forestcoll.programs.formats.chakra.astra_sim import write_folder as write_folder
from forestcoll.programs.formats.chakra.document import NodeType as NodeType
from forestcoll.programs.formats.chakra.document import Trace as Trace
from forestcoll.programs.formats.chakra.document import TraceNode as TraceNode
from forestcoll.programs.formats.chakra.fitting import Fitting as Fitting
from forestcoll.programs.formats.chakra.from_program import from_program as from_program
from forestcoll.programs.formats.chakra.writing import emit as emit
from forestcoll.programs.formats.chakra.writing import trace_path as trace_path
