"""Schedules: frozen trees, their shape, and their files."""

from forestcoll.schedule.document import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.expansion import TreeImage
from forestcoll.schedule.model import Phase, PhaseOp, Rows, Schedule, Tree
from forestcoll.schedule.shape import Shape, shape_of
from forestcoll.schedule.traffic import Traffic, traffic_of

__all__ = [
    "Phase",
    "PhaseOp",
    "Rows",
    "Schedule",
    "Shape",
    "Traffic",
    "Tree",
    "TreeImage",
    "read_schedule",
    "schedule_from_document",
    "schedule_text",
    "shape_of",
    "traffic_of",
    "write_schedule",
]
