"""The judges of schedules: right or not, how fast, and whether that is proven to be the optimum.

A judge takes a schedule that anyone wrote and leans on nothing that made it: it imports the models only. One folder
holds the judge of one kind, `proofs` those of proofs; `judges` knows them all.
"""

from forestcoll.verification.judges import certified, rules, verify
from forestcoll.verification.report import Fault, LinkLoad, Report, SeriesReport, StepReport, TreeReport

__all__ = ["Fault", "LinkLoad", "Report", "SeriesReport", "StepReport", "TreeReport", "certified", "rules", "verify"]
