"""The explanation of each kind of proof."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import optimum
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand, NodeDemand
from forestcoll.presentation.results.schedules.explanations import _EXPLANATIONS, explain
from forestcoll.schedule.proof import Bound, LengthsProof, PricesProof
from forestcoll.schedule.proof.documents import KINDS
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.topology.registry import build_topology


def explanation_of(spec: str, collective: str, **options: str) -> list[str]:
    best = optimum(spec, Demand(collective, **options))  # type: ignore[arg-type]
    return explain(best.bound, best.topology, best.demand)


RECEIPT = (
    "In each tree, every GPU but the root sends its sum once and receives the result once. So all of the data is sent "
    "2 x 15 = 30 times from GPU to GPU. All of it enters GPUs over these links:"
)
SENT = (
    "Compute node 1 must send partial sums for all of the data to the other 3 compute nodes. All of it leaves over "
    "these links:"
)
RECEIVED = "GPU b0/gpu0 must receive 15/16 of the data from the other 15 GPUs. All of it enters over these links:"
ALLOWED = "  325 GB/s together, so algbw <= 325 / (15/16) = 1040/3 GB/s."
SHARED = "The reduce and the broadcast share the links, and no division of the links gives faster trees: "
CROSSED = (
    f"{SHARED}all of the data crosses these links at least 6 times (2 weighted sets of nodes, each at 32 symmetric "
    "places, prove it; --json lists them):"
)


@pytest.mark.parametrize(
    ("spec", "collective", "root", "first", "last"),
    [
        ("dgx-a100:boxes=2", "allgather", None, RECEIVED, ALLOWED),
        ("dgx-a100:boxes=2", "allreduce", None, RECEIPT, "  5200 GB/s together, so algbw <= 5200 / 30 = 520/3 GB/s."),
        ("ring:nodes=4,one_way=true", "reduce", "0", SENT, "  1 GB/s together, so algbw <= 1 GB/s."),
        ("mi250:boxes=2", "allreduce", None, SHARED, None),
        ("dgx-a100:boxes=4", "allreduce", None, CROSSED, "  800 GB/s together, so algbw <= 800 / 6 = 400/3 GB/s."),
        ("mi250:boxes=1", "allreduce", None, "The nodes are divided into 8 parts.", None),
    ],
)
def test_each_proof_is_explained_in_sentences(
    spec: str, collective: str, root: str | None, first: str, last: str | None
) -> None:
    lines = explanation_of(spec, collective, **({} if root is None else {"root": root}))
    assert lines[0].startswith(first)
    assert last is None or lines[-1] == last


def test_a_single_rank_of_a_box_has_its_id() -> None:
    said = explanation_of("dgx-a100:boxes=2", "allgather", ranks="b0/gpu0,b1/gpu0")
    assert said[0].startswith("Rank b0/gpu0 must receive 1/2 of the data from the other rank.")


def test_lengths_and_prices_are_explained() -> None:
    topology = build_topology("ring:nodes=4")
    demand = NodeDemand(Collective.ALL_TO_ALL)
    for lengths in ((1,) * 8, (1, 2) * 4):
        proof = LengthsProof.of(topology, lengths)
        lines = explain(Bound(demand.collective, proof.algbw(topology, demand), proof), topology, demand)
        assert "algbw <=" in lines[-1]
    prices = PricesProof(((Port(PortKind.LINK, 0), Fraction(1)),), ((Fraction(1), (1,)),))
    lines = explain(Bound(Collective.BROADCAST, Fraction(1), prices), topology, NodeDemand(Collective.BROADCAST, 0))
    assert lines[0].startswith("At the prices of 1 port, every message costs at least 1")


def test_every_kind_of_proof_has_an_explanation() -> None:
    assert _EXPLANATIONS.keys() == KINDS.keys()
