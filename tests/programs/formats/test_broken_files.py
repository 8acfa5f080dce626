"""Correct files with one change: each fault is found, with its place, and is the same in every run."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from samples import schedule

from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.exporting import Target
from forestcoll.programs.formats.judging import judge_file
from forestcoll.tuning.programs.export import export

Mutation = Callable[[str], Iterator[str]]


@cache
def text_of(target: Target, collective: Collective, spec: str) -> str:
    return export(schedule(spec, collective), target, dialect="azure").text


def _numbers(pattern: str, change: Callable[[int], int]) -> Mutation:
    """Return a mutation that changes one number; `pattern` has a group for what is before it."""

    def mutate(text: str) -> Iterator[str]:
        for match in re.finditer(f"{pattern}([0-9]+)", text):
            yield text[: match.start(2)] + str(change(int(match[2]))) + text[match.end(2) :]

    mutate.__name__ = pattern
    return mutate


def _swapped_lines(first: str, second: str) -> Mutation:
    """Return a mutation that swaps two consecutive lines with these texts, except the numbers of the steps."""

    def mutate(text: str) -> Iterator[str]:
        lines = text.splitlines(keepends=True)
        for place in range(len(lines) - 1):
            if first in lines[place] and second in lines[place + 1]:
                head, tail = (re.sub(r's="[0-9]+"', "", line, count=1) for line in lines[place : place + 2])
                numbers = [re.search(r' s="[0-9]+"', line) for line in lines[place : place + 2]]
                swapped = [tail, head]
                for i, number in enumerate(numbers):
                    if number is not None:
                        swapped[i] = swapped[i].replace("<step ", f"<step{number[0]}", 1)
                yield "".join([*lines[:place], *swapped, *lines[place + 2 :]])

    mutate.__name__ = f"{first} {second}"
    return mutate


def _replaced(old: str, new: str) -> Mutation:
    def mutate(text: str) -> Iterator[str]:
        for match in re.finditer(re.escape(old), text):
            yield text[: match.start()] + new + text[match.end() :]

    mutate.__name__ = old
    return mutate


def _without_block(text: str) -> Iterator[str]:
    for match in re.finditer(r" *<tb id=\"[0-9]+\".*?</tb>\n", text, re.DOTALL):
        yield text[: match.start()] + text[match.end() :]


XML: list[Mutation] = [
    _numbers(r'(type="s" srcbuf="[ios]" srcoff=")', lambda offset: offset + 1),
    _numbers(r'(type="r" [^/]*dstoff=")', lambda offset: offset + 1),
    _numbers(r'(type="rrc?s?" srcbuf="[ios]" srcoff=")', lambda offset: offset + 1),
    _numbers(r'(chan=")', lambda channel: channel + 1),
    _numbers(r'(cnt=")', lambda count: count + 1),
    _numbers(r'(send=")', lambda peer: (peer + 1) % 4),
    _replaced('type="rrc"', 'type="r"'),
    _replaced('type="cpy"', 'type="re"'),
    _swapped_lines('type="rrc"', 'type="rrc"'),
    _swapped_lines('type="s"', 'type="s"'),
    _without_block,
]
JSON: list[Mutation] = [
    _numbers(r'(dst_buff": \[\{"buffer_id": [0-9]+, "index": )', lambda index: index + 1),
    _numbers(r'(src_buff": \[\{"type": "[ios]", "index": )', lambda index: index + 1),
    _numbers(r'(dst_buff": \[\{"buffer_id": )', lambda number: number + 1),
    _numbers(r'(connected_to": \[)', lambda peer: (peer + 1) % 4),
    _numbers(r'("unit_size": )', lambda size: 2 * size),
    _numbers(r'(signal", "channel_ids": \[)', lambda number: number + 1),
    _replaced('{"name": "nop"}, ', ""),
    _replaced('"name": "signal"', '"name": "rlxsignal"'),
    _replaced('"name": "wait"', '"name": "rlxwait"'),
    _replaced('"name": "wait"', '"name": "signal"'),
    _replaced('"name": "pws"', '"name": "put"'),
    _replaced('"name": "res"', '"name": "copy"'),
]


CASES = [
    ("dgx-a100:boxes=2,gpus=2", Collective.ALLGATHER),
    ("mesh:dims=2x2", Collective.REDUCE_SCATTER),
    ("dgx-a100:boxes=2,gpus=2", Collective.ALLREDUCE),
]


def spread(mutants: Iterator[str], count: int) -> list[str]:
    """Return `count` of the mutants, evenly spaced."""
    listed = list(mutants)
    return list(islice(listed, 0, None, max(1, len(listed) // count)))[:count]


@pytest.mark.parametrize(("spec", "collective"), CASES)
@pytest.mark.parametrize(
    ("target", "mutation"),
    [*((Target.MSCCL_XML, each) for each in XML), *((Target.MSCCLPP_JSON, each) for each in JSON)],
)
def test_every_mutation_is_found(
    spec: str, collective: Collective, target: Target, mutation: Mutation, tmp_path: Path
) -> None:
    text, path = text_of(target, collective, spec), tmp_path / "program"
    for mutant in spread(mutation(text), 4):
        path.write_text(mutant)
        judgement = judge_file(path)
        assert judgement.fault is not None, mutation.__name__
        assert judgement == judge_file(path)


@pytest.mark.parametrize("mutation", [*XML, *JSON])
def test_every_mutation_changes_something(mutation: Mutation) -> None:
    target = Target.MSCCL_XML if mutation in XML else Target.MSCCLPP_JSON
    texts = [text_of(target, collective, spec) for spec, collective in CASES]
    assert any(mutant != text for text in texts for mutant in islice(mutation(text), 3))
