"""The rail-only network: GPU i of every box on rail switch i; only the boxes join the rails."""

from dataclasses import dataclass

from forestcoll.topology.families._rails import Rails
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "rail-only",
    summary="rail-only network: boxes with a scale-up switch, a switch for each rail, no spine",
    source="unit bandwidth; W. Wang et al., Rail-only (arXiv:2307.12169)",
)
@dataclass(frozen=True)
class RailOnly(Rails):
    """Boxes joined by rails."""
