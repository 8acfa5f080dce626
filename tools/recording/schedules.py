"""Command lines that are products: builders and collectives, options, methods of steps, programs; recorded files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from recording.inputs import inputs
from recording.running import ROOT, Content, Outputs, run, run_lines

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all", "gather", "scatter")
ROOTED = {"broadcast", "reduce", "gather", "scatter"}

TREE_SPECS = (
    "dgx-a100:boxes=2",
    "mi250:boxes=2,gpus=8",
    "torus:dims=3x3",
    "hosts.json",
    "circulant:nodes=9,offsets=1+3,one_way=true",
)
TREE_OPTIONS = (
    "--method fast",
    "--method proven",
    "--compact",
    "--trees 1",
    "--trees 2",
    "--max-trees 4",
    "--ranks 0-2",
    "--ranks 0,2 --no-relays",
)

_ALLGATHERS = ("allgather", "reduce-scatter", "allreduce")
STEPS = {
    "torus:dims=3x4 --method bfb": _ALLGATHERS,
    "torus:dims=3x4 --method bfb --compact": _ALLGATHERS,
    "torus:dims=3x4 --method bfb:chunks=2": _ALLGATHERS,
    "latency.json --method bfb --size 1MB": _ALLGATHERS,
    "circulant:nodes=7,offsets=1+3,one_way=true --method bfb": _ALLGATHERS,
    "kautz:degree=2,length=2 --method bfb": _ALLGATHERS,
    "mesh:dims=2x3 --method bfb": _ALLGATHERS,
    "hypercube:dim=3 --method bfb:chunks=3": _ALLGATHERS,
    "shifted-ring:nodes=8 --method ring": _ALLGATHERS,
    "torus:dims=4x4 --method torus-rings": _ALLGATHERS,
    "hypercube:dim=3 --method halving-doubling": _ALLGATHERS,
    "double-binary-tree:nodes=7 --method double-binary-tree:chunks=4": ("allreduce",),
    "kautz:degree=2,length=2 --method steps": ("all-to-all",),
    "torus:dims=3x3 --method steps:steps=3": ("all-to-all",),
    "dgx-1 --method steps": ("all-to-all",),
}
"""Methods of steps, and the collectives that each has."""

PROGRAMS = (
    "ring:nodes=4",
    "ring:nodes=4 --collective allreduce",
    "ring:nodes=3 --collective broadcast --root 1",
    "ring:nodes=3 --collective reduce --root 1",
    "dgx-a100:boxes=2,gpus=2",
    "dgx-a100:boxes=2,gpus=2 --collective allreduce",
    "dgx-a100:boxes=2,gpus=2 --collective reduce-scatter",
    "dgx-h100:boxes=1,gpus=4,nvls=true --collective allreduce",
    "odd.json --collective allreduce",
    "torus:dims=2x3 --method bfb --collective allreduce",
    "ring:nodes=4 --collective all-to-all",
    "dgx-a100:boxes=2,gpus=2 --collective all-to-all",
)
TARGETS = (
    ("--to msccl-xml", "p.xml"),
    ("--to msccl-xml --dialect azure", "azure.xml"),
    ("--to msccl-xml --dialect rccl", "rccl.xml"),
    ("--to mscclpp-json -o snippet=use.py", "plan.json"),
    ("--to goal --bytes 1MiB", "p.goal"),
    ("--to chakra --bytes 1MiB", "trace"),
)
PROGRAM_OPTIONS = """
generate ring:nodes=4 --collective allreduce -o s.json
generate torus:dims=3x3 --method bfb -o steps.json
export s.json --to msccl-xml:chunks=8 -o a.xml
export s.json --to msccl-xml:chunks=exact,instances=2 -o b.xml
export s.json --to msccl-xml:channels=2 -o c.xml
export s.json --to msccl-xml:instances=2,chunks=4 -o d.xml
export s.json --to msccl-xml:blocks=8,protocol=LL -o h.xml
export s.json --to msccl-xml:placement=in-place --dialect azure -o i.xml
export s.json --to mscclpp-json:protocol=LL -o a.json
export s.json --to mscclpp-json:instances=2,placement=out-of-place -o b.json
export s.json --to mscclpp-json --json
export s.json --to goal:chunks=4 --json -o a.goal
export s.json --to astra-sim --bytes 1MiB -o simulation
export steps.json --to msccl-xml -o steps.xml
export steps.json --to chakra -o steps
verify a.xml --json
verify d.xml --dialect microsoft
verify i.xml --dialect azure
verify b.json
verify a.goal --json
verify steps.xml
"""


def one_port_builder(spec: str) -> Outputs:
    """Yield what the commands say about a platform whose nodes have one port."""
    lines = [
        f"topology {spec}",
        f"view {spec} -o network.svg",
        f"generate {spec}",
        f"optimum {spec} --all",
        f"compare {spec}",
    ]
    yield from run_lines([*lines, f"one-port {spec} --source 0 -o series.json", "verify series.json --json"])


def _baselines() -> list[str]:
    """Return all algorithms but those of mixed-integer programs, whose searches take seconds."""
    listed = json.loads(run("compare", "ring:nodes=3", "--sizes", "1M", "--json").partition("\n")[2])
    names = {row["name"] for row in (*listed["rows"], *listed["skipped"])}
    return sorted(names - {"milp", "taccl", "te-ccl"})


def builder(spec: str) -> Outputs:
    """Yield what the commands for networks say about a builder."""
    baselines = ",".join(_baselines())
    lines = [f"topology {spec}", f"optimum {spec} --all", f"optimum {spec} --all --json", f"view {spec} -o network.svg"]
    lines.append(f"compare {spec} --baselines {baselines} --json")
    lines.append(f"compare {spec} --baselines {baselines} --json --collective allreduce --sizes 1M")
    yield from run_lines(lines)


def collective(spec: str, name: str, root: str) -> Outputs:
    """Yield a schedule, its optimum, its verdict and its times."""
    words = f"{spec} --collective {name}{f' --root {root}' if name in ROOTED else ''}"
    lines = [f"optimum {words} --json", f"generate {words} -o schedule.json"]
    yield from run_lines([*lines, "verify schedule.json", "simulate schedule.json --sizes 1M,1G"])


def options(spec: str, more: str) -> Outputs:
    """Yield schedules of trees with options, and their verdicts."""
    lines = []
    for name in ("allgather", "allreduce"):
        lines += [f"generate {spec} {more} --collective {name} -o {name}.json", f"verify {name}.json --json"]
    yield from run_lines(lines, inputs())


def steps(words: str) -> Outputs:
    """Yield schedules of steps by one method, their verdicts and times."""
    lines = []
    for name in STEPS[words]:
        made = f"generate {words} --collective {name}"
        lines += [f"{made} -o {name}.json", f"verify {name}.json", f"simulate {name}.json --sizes 1M,1G --json"]
    yield from run_lines(lines, inputs())


def programs(words: str) -> Outputs:
    """Yield the programs of a schedule in all formats, and their verdicts."""
    lines = [f"generate {words} -o s.json", "simulate s.json --model program --sizes 1M"]
    for target, name in TARGETS:
        lines.append(f"export s.json {target} -o {name}")
        if name != "trace":
            lines.append(f"verify {name} --json")
    yield from run_lines(lines, inputs())


def recorded_imports() -> Iterator[tuple[str, str, dict[str, Content]]]:
    """Yield files of other tools that `import` reads: a name, options, and the files."""
    listed = json.loads(Path(__file__).with_name("imports.json").read_text())
    for name, case in listed.items():
        yield name, case["options"], {f"host{number}.txt": "\n".join(text) for number, text in enumerate(case["files"])}
    for path in sorted(ROOT.glob("tests/**/importers/recorded/*")):
        yield path.name, "", {path.name: path.read_bytes()}


def imported(options_of_import: str, files: dict[str, Content]) -> Outputs:
    """Yield what `import` says about files, the network, and its optimum where the files say all."""
    words = f"import {' '.join(files)} {options_of_import}"
    yield from run_lines([f"{words} -o network.json", f"optimum {next(iter(files))}"], files)


def golden(name: str) -> Outputs:
    """Yield what commands say about a recorded schedule or program of the tests."""
    (path,) = ROOT.glob(f"tests/**/golden/{name}")
    files: dict[str, Content] = {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}
    lines = [f"verify {name}", f"verify {name} --json"]
    if "forestcoll." in path.read_text(errors="replace")[:80]:
        lines = [f"verify {name}", f"verify {name} --json", f"simulate {name} --sizes 1M,1G", f"view {name} -o x.svg"]
        lines += [f"export {name} --to msccl-xml -o p.xml", f"export {name} --to goal --bytes 1MiB -o p.goal"]
    yield from run_lines(lines, files)


def golden_names() -> list[str]:
    """Return the names of the recorded schedules and programs."""
    return sorted(path.name for path in ROOT.glob("tests/**/golden/*") if path.suffix not in {"", ".et"})


def regression(name: str) -> Outputs:
    """Yield what commands say about a command line or a file on which forestcoll failed once."""
    (path,) = ROOT.glob(f"tests/**/regressions/{name}")
    document = json.loads(path.read_text())
    files: dict[str, Content] = {name: bytes.fromhex(text) for name, text in document["files"].items()}
    lines = [f"{command} {file}" for file in files for command in ("import", "verify", "optimum")]
    yield from run_lines([" ".join(document["words"])] if "words" in document else lines, files)


def regression_names() -> list[str]:
    """Return the names of the files of the regressions."""
    return sorted(path.name for path in ROOT.glob("tests/**/regressions/*.json"))


def command_names() -> list[str]:
    """Return the names of all commands, as `--help` lists them."""
    return re.findall(r"^  ([a-z-]+) +\S", run("--help").partition("Commands:")[2], re.MULTILINE)


def helps(name: str) -> Outputs:
    """Yield the help of a command, and what its examples do, those of which no example starts other processes."""
    text = run(name, "--help")
    yield "help", text
    examples = re.findall(r"^ *forestcoll (.*)", text.partition("Examples:")[2], re.MULTILINE)
    lines = [line for line in examples if " -- " not in line and not line.startswith("import measured.json")]
    yield from run_lines(lines, {"nccl-tests.log": inputs()["nccl-tests.log"]})


def example_networks() -> Outputs:
    """Yield the optima and bounds of the networks in the examples."""
    files: dict[str, Content] = {path.name: path.read_bytes() for path in ROOT.glob("examples/allreduce-rate/*.json")}
    lines = [
        f"{words} {name}" for name in sorted(files) for words in ("optimum --all", "optimum --collective allreduce")
    ]
    profiles: dict[str, Content] = {path.name: path.read_bytes() for path in ROOT.glob("examples/profiles/*.json")}
    lines += [f"train-time {name} torus:dims=4x4" for name in sorted(profiles)]
    yield from run_lines(lines, files | profiles)
