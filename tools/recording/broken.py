"""Files that are broken in many small ways, always the same ones, and what a command says about each."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from recording.inputs import inputs
from recording.running import Outputs, run, run_lines

_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**63, 10**30, 0.5, "", "-1", "1/0", "1/3", "nan", "é", [], {}, [0], {"a": 1}, "switch",
    "allreduce", "forestcoll.topology/1", "400Gb/s",
)  # fmt: skip
_WORDS = ("", "0", "-1", "x", "9" * 30, "1e999", "<", "]", "GPU0", "NV12", "recv", "\N{SNOWMAN}")
_WORD = re.compile(r"[A-Za-z0-9_.+-]+")


def broken(content: bytes, random: Random) -> bytes:
    """Return a file with one change: of a value if it is JSON, of a word if it is a text, else of a byte."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        place = random.randrange(len(content))
        return content[:place] + bytes([random.randrange(256)]) + content[place + random.randrange(2) :]
    if text.lstrip()[:1] not in {"{", "["}:
        return _changed_text(text, random).encode()
    return json.dumps(_changed_json(json.loads(text), random)).encode()


def _changed_text(text: str, random: Random) -> str:
    word = random.choice(list(_WORD.finditer(text)))
    if random.random() < 0.3:  # a line is missing or stands twice
        lines = text.splitlines(keepends=True)
        place = random.randrange(len(lines))
        lines[place : place + 1] = random.choice([[], [lines[place]] * 2])
        return "".join(lines)
    other: str = random.choice([*_WORDS, random.choice(_WORD.findall(text))])
    return text[: word.start()] + other + text[word.end() :]


def _changed_json(document: Any, random: Random) -> Any:
    document = copy.deepcopy(document)
    parent, key, value = document, None, document
    while isinstance(value, dict | list) and value and (key is None or random.random() < 0.85):
        parent, key = value, random.choice(list(value) if isinstance(value, dict) else range(len(value)))
        value = parent[key]
    if random.random() < 0.25:
        del parent[key]
    elif isinstance(value, int) and random.random() < 0.6:
        parent[key] = random.choice([value + 1, value - 1, -value, 2 * value, str(value)])
    else:
        parent[key] = random.choice(_VALUES)
    return document


MADE = """
generate ring:nodes=4 -o trees.json
generate dgx-a100:boxes=2,gpus=2 --collective allreduce -o allreduce.json
generate dgx-h100:boxes=1,gpus=3,nvls=true --collective allreduce -o nvls.json
generate torus:dims=3x3 --compact -o compact.json
generate ring:nodes=4 --collective broadcast --root 1 -o broadcast.json
generate odd.json --collective reduce-scatter -o odd-trees.json
generate torus:dims=2x3 --method bfb --collective allreduce -o steps.json
generate kautz:degree=2,length=2 --collective all-to-all --method steps -o exchange.json
generate dgx-a100:boxes=2,gpus=2 --collective all-to-all -o flows.json
generate ring:nodes=4 --groups 0,1;2,3 -o bundle.json
one-port figure-1.json --source s -o series.json
export trees.json --to msccl-xml -o program.xml
export allreduce.json --to msccl-xml --dialect rccl -o rccl.xml
export allreduce.json --to mscclpp-json -o plan.json
export trees.json --to goal -o program.goal
topology hosts.json -o network.graphml
"""
"""Lines that write the files to break."""

CASES = {
    "verify": "trees.json allreduce.json nvls.json compact.json broadcast.json odd-trees.json steps.json exchange.json "
    "flows.json bundle.json series.json program.xml rccl.xml plan.json program.goal",
    "optimum": "hosts.json odd.json unbalanced.json topo.txt network.graphml",
    "optimum dgx-a100:boxes=2,gpus=2 --demand": "pieces.json",
    "optimum dgx-a100:boxes=2,gpus=2 --collective all-to-all --demand": "demand.csv",
    "optimum hypercube:dim=3 --groups": "groups.json",
    "optimum ring:nodes=4 --shards": "shards.json",
    "one-port --source s": "figure-1.json",
    "compare dgx-a100:boxes=2 --sizes 1M --baselines direct --against": "graph.xml",
    "explain dgx-a100:boxes=2 --measured": "nccl-tests.log",
    "fit --schedule ring:nodes=4": "times.csv",
    "simulate trees.json --sizes 1M --costs": "costs.json",
    "train-time --alpha 10": "profile.json",
}
"""What reads each file; its name is the last argument, or the one before the network."""


def judged(command: str, name: str, count: int) -> Outputs:
    """Break a file in `count` ways, and yield what the command says about each of them.

    Args:
        command: the command that reads the file, as words.
        name: the file.
        count: how many changes are made, each of one place.
    """
    for _ in run_lines([], inputs(), first=MADE.strip().splitlines()):
        pass
    content = Path(name).read_bytes()
    more = ["ring:nodes=4"] if command.startswith("train-time") else []
    for number, text in enumerate(_all_broken(content, name, count)):
        Path(name).write_bytes(text)
        yield str(number), run(*command.split(), name, *more)


def _all_broken(content: bytes, name: str, count: int) -> Iterator[bytes]:
    random = Random(name)  # noqa: S311 (not for security: the same files in each run)
    for _ in range(count):
        yield broken(content, random)
