"""Random command lines: commands, options and values that the program itself declares, and valid or mutated files.

The options are read from the commands, so a new command or option is tried without a change here. `bench` and `probe`
wait for other processes, and `emulate` runs programs as root; they are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click

from forestcoll.cli.file_types import OutputFile
from forestcoll.cli.main import forestcoll
from fuzz.mutations import ODD_TEXTS, mutated

LEFT_OUT = {"bench", "emulate", "probe"}

SPECS = (
    "ring:nodes=3", "ring:nodes=4,bandwidth=25/3", "complete:nodes=4", "hypercube:dim=2", "torus:dims=2x3",
    "dgx-a100:boxes=2,gpus=2", "dgx-h100:boxes=2,gpus=2,nvls=true", "mi250:boxes=1,gpus=4",
    "kautz:degree=2,length=1", "cluster:box=dgx-a100,boxes=2", "rail", "complete:nodes=2,bandwidth=400Gb/s",
    "ring:nodes=2,bandwidth=1/3",
    "ring:nodes=3,bandwidth=1e38",
)  # fmt: skip
"""Networks that are small, so that a run is short."""

ODD_SPECS = (
    "torus:dims=100000x100000", "ring:nodes=1048577", "ring:", "ring:nodes=-1", "nothing", "", "line:nodes=3", ":",
    "ring:nodes=3,nodes=4", "/nowhere/a.json", "fat-tree:ports=2", "cluster:box=,boxes=2", "ring:bandwidth=0",
)  # fmt: skip

SCHEDULES = (
    "allgather.json",
    "allgather.json.gz",
    "allreduce.json",
    "compact.json",
    "reduce.json",
    "steps.json",
    "flows.json",
)

WORDS: dict[str, tuple[str, ...]] = {
    "collective": ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all_to_all", "gather"),
    "size": ("1", "1K", "1MB", "2.5MiB", "1G", "1EB", "0", "-1", "1e400"),
    "sizes": ("1K", "1K..16K", "1,2,3", "1..1E", "1M..1K", "1..1152921504606846976", ""),
    "ranks": ("0,1", "0-2", "1-0", "0", "b0/gpu0,b1/gpu0", "0,0", "5-9", "gpu", "0-1000000000"),
    "trees": ("1", "2", "13", "0", "1000000007", "9" * 100, "-1"),
    "numbers": ("8", "12", "4..6", "1..999999999", "0", "64", "9..8"),
    "number": ("0", "1", "25/2", "0.1", "1e9", "-1", "nan"),
    "integer": ("0", "1", "2", "3", "7", "64", "1000", "100000000", "-1", "9" * 30),
    "integer range": ("1", "2", "3", "64", "1000", "100000000", "0", "-1", "9" * 30),
    "float": ("0", "1", "2.5", "1e9", "-1", "nan", "inf"),
    "speed": ("25", "400Gb/s", "1/3", "0", "x"),
    "format": ("nccl-xml", "matrix", "edge-list", "forestcoll", "slurm", "nothing"),
    "text": (
        "0", "1", "2", "0--1", "0--1=5", "1--2", "b0/gpu0--nvswitch", "direct", "nccl-ring,pat", "milp", "forestcoll",
        "0,1,2", "alpha_us", "x", "", "--", "0;1", "0,1;2,3", "tp=2,dp=2", "simulation",
    ),
}  # fmt: skip
"""Values by the name of the type of an option or an argument."""


@dataclass(frozen=True)
class Case:
    """A command line.

    Attributes:
        words: the words after `forestcoll`.
        outputs: the names of the files that it may write.
        files: the content of the files that it reads, by name.
    """

    words: tuple[str, ...]
    outputs: tuple[str, ...]
    files: dict[str, bytes]


class CommandLines:
    """Makes random command lines that read seeds, as they are or mutated."""

    def __init__(self, seeds: list[Path]) -> None:
        self._seeds = {path.name: path.read_bytes() for path in seeds}
        context = click.Context(forestcoll)
        names = [name for name in forestcoll.list_commands(context) if name not in LEFT_OUT]
        self._commands = {name: forestcoll.get_command(context, name) for name in names}

    def case(self, random: Random) -> Case:
        """Return a random command line."""
        files: dict[str, bytes] = {}
        outputs: list[str] = []
        name = random.choice(list(self._commands))
        command = self._commands[name]
        words: list[str] = [name]
        parameters = command.params if command is not None else []
        options = [each for each in parameters if not isinstance(each, click.Argument) and not each.required]
        chosen = random.sample(options, min(len(options), random.choice([0, 1, 1, 2, 2, 3, 6])))
        for each in parameters:
            if each not in options or each in chosen:
                words += self._of_parameter(each, random, files, outputs)
        if random.random() < 0.03:
            words.insert(random.randrange(len(words) + 1), random.choice(ODD_TEXTS))
        if random.random() < 0.02:
            words = words[: random.randrange(len(words) + 1)]
        words = [word.replace("\x00", "") for word in words]
        return Case(tuple(words), tuple(outputs), files)

    def _of_parameter(
        self, each: click.Parameter, random: Random, files: dict[str, bytes], outputs: list[str]
    ) -> Iterator[str]:
        """Yield the words of an option or an argument, rarely none."""
        if isinstance(each, click.Argument):
            for _ in range(random.choice([1, 1, 2]) if each.nargs != 1 else 1):
                if random.random() < 0.98:
                    yield self._value(each, random, files, outputs)
            return
        often = 0.97
        while random.random() < often:
            yield random.choice([*each.opts, *each.secondary_opts])
            if not getattr(each, "is_flag", False) and random.random() < 0.99:
                yield self._value(each, random, files, outputs)
            often = 0.3 if each.multiple else 0.02

    def _value(self, each: click.Parameter, random: Random, files: dict[str, bytes], outputs: list[str]) -> str:
        kind = each.type
        if random.random() < 0.02:
            return random.choice(ODD_TEXTS)
        if isinstance(kind, click.Choice):
            return str(random.choice([str(choice) for choice in kind.choices]))
        if isinstance(kind, OutputFile):
            outputs.append(name := "out" + random.choice((*kind.endings, ".json", ".json.gz", ".svg", ".xml")))
            odd = ["-", "/nowhere/out.json", "/dev/null", "/dev/full", ".", *files]
            return random.choice([name] * 2 * len(odd) + odd)
        if kind.name in {"file", "topology"} or each.name in {"times", "profile"}:
            return self._file(kind.name, random, files)
        return random.choice(WORDS.get(kind.name, WORDS["text"]))

    def _file(self, kind: str, random: Random, files: dict[str, bytes]) -> str:
        if kind == "topology" and random.random() < 0.75:
            return random.choice(SPECS if random.random() < 0.85 else ODD_SPECS)
        if random.random() < 0.03:
            return random.choice(["-", "/dev/null", ".", "/nowhere", "/dev/zero", "switch-base-256"])
        likely = [name for name in SCHEDULES if name in self._seeds] if kind == "file" and random.random() < 0.5 else []
        name = random.choice(likely or list(self._seeds))
        data = self._seeds[name]
        if random.random() < 0.4:
            data, name = mutated(data, random), f"{len(files)}-{name}"
        files[name] = data
        return name


def document_of(case: Case, fault: str) -> dict[str, Any]:
    """Return a case as JSON, to be kept as a regression file."""
    files = {name: data.hex() for name, data in sorted(case.files.items())}
    return {"fault": fault, "words": list(case.words), "outputs": list(case.outputs), "files": files}


def case_of(document: dict[str, Any]) -> Case:
    """Return the case that `document_of` wrote."""
    files = {name: bytes.fromhex(text) for name, text in document["files"].items()}
    return Case(tuple(document["words"]), tuple(document["outputs"]), files)
