"""The best networks for a job, compared with all candidates without bounds."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.demand.groups.layout import Layout
from forestcoll.design.search.exchanges import all_networks
from forestcoll.design.search.finder import TopologyFinder
from forestcoll.design.workloads.job import Job, best_networks
from forestcoll.design.workloads.placed import PlacedTimes, networks_of, placements_of
from forestcoll.design.workloads.profile import Layer, Profile, SizedCollective, read_profile, write_profile
from forestcoll.design.workloads.workload import StepCosts
from refusal import refusal

EXPERTS = Layer("experts", Fraction(90), Fraction(180), 0, 10**6)
SHARDED_EXPERTS = Layer("experts", Fraction(90), Fraction(180), 0, 10**6, expert_bytes=10**7)
DENSE = Layer("dense", Fraction(40), Fraction(80), 10**7, 0, 10**7, 10**5)
GROUPS = "groups:members='tp=2,dp=4',run={},collective={}"
JOBS = {
    "sizes": Job(Profile("p", "", (), (SizedCollective("allreduce", 10**5), SizedCollective("all-to-all", 10**6)))),
    "scatter": Job(Profile("p", "", (), (SizedCollective("reduce-scatter", 10**6, Fraction(3)),))),
    "groups": Job(
        Profile(
            "p",
            "",
            (),
            (
                SizedCollective(GROUPS.format("tp", "all-to-all"), 10**6),
                SizedCollective(GROUPS.format("dp", "allreduce"), 10**6),
                SizedCollective("allgather", 10**4),
            ),
        )
    ),
    "data parallel": Job(Profile("p", "", (DENSE,) * 4)),
    "experts": Job(Profile("p", "", (DENSE, EXPERTS) * 2)),
    "sharded": Job(Profile("p", "", (DENSE,) * 3), Layout.of("tp=2,fsdp=4")),
    "sharded experts": Job(Profile("p", "", (DENSE, SHARDED_EXPERTS) * 2), Layout.of("ep=4,fsdp=2")),
}


@pytest.mark.parametrize("name", JOBS)
def test_no_candidate_is_faster_and_no_bound_is_above_the_time(name: str) -> None:
    job = JOBS[name]
    times: dict[str, float] = {}
    for network in networks_of(all_networks(TopologyFinder(), 8, 2)):
        for placement in placements_of(network, job.layouts):
            placed = PlacedTimes(network, placement, StepCosts(), job.demands)
            bounds = [job.least_us(placed)]
            while not placed.is_measured:
                placed.measure()
                bounds.append(job.least_us(placed))
            time = job.us(placed)
            assert all(bound <= time * (1 + 1e-12) for bound in bounds), network.main.name
            times[network.main.name] = min(time, times.get(network.main.name, time))
    ranking = best_networks(job, TopologyFinder(), 8, 2)
    assert [each.time_us for each in ranking.networks] == sorted(times.values())[:5]


@pytest.mark.parametrize("name", ["sizes", "experts"])
def test_more_networks_are_never_a_worse_answer(name: str) -> None:
    narrow = [TopologyFinder(published_only=True), TopologyFinder(bidirectional=True)]
    best = best_networks(JOBS[name], TopologyFinder(), 12, 4, most=1).networks[0].time_us
    for finder in narrow:
        assert best <= best_networks(JOBS[name], finder, 12, 4, most=1).networks[0].time_us


@given(st.integers(1, 10**9), st.fractions(min_value=Fraction(1, 9), max_value=9))
def test_a_profile_of_collectives_survives_a_file(
    tmp_path_factory: pytest.TempPathFactory, size: int, weight: Fraction
) -> None:
    path = tmp_path_factory.mktemp("profile") / "job.json"
    profile = Profile("p", "", (), (SizedCollective("allreduce", size, weight),))
    write_profile(profile, path)
    assert read_profile(path) == profile


def test_collectives_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "job.json"
    for item, words in [
        ({"collective": "allreduce"}, "collective 0: size"),
        ({"collective": "allreduce", "size": 4, "weight": 0}, "weight is 0"),
        ("allreduce", "expected an object"),
    ]:
        path.write_text(json.dumps({"format": "forestcoll.profile/1", "collectives": [item]}))
        assert words in refusal(read_profile, path)
    for text, words in [
        ("broadcast:root=0", "p: collective 1 is 'broadcast:root=0'; networks are compared by allgather, "),
        ("allreduc", "p: collective 1: there is no collective 'allreduc'; did you mean 'allreduce'?"),
    ]:
        listed = (SizedCollective("allreduce", 4), SizedCollective(text, 4))
        assert words in refusal(Job, Profile("p", "", (), listed))
    assert "8 ranks, and there are 12 nodes" in refusal(best_networks, JOBS["sharded"], TopologyFinder(), 12, 4)
