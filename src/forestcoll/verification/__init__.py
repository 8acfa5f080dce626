"""The judges of schedules: is a schedule correct, how fast is it, and is it proven optimal?

A judge accepts a schedule from any source and does not use the code that generates schedules: it imports only the
models. There is one folder for the judge of each kind of schedule; `proofs` checks proofs; `judges` lists all judges.
"""

from forestcoll.verification.judges import certified, rules, verify
from forestcoll.verification.report import (
    BundleReport,
    Fault,
    FlowReport,
    LinkLoad,
    Report,
    SeriesReport,
    StepReport,
    TreeReport,
)

__all__ = [
    "BundleReport",
    "Fault",
    "FlowReport",
    "LinkLoad",
    "Report",
    "SeriesReport",
    "StepReport",
    "TreeReport",
    "certified",
    "rules",
    "verify",
]
