import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand import collective as collective_module
from forestcoll.demand.collective import Collective, collective_named

SPELLINGS = {
    "allgather": "allgather all_gather all-gather AllGather allGather ALLGATHER ALL_GATHER All-Gather",
    "reduce-scatter": "reduce-scatter reduce_scatter ReduceScatter reducescatter REDUCE_SCATTER",
    "allreduce": "allreduce all_reduce all-reduce AllReduce allReduce ALLREDUCE",
    "broadcast": "broadcast Broadcast BROADCAST",
    "reduce": "reduce Reduce REDUCE",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_collectives_are_read_in_the_usual_spellings(name: str) -> None:
    for spelling in SPELLINGS[name].split():
        assert collective_named(spelling) is Collective(name)


@pytest.mark.parametrize("each", Collective)
def test_every_member_is_read_from_its_name_its_value_and_itself(each: Collective) -> None:
    assert collective_named(each) is collective_named(each.value) is collective_named(each.name) is each


def test_all_spellings_of_all_to_all_are_equal() -> None:
    plain = collective_module._plain
    spellings = ["all-to-all", "alltoall", "all_to_all", "AllToAll", "all2all", "ALL2ALL"]
    assert len(set(map(plain, spellings))) == 1


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("allgahter", "did you mean 'allgather'? "),
        ("Reduce-Scater", "did you mean 'reduce-scatter'? "),
        ("gossip", ""),
        ("", ""),
        (3, ""),
        (None, ""),
    ],
)
def test_the_error_for_an_unknown_collective_suggests_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        collective_named(name)
    message = str(caught.value)
    assert "\n" not in message
    head, _, known = message.partition("there are ")
    assert head == f"there is no collective {'null' if name is None else repr(name)}; {hint}"
    assert known == ", ".join(repr(each.value) for each in Collective)
