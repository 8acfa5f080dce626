"""The judges of schedules: right or not, how fast, and whether that is proven to be the optimum.

A judge takes a schedule that anyone wrote and leans on nothing that made it: it imports the models only.
"""

from forestcoll.verification.report import Fault, LinkLoad, Report
from forestcoll.verification.trees.judge import verify
from forestcoll.verification.trees.rules import rules

__all__ = ["Fault", "LinkLoad", "Report", "rules", "verify"]
