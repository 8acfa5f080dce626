"""What a target is: a format in which `export` writes programs. Each target is declared in a file of this package.

    @targets.add("goal", summary="a schedule for LogGOPSim and ATLAHS")
    @dataclass(frozen=True)
    class Goal(SimulatorTarget):
        endings = (".goal",)

        def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export: ...

Its fields are the keys of its text, `goal:pieces=2,bytes=64MiB`: the options of the lowering, and its own. A target for
a runtime is a `RuntimeTarget`: the options that its text does not give are chosen by a simulation.
"""

import gc
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.files import STANDARD_STREAM, PathLike, as_path, check_writable, is_standard_stream, write_text
from forestcoll.base.parameters import Choice, Integer, Kind, check_fields, of_kind
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.registry import Registry
from forestcoll.base.resources import ResourceEstimate
from forestcoll.programs.formats.sizes import Sizes, chunks_of_file
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import UNLIMITED, Lowering, Options, Placement, Style, lower, lowerer_for
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.model import Program, ProgramFault, Protocol
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.schedule import Schedule

targets = Registry("format", ("forestcoll.programs.targets",))
"""All formats of programs by name."""

EXACT = "exact"
"""The number of chunks that makes all shares exact."""

EXPORTED = "the exported file"
"""What messages call a file that is read back."""

COUNT = Integer(1, MOST)
"""The values of an option that is a number."""

_OPTIONS = frozenset(each.name for each in fields(Options))


@dataclass(frozen=True)
class _Chunks(Integer):
    """A number of chunks, or `EXACT`."""

    @property
    def form(self) -> str:
        return f"'{EXACT}' or {super().form}"

    def parse(self, text: str) -> Any:
        return EXACT if text == EXACT else super().parse(text)


_PLACEMENT, _PROTOCOL, _CHUNKS = Choice(tuple(Placement)), Choice(tuple(Protocol)), _Chunks(1, MOST)


def chosen(kind: Kind, meaning: str) -> Any:
    """Return a field that is an option of the lowering, or None if it is chosen."""
    return of_kind(None, kind, meaning, default_text="chosen")


@dataclass(frozen=True)
class Target(ABC):
    """A format of programs: a frozen dataclass, or a text such as `msccl-xml:blocks=64`.

    Its fields are options of the lowering, which `programs.lowering.options` explains, and options of the format.

    Attributes:
        style: the style of data exchange between ranks.
        endings: the endings of the names of its files; any other name is taken if there are none.
        is_folder: whether the output is a folder.
        no_stream: why standard output cannot take the output; None if it can.
        has_snippet: whether Python code registers its programs.
        written_as: the output as a report names it.
        checked: how the output is checked.
        cost: what making, writing and checking an instruction takes, without a search (`benchmarks/large_exports.py`).
        file_bytes: the bytes of an instruction in the files.

    Raises:
        InputError: a value of a field is out of range.

    Example:
        >>> from forestcoll import export, generate
        >>> str(export(generate("ring:nodes=3"), "goal:pieces=2,bytes=65536").target)
        'goal:pieces=2,bytes=64KiB'
    """

    style: ClassVar[Style] = Style.TWO_SIDED
    endings: ClassVar[tuple[str, ...]] = ()
    is_folder: ClassVar[bool] = False
    no_stream: ClassVar[str | None] = None
    has_snippet: ClassVar[bool] = False
    written_as: ClassVar[str] = "{path}"
    checked: ClassVar[str] = "read back and executed on symbolic data"
    cost: ClassVar[ResourceEstimate] = ResourceEstimate(80e-6, 2000)
    file_bytes: ClassVar[int] = 85

    placement: str | None = chosen(_PLACEMENT, "whether input and output are one buffer")
    protocol: str | None = chosen(_PROTOCOL, "how the runtime moves the data")
    chunks: int | str | None = chosen(_CHUNKS, "the most equal chunks of the data; with exact, no share is rounded")
    channels: int | None = chosen(COUNT, "channels that the trees of a root share")
    blocks: int | None = chosen(COUNT, "the most thread blocks of a rank")

    def __post_init__(self) -> None:
        check_fields(self, self.name)

    @property
    def name(self) -> str:
        """The name of the format."""
        return targets.name_of(type(self))

    def __str__(self) -> str:
        return targets.text(self)

    @property
    def given(self) -> dict[str, Any]:
        """The options of the lowering that are not chosen, with their values."""
        stated = {each.name: getattr(self, each.name) for each in fields(self) if each.name in _OPTIONS}
        return {name: None if value == EXACT else value for name, value in stated.items() if value is not None}

    def usual_options(self, schedule: Schedule) -> Options:  # noqa: ARG002 (for targets that depend on it)
        """Return the options of the lowering before any of them is given or chosen."""
        return Options(style=self.style, placement=Placement.OUT_OF_PLACE)

    def limits(self, ranks: int) -> Limits:  # noqa: ARG002 (for targets that have limits)
        """Return the limits of a program for `ranks` ranks."""
        return UNLIMITED

    def check(self, schedule: Schedule, options: Options) -> None:  # noqa: ARG002 (for targets with one placement)
        """Check that the format can express programs of a schedule with these options.

        Raises:
            InputError: schedules of this kind have no programs, or it cannot express the placement.
        """
        lowerer_for(schedule)

    def export(
        self,
        schedule: Schedule,
        options: Options,
        *,
        lowering: Lowering | None = None,
        progress: Progress = SILENT,
    ) -> "Export":
        """Convert a schedule into a program in the format, with these options of the lowering.

        Args:
            schedule: a schedule of trees, steps or flows that `verify` accepts.
            options: the options of the lowering. The format determines the style.
            lowering: the program of `schedule` with these options, if it is known.
            progress: receives the stages.

        Raises:
            InputError: schedules of this kind have no programs; or the format cannot express the collective, its
                shards or the options.
            NoSolutionError: no program of the schedule fits the limits.
        """
        self.check(schedule, options)
        with collector_paused():
            progress.begin("lowering")
            options = replace(options, style=self.style)
            lowering = lowering or lower(schedule, options, self.limits(len(schedule.topology.compute)))
            return self.exported(lowering, options, progress)

    @abstractmethod
    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> "Export":
        """Return a program in the format, after it has been read back and checked."""

    def check_output(self, path: Path) -> None:
        """Raise `InputError` if the output cannot be written to `path`."""
        check_writable(path)

    def check_outputs(self, files: Mapping[str, Path]) -> None:
        """Check that the format has all files of an export: `program`, and `snippet`.

        Raises:
            InputError: it has not, or standard output cannot take the program.
        """
        if "snippet" in files and not self.has_snippet:
            raise InputError(f"{self.name} has no snippet, only mscclpp-json has one; leave -o snippet=FILE out")
        if "snippet" in files and is_standard_stream(files.get("program", STANDARD_STREAM)):
            raise InputError("a snippet needs the file name of the plan; also give -o FILE")
        if self.no_stream is not None and is_standard_stream(files.get("program")):
            raise InputError(self.no_stream)

    def write(self, done: "Export", path: Path) -> None:
        """Write an export; see `Export.write`."""
        write_text(path, [done.text])

    def snippet(self, done: "Export", file: str) -> str:  # noqa: ARG002 (for plans of MSCCL++)
        """Return Python code that uses an export; see `Export.snippet`."""
        raise InputError(f"only plans of MSCCL++ are registered by Python code, not {self.name}")


@dataclass(frozen=True)
class RuntimeTarget(Target):
    """A format that a runtime loads. A simulation of the runtime chooses the options that are not given."""

    instances: int | None = chosen(COUNT, "copies of the program, each for a part of the data")

    @abstractmethod
    def round_bytes(self, options: Options) -> int:
        """Return the most bytes of a chunk that one round of the runtime moves."""

    def slices(self, options: Options) -> int:  # noqa: ARG002 (for runtimes that have messages)
        """Return the most slices of a message; 0 if the runtime has no messages."""
        return 0


class Expected(NamedTuple):
    """The simulated speed of a program for one size of the data, next to that of its schedule.

    Attributes:
        size: the size of M in bytes.
        algbw: the algbw of the program, in the unit of the network.
        schedule_algbw: the algbw of the schedule by its closed form, with the same costs.
    """

    size: int
    algbw: float
    schedule_algbw: float


@dataclass(frozen=True, repr=False, slots=True)
class Export(Displayed):
    """A program in the format of a runtime.

    Attributes:
        target: the format, with the options that were given.
        lowering: the program and its bandwidth.
        text: the content of the file; empty for Chakra.
        rank_files: for Chakra and ASTRA-sim, the content of the trace of each rank; else empty.
        files: for ASTRA-sim, the content of each file of the folder by its name; else empty.
        sizes: the sizes of M for which the runtime uses the program; None for simulators.
        expected: the expected algbw for some sizes of M; empty if the program was not simulated.
        slow: why the expected algbw for the last of these sizes is more than 5 % below that of the schedule for large
            data; else None.
        warnings: what the runtimes do not do as the program says.
        remarks: why a protocol was chosen, and how the runtime finds the file by itself.

    Example:
        >>> from forestcoll import export, generate
        >>> exported = export(generate("ring:nodes=3"), "msccl-xml")
        >>> exported.target.name, exported.dialect, exported.text.count("<gpu ")
        ('msccl-xml', 'microsoft', 3)
    """

    target: Target
    lowering: Lowering
    text: str = ""
    rank_files: tuple[bytes, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    sizes: Sizes | None = None
    expected: tuple[Expected, ...] = ()
    slow: str | None = None
    warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def dialect(self) -> str | None:
        """For a format with dialects, the runtime that loads the file; else None."""
        dialect: str | None = getattr(self.target, "dialect", None)
        return dialect

    @property
    def chunks(self) -> int:
        """The number of chunks of the file."""
        return chunks_of_file(self.lowering.program)

    def snippet(self, file: str) -> str:
        """Return Python code that registers the execution plan with MSCCL++.

        Args:
            file: the name of the file of the plan, in the folder of the Python code.

        Raises:
            InputError: the format is not that of MSCCL++.
        """
        return self.target.snippet(self, file)

    def write(self, path: PathLike) -> None:
        """Write the file to `path`, the folder for ASTRA-sim to `path`, or traces to `PATH.0.et` and so on.

        A folder or the traces are written completely or not at all.

        Raises:
            InputError: a file cannot be written; the folder has other files; or there is a trace of a further rank.
        """
        self.target.write(self, as_path(path))


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for cyclic garbage.

    An export makes millions of values without cycles, and each search would visit all of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def certify_program(program: Program) -> None:
    """Raise `InternalError` if a program is wrong; it is run on symbolic data."""
    certify(check(program).fault)


def certify(fault: ProgramFault | None) -> None:
    """Raise `InternalError` if there is a fault."""
    if fault is not None:
        raise InternalError(f"the exported program is wrong: {fault} [{fault.rule}]")
