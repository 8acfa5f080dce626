"""Correct files with one change: each fault is found, with its place, and is the same in every run."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest
from samples import schedule

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.judging import judge_file
from forestcoll.tuning.programs.export import export

Mutation = Callable[[str], Iterator[str]]
TEXTS = {"msccl-xml": "msccl-xml:dialect=azure", "mscclpp-json": "mscclpp-json", "goal": "goal:pieces=1"}


@cache
def text_of(target: str, collective: Collective, spec: str) -> str:
    return export(schedule(spec, collective), TEXTS[target]).text


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


def _without_operation(text: str) -> Iterator[str]:
    for match in re.finditer(r"// data .*\n(l[0-9]+): .*\n", text):
        rank_end = text.index("}", match.end())
        rest = re.sub(rf"l[0-9]+ requires {match[1]}\n|{match[1]} requires .*\n", "", text[match.end() : rank_end])
        yield text[: match.start()] + rest + text[rank_end:]


def _without_waiting_for_data(text: str) -> Iterator[str]:
    """Remove each dependency of an operation on the one that writes what it reads."""
    for rank in re.finditer(r"rank .*?\}", text, re.DOTALL):
        written = {each[1]: each[2] for each in re.finditer(r"// data .*-> (.*)\n(l[0-9]+): ", rank[0])}
        written = {label: span for span, label in written.items()}
        read = {each[2]: each[1] for each in re.finditer(r"// data (.*) ->.*\n(l[0-9]+): ", rank[0])}
        for match in re.finditer(r"(l[0-9]+) requires (l[0-9]+)\n", rank[0]):
            if written.get(match[2]) and written[match[2]] in read.get(match[1], "").split(" + "):
                yield text[: rank.start() + match.start()] + text[rank.start() + match.end() :]


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
GOAL: list[Mutation] = [
    _numbers(r"(// data (?:input|output|scratch) )", lambda offset: offset + 1),
    _numbers(r"(-> (?:input|output) )", lambda offset: offset + 1),
    _numbers(r"(// data (?:-> )?(?:input|output|scratch) [0-9]+ )", lambda count: count + 1),
    _numbers(r"((?:send|recv) )", lambda size: size + 1),
    _numbers(r"((?:to|from) )", lambda peer: peer + 1),
    _numbers(r"(tag )", lambda tag: tag + 1),
    _numbers(r"(num_ranks )", lambda ranks: ranks + 1),
    _numbers(r'("chunks": )', lambda chunks: chunks + 1),
    _without_operation,
    _without_waiting_for_data,
]


MUTATIONS = {"msccl-xml": XML, "mscclpp-json": JSON, "goal": GOAL}
CASES = [
    ("dgx-a100:boxes=2,gpus=2", Collective.ALLGATHER),
    ("mesh:dims=2x2", Collective.REDUCE_SCATTER),
    ("dgx-a100:boxes=2,gpus=2", Collective.ALLREDUCE),
]


def spread(mutants: Iterator[str], count: int) -> list[str]:
    """Return `count` of the mutants, evenly spaced."""
    listed = list(mutants)
    return list(islice(listed, 0, None, max(1, len(listed) // count)))[:count]


@pytest.mark.parametrize(
    ("target", "mutation"), [(target, each) for target, mutations in MUTATIONS.items() for each in mutations]
)
def test_every_mutation_is_found(target: str, mutation: Mutation, tmp_path: Path) -> None:
    path, mutants = tmp_path / f"program.{target}", []
    for spec, collective in CASES:
        text = text_of(target, collective, spec)
        mutants += [mutant for mutant in spread(mutation(text), 3) if mutant != text]
    assert mutants
    for mutant in mutants:
        path.write_text(mutant)
        found = fault_of(path)
        assert found is not None, mutant
        assert found == fault_of(path)


def fault_of(path: Path) -> object:
    try:
        return judge_file(path).fault
    except InputError as error:
        return str(error)
