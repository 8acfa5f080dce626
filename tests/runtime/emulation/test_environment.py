"""The environment variables by which processes find each other."""

from typing import Any

import numpy as np
import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.environment import interface_here, launcher_rank, links_here, pacing_here


def test_variables_are_read() -> None:
    assert links_here({}) == {}
    assert links_here({"FORESTCOLL_LINKS": '{"a": "10.0.0.1", "3": "10.0.0.2"}'}) == {"a": "10.0.0.1", "3": "10.0.0.2"}
    assert interface_here({}) is interface_here({"FORESTCOLL_INTERFACE": ""}) is None
    assert interface_here({"FORESTCOLL_INTERFACE": "10.0.0.1"}) == "10.0.0.1"
    assert [pacing_here({"FORESTCOLL_PACING": text}) for text in ("", "0", "1")] == [False, False, True]
    assert launcher_rank({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4"}) == (1, 4)
    assert launcher_rank({"PMI_RANK": "1"}) is None


@pytest.mark.parametrize("text", ["10.0.0.1", "[]", '{"a": 1}', "{"])
def test_links_in_another_form_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="expected a JSON object"):
        links_here({"FORESTCOLL_LINKS": text})


def test_a_communicator_takes_its_addresses_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = generate("complete:nodes=2", "allreduce")
    monkeypatch.setenv("FORESTCOLL_LINKS", '{"nobody": "127.0.0.1"}')
    with pytest.raises(InputError, match="nobody"):
        Communicator([schedule], rank=0, store=MemoryStore(), timeout=1)
    monkeypatch.setenv("FORESTCOLL_LINKS", '{"0": "127.0.0.3", "1": "127.0.0.3"}')
    monkeypatch.setenv("FORESTCOLL_INTERFACE", "127.0.0.2")
    store: Any = MemoryStore()
    from concurrent.futures import ThreadPoolExecutor

    def run(rank: int) -> bool:
        with Communicator([schedule], rank=rank, store=store, timeout=60) as group:
            found = group.allreduce(np.ones(1000)).wait(60)
            return found is not None and bool((found == 2).all())

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(run, range(2))) == [True, True]
    cards = [value.decode() for key, value in store._values.items() if "/card/" in key]
    assert len(cards) == 2
    assert all("127.0.0.2" in card and "127.0.0.3" in card for card in cards)
