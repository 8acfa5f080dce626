"""All jobs of a record; those that take long come first."""

from collections.abc import Iterator

import forestcoll
from recording import broken, processes, schedules, values
from recording.inputs import inputs
from recording.lines import LINES
from recording.running import Job, run_lines
from recording.wrong import PRELUDE, WRONG

DRAWN = 30
"""How many random networks."""

BROKEN = 12
"""How many changes of each file that is broken."""

SLOW = {"dgx-1": "dgx-1:gpus=4", "dragonfly": "dragonfly:routers=2,global_links=1", "rail": "rail:boxes=3,gpus=4"}
"""Smaller networks of builders on which `compare` takes long."""


def all_jobs() -> list[Job]:
    """Return all jobs; no two outputs have the same name."""
    return [*_builders(), *_lines(), *_processes(), *_collectives(), *_schedules(), *_wrong(), *_files(), *_values()]


def _builders() -> Iterator[Job]:
    for each in forestcoll.builders():
        one_port = forestcoll.topology.build_topology(each.name).port_model is not None
        work = schedules.one_port_builder if one_port else schedules.builder
        yield Job(f"builder {each.name}", work, (SLOW.get(each.name, each.name),))


def _collectives() -> Iterator[Job]:
    for each in forestcoll.builders():
        network = forestcoll.topology.build_topology(each.name)
        if network.port_model is not None:
            continue
        root = str(network.nodes[network.compute[1]].id)
        for name in schedules.COLLECTIVES:
            yield Job(f"collective {each.name} {name}", schedules.collective, (each.name, name, root))


def _lines() -> Iterator[Job]:
    for name, block in LINES.items():
        yield Job(f"lines {name}", run_lines, (block.strip().splitlines(), inputs()))
    yield Job("lines options of programs", run_lines, (schedules.PROGRAM_OPTIONS.strip().splitlines(), inputs()))
    for name in schedules.command_names():
        yield Job(f"help {name}", schedules.helps, (name,))
    yield Job("lines example networks", schedules.example_networks)


def _processes() -> Iterator[Job]:
    for work in (processes.processes, processes.completion, processes.terminal, processes.imports, processes.ranks):
        yield Job(f"process {work.__name__}", work)
    for more in (processes.torch, processes.examples, processes.emulation):
        yield Job(f"process {more.__name__}", more)
    for name in processes.python_of_documents():
        yield Job(f"process {name}", processes.document, (name,))


def _schedules() -> Iterator[Job]:
    for spec in schedules.TREE_SPECS:
        for more in schedules.TREE_OPTIONS:
            yield Job(f"trees {spec} {more}", schedules.options, (spec, more))
    for words in schedules.STEPS:
        yield Job(f"steps {words}", schedules.steps, (words,))
    for words in schedules.PROGRAMS:
        yield Job(f"programs {words}", schedules.programs, (words,))


def _wrong() -> Iterator[Job]:
    for name, block in WRONG.items():
        lines = block.strip().splitlines()
        yield Job(f"wrong {name}", run_lines, (lines, inputs(), PRELUDE.strip().splitlines()))
    for command, names in broken.CASES.items():
        for name in names.split():
            yield Job(f"broken {name}, {command}", broken.judged, (command, name, BROKEN))


def _files() -> Iterator[Job]:
    for name, options, files in schedules.recorded_imports():
        yield Job(f"import {name}", schedules.imported, (options, files))
    for name in schedules.golden_names():
        yield Job(f"golden {name}", schedules.golden, (name,))
    for name in schedules.regression_names():
        yield Job(f"regression {name}", schedules.regression, (name,))


def _values() -> Iterator[Job]:
    yield Job("python names", values.public_names)
    for module in ("forestcoll", "forestcoll.runtime"):
        for name in sorted(__import__(module, fromlist=["__all__"]).__all__):
            yield Job(f"python {module} {name}", values.public_name, (module, name))
    for name in values.VALUES:
        yield Job(f"value {name}", values.value, (name,))
    for seed in range(DRAWN):
        yield Job(f"drawn {seed:02}", values.drawn, (seed,))
