from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.layout import Layout
from forestcoll.demand.groups.value import Group
from forestcoll.design.workloads import Layer, Profile
from forestcoll.design.workloads.groups import Role, TrainingGroups
from forestcoll.design.workloads.iteration import Activity, Iteration
from forestcoll.design.workloads.language_models import LANGUAGE_MODELS
from forestcoll.design.workloads.sharded import CollectiveTime, LayoutTimes, SizedTime, layout_times, sharded_iteration
from forestcoll.topology.registry import load_topology
from refusal import refusal

ALPHA = Fraction(10)


def times_of(layout: str, rate: float = 100.0, latency: float = 0.0) -> LayoutTimes:
    groups = TrainingGroups(Layout.of(layout))
    time = CollectiveTime(latency, rate)
    return LayoutTimes("n", groups, None, {(role, collective): time for role, collective, _ in groups.demands()})


def layer(name: str, forward: int, size: int, tensor: int = 0) -> Layer:
    return Layer(name, Fraction(forward), Fraction(2 * forward), size, 0, size, tensor)


def spans(made: Iteration, kind: Activity) -> list[tuple[str, float, float]]:
    return [(each.name, each.begin_us, each.end_us) for each in made.intervals if each.kind is kind]


def test_the_next_layer_is_collected_while_one_is_computed() -> None:
    model = Profile("p", "", (layer("a", 10, 500), layer("b", 10, 500), layer("c", 10, 500)))
    made = sharded_iteration(model, times_of("fsdp=4"))
    # 5 us a collective. c waits for a slot: its allgather is requested when a has ended, at 15.
    assert spans(made, Activity.FORWARD) == [("a", 5, 15), ("b", 15, 25), ("c", 25, 35)]
    assert spans(made, Activity.ALLGATHER)[:3] == [("a", 0, 5), ("b", 5, 10), ("c", 15, 20)]
    assert spans(made, Activity.BACKWARD) == [("c", 40, 60), ("b", 60, 80), ("a", 80, 100)]
    assert spans(made, Activity.ALLGATHER)[3:] == [("c", 35, 40), ("b", 40, 45), ("a", 65, 70)]
    assert [each[1:] for each in spans(made, Activity.REDUCE_SCATTER)] == [(60, 65), (80, 85), (100, 105)]
    assert (made.total_us, made.computing_us, made.exposed_us) == (105, 90, 15)


def test_without_overlap_the_times_add_up() -> None:
    model = Profile("p", "", tuple(layer(str(each), 10, 500, 200) for each in range(4)))
    made = sharded_iteration(model, times_of("tp=2,fsdp=4,dp=2", latency=1.0), overlaps=False)
    computing = 4 * 30 / 2
    gathers, scatters = 8 * (1 + 2.5), 4 * (1 + 2.5)
    copies, activations = 4 * (1 + 2.5 / 4), 8 * (1 + 2)
    assert made.computing_us == computing
    assert made.time_us(Activity.ALLGATHER) == pytest.approx(gathers)
    assert made.time_us(Activity.REDUCE_SCATTER) == pytest.approx(scatters)
    assert made.time_us(Activity.ALLREDUCE) == pytest.approx(copies + activations)
    assert made.total_us == pytest.approx(computing + gathers + scatters + copies + activations)


EXPERTS = Layer("e", Fraction(10), Fraction(20), exchange_bytes=300, expert_bytes=800, experts=4)


def test_tokens_are_sent_to_experts_and_back_while_nothing_is_computed() -> None:
    made = sharded_iteration(Profile("p", "", (layer("a", 10, 500), EXPERTS)), times_of("ep=2,fsdp=2"))
    # 5 us for the dense parameters, 4 us for half of the experts, 3 us for the tokens.
    assert [each[1:] for each in spans(made, Activity.ALLGATHER)] == [(0, 5), (5, 9), (31, 35), (38, 43)]
    assert spans(made, Activity.ALL_TO_ALL) == [
        ("e: tokens out", 15, 18),
        ("e: tokens back", 28, 31),
        ("e: tokens out", 35, 38),
        ("e: tokens back", 58, 61),
    ]
    assert spans(made, Activity.FORWARD) == [("a", 5, 15), ("e", 18, 28)]
    assert spans(made, Activity.BACKWARD) == [("e", 38, 58), ("a", 61, 81)]
    assert spans(made, Activity.REDUCE_SCATTER) == [("e: experts", 61, 65), ("a: gradients", 81, 86)]


@pytest.mark.parametrize(
    ("layout", "gathered", "scattered", "reduced", "exchanged"),
    [
        # By hand, at 100 bytes a microsecond: a has 500 bytes of parameters, e has 800 of experts and sends 300.
        ("fsdp=4", 2 * 13, 13, 0, 0),
        ("dp=4", 0, 0, 13, 0),
        ("ep=4", 0, 0, 5, 4 * 3),
        ("ep=4,fsdp=1", 2 * 5, 5, 0, 4 * 3),
        ("ep=2,dp=2", 0, 0, 5 + 4, 4 * 3),
        ("fsdp=2,ep=2", 2 * (5 + 4), 5 + 4, 0, 4 * 3),
        ("ep=2,fsdp=2,dp=2", 2 * (5 + 4), 5 + 4, 5 / 4 + 4 / 2, 4 * 3),
        ("tp=2,ep=2,fsdp=2", 2 * (2.5 + 2), 2.5 + 2, 0, 4 * 1.5),
    ],
)
def test_the_data_of_layouts_with_experts(
    layout: str, gathered: float, scattered: float, reduced: float, exchanged: float
) -> None:
    model = Profile("p", "", (layer("a", 10, 500), replace(EXPERTS, tensor_bytes=0)))
    times = times_of(layout)
    if "tp" in layout:  # no activations, but tp asks for some
        model = replace(model, layers=(*model.layers, Layer("t", Fraction(0), Fraction(0), tensor_bytes=100)))
        reduced += 2
    made = sharded_iteration(model, times, overlaps=False)
    found = [Activity.ALLGATHER, Activity.REDUCE_SCATTER, Activity.ALLREDUCE, Activity.ALL_TO_ALL]
    assert [made.time_us(each) for each in found] == pytest.approx([gathered, scattered, reduced, exchanged])
    assert made.total_us == pytest.approx(made.computing_us + gathered + scattered + reduced + exchanged)


@pytest.mark.parametrize(
    ("layout", "role", "groups"),
    [
        ("ep=2,fsdp=2,dp=2", Role.SHARDS, [(0, 1, 2, 3), (4, 5, 6, 7)]),
        ("ep=2,fsdp=2,dp=2", Role.EXPERT_SHARDS, [(0, 2), (1, 3), (4, 6), (5, 7)]),
        ("ep=2,fsdp=2,dp=2", Role.EXPERT_COPIES, [(0, 4), (1, 5), (2, 6), (3, 7)]),
        ("tp=2,dp=2,ep=2", Role.COPIES, [(0, 2, 4, 6), (1, 3, 5, 7)]),
        ("tp=2,dp=2,ep=2", Role.EXPERT_COPIES, [(0, 2), (1, 3), (4, 6), (5, 7)]),
        ("tp=2,dp=2,ep=2", Role.EXPERTS, [(0, 4), (1, 5), (2, 6), (3, 7)]),
    ],
)
def test_the_ranks_of_groups(layout: str, role: Role, groups: list[tuple[int, ...]]) -> None:
    demand = next(demand for each, _, demand in TrainingGroups(Layout.of(layout)).demands() if each is role)
    assert isinstance(demand, Groups)
    assert [members for _, members in _bound(demand)] == groups


def _bound(demand: Groups) -> list[tuple[Group, tuple[int, ...]]]:
    network = load_topology("ring:nodes=8")
    return [(group, tuple(group.members(network))) for group in demand.bind(network)[1]]


def test_layouts_with_experts_that_are_refused() -> None:
    def asked(layout: str, *layers: Layer) -> str:
        return refusal(lambda: sharded_iteration(Profile("p", "", layers), times_of(layout)))

    assert "e has 4 experts, which ep=3 does not divide" in asked("ep=3", EXPERTS)
    assert "no layer has exchange_bytes, which ep of ep=2 needs" in asked("ep=2", layer("a", 1, 5))
    assert "e has exchange_bytes and no expert_bytes; a layout needs both" in asked(
        "ep=2", replace(EXPERTS, expert_bytes=0)
    )
    assert "ep and fsdp are not next to each other" in asked("ep=2,tp=2,fsdp=2", EXPERTS)


ROWS = st.tuples(st.integers(0, 50), st.integers(1, 5000), st.integers(1, 500), st.integers(1, 5000))
LAYERS = st.lists(ROWS, min_size=1, max_size=6).map(
    lambda rows: tuple(
        replace(layer(str(place), *row), expert_bytes=more, exchange_bytes=more // 2 + 1)
        for place, (*row, more) in enumerate(rows)
    )
)
LAYOUTS = ("fsdp=4", "fsdp=2,dp=2", "tp=2,fsdp=2", "tp=2,dp=2", "dp=4", "ep=2,fsdp=2", "tp=2,ep=2,dp=2", "ep=4")


@given(LAYERS, st.sampled_from(LAYOUTS))
def test_streams_run_one_thing_at_a_time_and_layers_wait_for_their_parameters(
    layers: tuple[Layer, ...], layout: str
) -> None:
    model = Profile("p", "", layers)
    times = times_of(layout, latency=2.0)
    overlapped, alone = (sharded_iteration(model, times, overlaps=overlaps) for overlaps in (True, False))
    for computing in (True, False):
        stream = [each for each in overlapped.intervals if each.kind.is_computing is computing]
        assert all(before.end_us <= after.begin_us for before, after in pairwise(stream))
    for kind in Activity:
        assert overlapped.time_us(kind) == pytest.approx(alone.time_us(kind))
    moved = sum(overlapped.time_us(kind) for kind in Activity if not kind.is_computing)
    assert max(overlapped.computing_us, moved) <= overlapped.total_us * (1 + 1e-9)
    assert overlapped.total_us <= alone.total_us * (1 + 1e-9)
    assert alone.total_us == pytest.approx(alone.computing_us + moved)


def rate(time: SizedTime) -> float:
    """Return M / time for large data."""
    return 10**9 / (time.us(2 * 10**9) - time.us(10**9))


def test_the_times_are_those_of_the_schedules() -> None:
    found = layout_times("dgx-a100:boxes=2", "fsdp=16", alpha_us=ALPHA)
    assert rate(found.times[Role.SHARDS, Collective.ALLGATHER]) == pytest.approx(float(Fraction(1040, 3)) * 1000)
    ring = layout_times("dgx-a100:boxes=2", "fsdp=16", "nccl-ring", alpha_us=ALPHA)
    assert rate(ring.times[Role.SHARDS, Collective.REDUCE_SCATTER]) == pytest.approx(float(Fraction(640, 3)) * 1000)
    assert ring.times[Role.SHARDS, Collective.ALLGATHER].us(1) > found.times[Role.SHARDS, Collective.ALLGATHER].us(1)
    pairs = layout_times("dgx-a100:boxes=2", "fsdp=8,dp=2", alpha_us=ALPHA)
    assert rate(pairs.times[Role.COPIES, Collective.ALLREDUCE]) == pytest.approx(25_000)
    experts = layout_times("dgx-a100:boxes=2", "ep=8,fsdp=2", alpha_us=ALPHA).times
    # A GPU sends 7/8 of its tokens over 300 + 25 GB/s, through the other box too.
    assert rate(experts[Role.EXPERTS, Collective.ALL_TO_ALL]) == pytest.approx(325_000 * 8 / 7)
    assert rate(experts[Role.EXPERT_SHARDS, Collective.ALLGATHER]) == pytest.approx(50_000)
    assert experts[Role.SHARDS, Collective.ALLGATHER] == found.times[Role.SHARDS, Collective.ALLGATHER]


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("gemma-2-2b", 2.61),
        ("gemma-2-27b", 27.2),
        ("llama-2-7b", 6.74),
        ("llama-2-70b", 69.0),
        ("llama-3-8b", 8.03),
        ("llama-3-70b", 70.6),
        ("llama-3-119b", 119),
        ("mixtral-8x7b", 46.7),
        ("qwen3-30b-a3b", 30.5),
    ],
)
def test_models_have_their_published_numbers_of_parameters(name: str, billions: float) -> None:
    model = next(each for each in LANGUAGE_MODELS if each.name == name)
    assert model.parameters / 1e9 == pytest.approx(billions, rel=0.005)
    assert sum(each.parameter_bytes + each.expert_bytes for each in model.profile.layers) == 2 * model.parameters


@pytest.mark.parametrize(
    ("layout", "method", "words"),
    [
        ("fsdp=12", None, "12 ranks"),
        ("pp=16", None, "pp is not in the model"),
        ("fsdp=8,dp=2", "nccl-ring", "leave it out"),
        ("fsdp=16", "nccl-tree", "not a method for an allgather"),
    ],
)
def test_layouts_that_are_refused(layout: str, method: str | None, words: str) -> None:
    assert words in refusal(lambda: layout_times("dgx-a100:boxes=2", layout, method, alpha_us=ALPHA))
