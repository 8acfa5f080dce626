"""Small changes of MSCCL XML and of execution plans, most of which break them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

OTHER_TYPES = {
    "s": ["nop"],
    "r": ["rrc"],
    "rrc": ["r"],
    "rcs": ["r"],
    "rrcs": ["rrs", "rcs"],
    "re": ["cpy"],
    "cpy": ["re", "nop"],
}
OTHER_BUFFER = {"i": "o", "o": "i", "s": "o"}


def changed_xml(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each changed file."""
    for number, (_, step) in enumerate(_steps(ET.fromstring(text))):  # noqa: S314 (our own text)
        for name, change in _step_changes(dict(step.attrib)):
            tree = ET.fromstring(text)  # noqa: S314
            block, there = _steps(tree)[number]
            change(block, there)
            for place, each in enumerate(block):
                each.set("s", str(place))
            yield f"{name} at step {number}", ET.tostring(tree, encoding="unicode")


def _steps(tree: ET.Element) -> list[tuple[ET.Element, ET.Element]]:
    return [(block, step) for block in tree.iter("tb") for step in block]


def _step_changes(step: dict[str, str]) -> Iterator[tuple[str, Callable[[ET.Element, ET.Element], None]]]:
    def sets(**values: object) -> Callable[[ET.Element, ET.Element], None]:
        return lambda _, there: there.attrib.update({key: str(value) for key, value in values.items()})

    if step["depid"] != "-1":
        yield "no dependency", sets(depid=-1, deps=-1)
    for name in ("srcoff", "dstoff", "cnt"):
        for value in (int(step[name]) + 1, int(step[name]) - 1):
            if value >= (name == "cnt"):
                yield f"{name} {value}", sets(**{name: value})
    for kind in OTHER_TYPES.get(step["type"], ()):
        yield f"type {kind}", sets(type=kind)
    for name in ("srcbuf", "dstbuf"):
        yield name, sets(**{name: OTHER_BUFFER[step[name]]})
    if step["hasdep"] == "1":
        yield "no hasdep", sets(hasdep=0)
    yield "later", _later
    yield "gone", lambda block, there: block.remove(there)


def _later(block: ET.Element, step: ET.Element) -> None:
    place = list(block).index(step)
    block.remove(step)
    block.insert(place + 1, step)


def changed_plan(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each changed plan."""
    plan = json.loads(text)
    for rank, gpu in enumerate(plan["gpus"]):
        for number in range(len(gpu["semaphores"])):
            copy = json.loads(text)
            copy["gpus"][rank]["semaphores"][number]["init_value"] += 1
            yield f"semaphore {number} of rank {rank} starts higher", json.dumps(copy)
        for block, each in enumerate(gpu["threadblocks"]):
            for place in _places(each["ops"]):
                for name, change in _operation_changes(_row(each["ops"], place)[place[-1]]):
                    copy = json.loads(text)
                    change(_row(copy["gpus"][rank]["threadblocks"][block]["ops"], place), place[-1])
                    yield f"{name} at rank {rank}, block {block}, operation {place}", json.dumps(copy)


def _places(operations: list[dict[str, Any]]) -> Iterator[tuple[int, ...]]:
    for number, operation in enumerate(operations):
        yield (number,)
        yield from ((number, inner) for inner in range(len(operation.get("ops", ()))))


def _row(operations: list[dict[str, Any]], place: tuple[int, ...]) -> list[dict[str, Any]]:
    if len(place) == 1:
        return operations
    inner: list[dict[str, Any]] = operations[place[0]]["ops"]
    return inner


def _operation_changes(
    operation: dict[str, Any],
) -> Iterator[tuple[str, Callable[[list[dict[str, Any]], int], None]]]:
    name = operation["name"]
    if name != "pipeline":
        yield f"{name} gone", lambda row, place: row.__delitem__(place)
    if name in {"wait", "signal"}:
        yield f"{name} relaxed", lambda row, place: row[place].update(name=f"rlx{name}")
    for side in ("src_buff", "dst_buff"):
        for number, buffer in enumerate(operation.get(side, ())):
            for index in (buffer["index"] + 1, buffer["index"] - 1):
                if index >= 0:
                    yield f"{side} {index}", _moved(side, number, index)
    yield f"{name} later", _put_later


def _moved(side: str, number: int, index: int) -> Callable[[list[dict[str, Any]], int], None]:
    return lambda row, place: row[place][side][number].update(index=index)


def _put_later(row: list[dict[str, Any]], place: int) -> None:
    row.insert(place + 1, row.pop(place))
