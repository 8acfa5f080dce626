from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.demand.collective import Collective
from forestcoll.demand.groups.layout import Layout
from forestcoll.design.workloads import Layer, Profile
from forestcoll.design.workloads.iteration import Activity, Iteration
from forestcoll.design.workloads.language_models import LANGUAGE_MODELS
from forestcoll.design.workloads.sharded import CollectiveTime, LayoutTimes, SizedTime, layout_times, sharded_iteration
from refusal import refusal

ALPHA = Fraction(10)


def times_of(layout: str, rate: float = 100.0, latency: float = 0.0) -> LayoutTimes:
    time = CollectiveTime(latency, rate)
    pairs = [
        ("fsdp", Collective.ALLGATHER),
        ("fsdp", Collective.REDUCE_SCATTER),
        ("dp", Collective.ALLREDUCE),
        ("tp", Collective.ALLREDUCE),
    ]
    chosen = Layout.of(layout)
    sizes = dict(chosen.sizes)
    return LayoutTimes("n", chosen, None, {pair: time for pair in pairs if sizes.get(pair[0], 1) > 1})


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


LAYERS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 5000), st.integers(1, 500)), min_size=1, max_size=6).map(
    lambda rows: tuple(layer(str(place), *row) for place, row in enumerate(rows))
)


@given(LAYERS, st.sampled_from(["fsdp=4", "fsdp=2,dp=2", "tp=2,fsdp=2", "tp=2,dp=2", "dp=4"]))
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
    assert rate(found.times["fsdp", Collective.ALLGATHER]) == pytest.approx(float(Fraction(1040, 3)) * 1000)
    ring = layout_times("dgx-a100:boxes=2", "fsdp=16", "nccl-ring", alpha_us=ALPHA)
    assert rate(ring.times["fsdp", Collective.REDUCE_SCATTER]) == pytest.approx(float(Fraction(640, 3)) * 1000)
    assert ring.times["fsdp", Collective.ALLGATHER].us(1) > found.times["fsdp", Collective.ALLGATHER].us(1)
    pairs = layout_times("dgx-a100:boxes=2", "fsdp=8,dp=2", alpha_us=ALPHA)
    assert rate(pairs.times["dp", Collective.ALLREDUCE]) == pytest.approx(25_000)


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
    ],
)
def test_models_have_their_published_numbers_of_parameters(name: str, billions: float) -> None:
    model = next(each for each in LANGUAGE_MODELS if each.name == name)
    assert model.parameters / 1e9 == pytest.approx(billions, rel=0.005)
    assert sum(each.parameter_bytes for each in model.profile.layers) == 2 * model.parameters


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
