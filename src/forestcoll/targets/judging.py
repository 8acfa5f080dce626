"""Judges a file that anyone wrote for a runtime: by the rules of its format, then by running it on data."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from forestcoll.errors import InputError
from forestcoll.files import parse_document, read_bytes
from forestcoll.interpreter import check
from forestcoll.program import Fault, Program
from forestcoll.targets import msccl_xml, mscclpp

MAX_CHUNKS = 2**27
"""The most chunks of all buffers of a program that is run: they take some gigabytes."""

MAX_BLOCKS = 30_000
"""The most thread blocks of a program that is run, likewise."""

_TRACE = re.compile(r"(.+)\.[0-9]+\.et\Z")

MAX_BYTES = 512 * 2**20
"""The largest file that is read (512 MiB), some two million steps."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was found out about a file.

    Attributes:
        format: its format, `msccl-xml`, `mscclpp-json` or `chakra`.
        collective: what it does.
        ranks: of how many ranks.
        fault: the first fault, or None if the file is right.
        placement: `in place` or `out of place`, where the fault is one of data in this case only.
        loads: of each runtime, why it does not load the file, or None if it does.
        remarks: what a runtime does otherwise than the file says.
        instructions: how many instructions the program has.
    """

    format: str
    collective: str
    ranks: int
    fault: Fault | None
    placement: str | None = None
    loads: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    instructions: int = 0


def judge_file(path: Path, *, dialect: str | None = None, root: int | None = None) -> Judgement:
    """Return the judgement of the MSCCL XML or the MSCCL++ plan at `path`.

    Args:
        path: the file; what it holds says which format it has. `PREFIX.0.et`, or that of another rank, stands for the
            traces of all ranks.
        dialect: of MSCCL's XML, the runtime that must load it; without it, one of them must.
        root: of a broadcast or a reduce, the rank that is its root, where the file leaves that open.

    Raises:
        InputError: the file cannot be read, is in neither format, or its root cannot be told.
    """
    if (match := _TRACE.match(path.name)) is not None:
        if dialect is not None or root is not None:
            raise InputError(f"{path}: traces of Chakra have neither dialects nor a root; leave both out")
        return _judge_traces(path.with_name(match[1]))
    data = read_bytes(path, limit=MAX_BYTES)
    start = bytes(data[:4096]).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return _judge_xml(data, path, dialect, root)
    if start.startswith(b"{"):
        if dialect is not None:
            raise InputError(f"{path}: is no MSCCL XML, which alone has dialects; leave the dialect out")
        return _judge_plan(data, path, root)
    raise InputError(f"{path}: is neither MSCCL's XML nor an execution plan of MSCCL++ in JSON")


def _judge_traces(prefix: Path) -> Judgement:
    """Return whether the traces of all ranks fit together; which data goes where they do not say."""
    from forestcoll.targets import chakra

    traces = chakra.read_traces(prefix)
    collective = traces[0].attributes.get("collective", "traces")
    nodes = sum(len(trace.nodes) for trace in traces)
    return Judgement("chakra", collective, len(traces), chakra.traces_fault(traces), instructions=nodes)


def _judge_xml(data: bytearray, path: Path, dialect: str | None, root: int | None) -> Judgement:
    wanted = None if dialect is None else msccl_xml.dialect_named(dialect)
    algorithm = msccl_xml.parse_algorithm(bytes(data), where=str(path))
    fault = msccl_xml.form_fault(algorithm)
    found = Judgement("msccl-xml", algorithm.collective, algorithm.gpu_count, fault)
    if fault is not None:
        return found
    refusals = {name: msccl_xml.dialect_fault(algorithm, each) for name, each in msccl_xml.DIALECTS.items()}
    loads = MappingProxyType({name: None if each is None else str(each) for name, each in refusals.items()})
    fault = refusals[wanted.name.value] if wanted is not None else _refused_by_all(refusals)
    program = _named(path, lambda: msccl_xml.to_program(algorithm, root=root))
    return _run(path, program, Judgement(found.format, found.collective, found.ranks, fault, loads=loads))


def _refused_by_all(refusals: Mapping[str, Fault | None]) -> Fault | None:
    """Return why the first runtime refuses a file, if all do."""
    faults = list(refusals.values())
    return None if None in faults else faults[0]


def _judge_plan(data: bytearray, path: Path, root: int | None) -> Judgement:
    document = parse_document(data, path)
    if "gpus" not in document:
        form = document.get("format")
        kind = (
            f"has format {form!r}; `forestcoll verify` judges schedules" if isinstance(form, str) else 'has no "gpus"'
        )
        raise InputError(f"{path}: is no execution plan of MSCCL++: it {kind}")
    plan = mscclpp.plan_from_document(document, where=str(path))
    fault = mscclpp.plan_fault(plan)
    loads = MappingProxyType({"mscclpp 0.9": None if fault is None else str(fault)})
    found = Judgement("mscclpp-json", plan.collective, len(plan.gpus), fault, loads=loads)
    if fault is not None:
        return found
    program = _named(path, lambda: mscclpp.to_program(plan, root=root))
    return _run(path, program, found, tuple(mscclpp.remarks(plan)))


def _named(path: Path, read: Callable[[], Program]) -> Program:
    """Return what `read` does; its complaints name the file."""
    try:
        return read()
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _run(path: Path, program: Program, found: Judgement, remarks: tuple[str, ...] = ()) -> Judgement:
    """Return the judgement with what running the program shows; a fault of the format stays the first."""
    _check_size(path, program)
    verdict = check(program)
    fault = found.fault or verdict.fault
    placement = verdict.placement if found.fault is None else None
    return Judgement(
        found.format, found.collective, found.ranks, fault, placement, found.loads, remarks, verdict.instructions
    )


def _check_size(path: Path, program: Program) -> None:
    """Do nothing if a program can be run in some gigabytes.

    Raises:
        InputError: its numbers of chunks or of blocks are too great.
    """
    cells = sum(rank.input_chunks + rank.output_chunks + rank.scratch_chunks for rank in program.ranks)
    cells += 2 * program.chunks * len(program.ranks)
    blocks = sum(len(rank.blocks) for rank in program.ranks)
    for count, most, what in ((cells, MAX_CHUNKS, "chunks in all buffers"), (blocks, MAX_BLOCKS, "thread blocks")):
        if count > most:
            raise InputError(f"{path}: has {count} {what}; up to {most} can be run")
