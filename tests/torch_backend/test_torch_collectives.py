"""Collectives of torch on real ranks, compared with torch on one process; each took the path that it should."""

import pytest
from torch_ranks import outcomes, values

ENGINE = "forestcoll"


@pytest.mark.parametrize(
    ("case", "paths"),
    [
        ("sums", {"all_reduce": ENGINE}),
        ("gathered", {"all_gather": ENGINE, "all_gather_into_tensor": ENGINE}),
        ("scattered", {"reduce_scatter": ENGINE, "reduce_scatter_tensor": ENGINE}),
        ("rooted", {"broadcast": ENGINE, "reduce": ENGINE}),
        (
            "strided",
            dict.fromkeys(("all_gather_into_tensor", "all_reduce", "broadcast", "reduce_scatter_tensor"), ENGINE),
        ),
        ("in_flight", {"all_reduce": ENGINE}),
        ("exchanged", {"all_to_all_single": ENGINE}),
        ("coalesced", {"all_gather_into_tensor": ENGINE, "all_reduce": ENGINE, "reduce_scatter_tensor": ENGINE}),
    ],
)
def test_a_collective_gives_torchs_result_by_the_engine(case: str, paths: dict[str, str]) -> None:
    for taken in values(f"cases_collectives:{case}"):
        assert taken == paths


def test_object_collectives_work() -> None:
    taken = values("cases_collectives:objects")[2]
    assert taken["all_gather"] == taken["broadcast"] == ENGINE
    assert taken["gather"] == taken["scatter"] == "gloo"


def test_what_has_no_schedule_goes_to_gloo_visibly() -> None:
    taken = values("cases_collectives:without_schedules")[1]
    # torch calls the average of complex numbers as one of their real parts
    assert taken == {"all_reduce": "forestcoll+gloo", "all_to_all_single": "gloo", "recv": "gloo", "send": "gloo"}


def test_wrong_calls_raise_and_say_why() -> None:
    found, _ = outcomes("cases_collectives:refused")
    for outcome in found:
        gather, scatter, factor, ragged, different = outcome["value"]
        assert "has 7 elements" in gather
        assert "torch.float64" in scatter
        assert "PREMUL_SUM" in factor
        assert "its first dimension must be a multiple of 4" in ragged
        assert "the output has 8 elements of torch.float32, and the input 4" in different
