"""Compare the results of `optimum`, `generate`, `bounds` and `verify` for the same arguments."""

from collections import Counter
from itertools import cycle
from typing import Any

from hypothesis import strategies as st

from forestcoll.algorithms.asked import asked
from forestcoll.algorithms.generate import generate, optimum
from forestcoll.base.errors import NoSolutionError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.schedule.proof import proof_document, proof_from_document
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.bounds.table import bounds
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import Topology
from forestcoll.verification import verify
from networks import SMALL, networks, ranks_for, shards_for, uneven_networks, with_abilities


@st.composite
def drawn_networks(draw: st.DrawFn, *, most: int = 7) -> Topology:
    """A random network of any kind. Some of its switches can multicast or aggregate."""
    kinds = draw(st.sampled_from([None, st.just(SMALL)]))
    options: dict[str, Any] = {"most": most} | ({} if kinds is None else {"kinds": kinds})
    topology = draw(st.one_of(networks(**options), uneven_networks(**options)))
    if not draw(st.booleans()):
        return topology
    abilities = draw(st.lists(st.sampled_from([(False, False), (True, False), (True, True)]), min_size=1, max_size=4))
    return with_abilities(topology, cycle(abilities))


@st.composite
def drawn_arguments(draw: st.DrawFn, topology: Topology, collective: Collective | None = None) -> dict[str, Any]:
    """Arguments of `optimum` for a network: a collective, and possibly ranks, shards, and a number of trees."""
    collective = collective or draw(st.sampled_from(SCHEDULED))
    options: dict[str, Any] = {"collective": collective}
    members = topology.compute
    if draw(st.booleans()):
        ranks = draw(ranks_for(topology))
        options["ranks"] = ranks
        members = tuple(topology.compute[rank] for rank in ranks)
    if collective.has_root:
        options["root"] = topology.nodes[draw(st.sampled_from(members))].id
    if collective.has_shards and draw(st.integers(0, 3)) == 0:
        options["shards"] = draw(shards_for(members))
    number = draw(st.sampled_from([None, "trees", "max_trees"]))
    if number is not None:
        options[number] = draw(st.integers(1, 5))
    return options


def disagreement(topology: Topology, options: dict[str, Any], counts: Counter[str]) -> str | None:
    """Return a description of the first disagreement, or None."""
    counts["networks"] += 1
    try:
        best = optimum(topology, *asked(options))
    except NoSolutionError:
        counts["refused"] += 1
        return None
    counts[f"proof {best.bound.proof.kind}"] += 1
    counts["below the bound"] += not best.is_optimal
    schedule = generate(topology, *asked(options))
    return (
        _of_proof(best)
        or _of_schedule(best, schedule)
        or _of_numbers(topology, options, best)
        or _of_bounds(topology, options, best)
    )


def _of_proof(best: TreeOptimum) -> str | None:
    bound = best.bound
    if bound.proof.algbw(best.topology, best.demand) != bound.algbw:
        return "the proof proves another bound"
    if best.algbw > bound.algbw:
        return f"algbw {best.algbw} is above the bound {bound.algbw}"
    again = proof_from_document(proof_document(bound.proof), best.topology, "proof")
    if again.algbw(best.topology, best.demand) != bound.algbw:
        return "the proof changes in a document"
    return None


def _of_schedule(best: TreeOptimum, schedule: TreeSchedule) -> str | None:
    report = verify(schedule)
    if report.fault is not None:
        return f"verify refuses the schedule: {report.fault.message}"
    if not best.algbw == schedule.algbw == report.algbw:
        return f"optimum states {best.algbw}, generate {schedule.algbw}, verify {report.algbw}"
    return None


def _of_numbers(topology: Topology, options: dict[str, Any], best: TreeOptimum) -> str | None:
    """Check that the best of 1 to K trees is the optimum for one of these numbers, and at least the best of fewer."""
    most = options.get("max_trees")
    if most is None:
        return None
    others = {name: value for name, value in options.items() if name != "max_trees"}
    found = []
    for trees in range(1, most + 1):
        try:
            found.append(optimum(topology, *asked(others | {"trees": trees})).algbw)
        except NoSolutionError:
            continue
    if best.algbw not in found:
        return f"the best of 1 to {most} trees reaches {best.algbw}, and each number by itself {found}"
    if most > 1:
        try:
            fewer = optimum(topology, *asked(others | {"max_trees": most - 1}))
        except NoSolutionError:
            return None
        if fewer.algbw > best.algbw:
            return f"the best of 1 to {most - 1} trees reaches {fewer.algbw}, and of 1 to {most} only {best.algbw}"
    return None


def _of_bounds(topology: Topology, options: dict[str, Any], best: TreeOptimum) -> str | None:
    if "shards" in options:
        return None
    row = bounds(topology, ranks=options.get("ranks"), root=options.get("root")).of(best.collective)
    if row is None:
        return "bounds has no such row"
    if row.bound != best.bound:
        return f"optimum states the bound {best.bound.algbw}, bounds {row.bound.algbw}, or their proofs differ"
    if row.achieved_algbw is None or row.achieved_algbw > row.upper_algbw:
        return f"bounds states that {row.achieved_algbw} of {row.upper_algbw} is reached"
    if "trees" not in options and "max_trees" not in options and row.achieved_algbw != best.algbw:
        return f"optimum states {best.algbw}, bounds {row.achieved_algbw}"
    return None
