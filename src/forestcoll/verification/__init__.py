"""Verifies schedules and checks proofs, one folder or file a kind. It shares no code with what makes them.

A verifier accepts a schedule from any source, and imports only the models. `proof_checks/` checks proofs, and
`verifiers.py` lists the verifier of each kind of schedule.
"""

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
from forestcoll.verification.verifiers import certified, rules, verify

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
