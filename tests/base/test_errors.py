from forestcoll.base.errors import did_you_mean, nearest


def test_the_nearest_name_is_found_regardless_of_case() -> None:
    assert nearest("ALLGAHTER", ["allreduce", "allgather"]) == "allgather"
    assert nearest("gpu0", ["GPU0", "GPU1"]) == "GPU0"
    assert nearest("zzzz", ["allgather"]) is None
    assert nearest("x" * 10**6, ["x" * 50]) == "x" * 50
    assert nearest("a", []) is None
    assert nearest("gpu", ["b0/gpu0", "b1/gpu0"]) == nearest("gpu", ["b0/gpu0", "b0/gpu1"]) == "b0/gpu0"


def test_a_hint_is_a_question_or_empty() -> None:
    assert did_you_mean("tors", ["torus"]) == "did you mean 'torus'? "
    assert did_you_mean("zzzz", ["torus"]) == ""


def test_the_search_for_the_nearest_name_is_bounded() -> None:
    assert nearest("node/19999", (f"node/{number}" for number in range(10**7))) is not None
