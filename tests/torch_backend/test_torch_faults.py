"""A process that ends, stops or calls something else: an error on the others within its limit, and a clean end."""

import pytest
from torch_ranks import outcomes, values

LIMIT = 20
"""The seconds that an operation of the group may take without progress, where a case sets no other limit."""


@pytest.mark.parametrize("training", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_killed_process_is_an_error_on_all_others(training: bool) -> None:  # noqa: FBT001 (a parameter)
    found, logs = outcomes("cases_networks:one_is_killed", training=training)
    assert found.pop(2) == {"error": "killed"}
    for outcome, log in zip(found, logs, strict=False):
        message, took, ended = outcome.get("value", (log, 99, 99))
        assert "the process of rank 2 ended or was killed" in message
        assert took < LIMIT
        assert ended < LIMIT


def test_a_stopped_process_is_an_error_on_all_others_after_the_limit() -> None:
    found, logs = outcomes("cases_networks:one_is_stopped", limit=14)
    assert found.pop(2) == {"error": "did not end in time"}
    for outcome, log in zip(found, logs, strict=False):
        message, took, ended = outcome.get("value", (log, 99, 99))
        assert "no progress for 2 s; rank 2 does not answer" in message
        assert took < LIMIT
        assert ended < LIMIT


def test_other_sizes_are_an_error_on_all_ranks() -> None:
    for message in values("cases_networks:mismatched"):
        assert "allreduce(sum) of 100 f32" in message
        assert "allreduce(sum) of 101 f32" in message


def test_the_group_ends_with_operations_that_wait() -> None:
    for seconds in values("cases_networks:pending_at_the_end"):
        assert seconds < LIMIT
