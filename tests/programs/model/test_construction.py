"""Values of programs are made fast, and are still frozen dataclasses."""

import copy
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from forestcoll.programs.model import Buffer, Dependency, Instruction, Message, Span

SPAN = Span(1, Buffer.INPUT, 2, count=3)


@pytest.mark.parametrize("value", [SPAN, Message(1, 2), Dependency(0, 1), Instruction(sources=(SPAN,), step=1)])
def test_values_are_frozen_and_equal_to_their_copies(value: Span | Message | Dependency | Instruction) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, 4)
    assert copy.copy(value) == copy.deepcopy(value) == replace(value) == value
    assert len({value, copy.copy(value)}) == 1


def test_constructors_take_what_those_of_dataclasses_take() -> None:
    assert repr(SPAN) == f"Span(rank=1, buffer={Buffer.INPUT!r}, offset=2, count=3, packets=False)"
    assert Instruction() == Instruction(meets=True, sources=())
    with pytest.raises(TypeError):
        Instruction(())  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Span(1, Buffer.INPUT)  # type: ignore[call-arg]
