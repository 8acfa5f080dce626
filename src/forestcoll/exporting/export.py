"""Export of a schedule as a program for a runtime: the best one that the simulator finds, written and checked."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forestcoll.errors import InputError
from forestcoll.exporting.estimate import announce
from forestcoll.exporting.search import Chosen, best_program, schedule_algbw
from forestcoll.lowering import Options, Placement, lowerer_for
from forestcoll.program import Protocol
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.schedule import Schedule
from forestcoll.targets.exporting import (
    DEFAULT_BYTES,
    DEFAULT_DIALECT,
    Export,
    Target,
    collector_paused,
    export_with,
    target_named,
    usual_options,
)

SLOW = 0.95
"""A program that reaches less than this part of the algbw of its schedule is reported as slow."""


def export(
    schedule: Schedule,
    target: Target | str,
    *,
    dialect: str = DEFAULT_DIALECT,
    size: int = DEFAULT_BYTES,
    options: Options | None = None,
) -> Export:
    """Convert a schedule into a program in the format of a runtime.

    Without `options`, the simulator of programs chooses the number of chunks, which calls divide, and blocks, channels,
    instances and pieces within the limits of the runtime. The text is read back, checked by the rules of the format
    and, except for Chakra, whose traces do not say which data they move, run on symbolic data. So a wrong program is
    never returned.

    Args:
        schedule: a schedule of trees, steps or flows that `verify` accepts. Of flows, only a plain all-to-all has a
            program.
        target: the format: `"msccl-xml"`, `"mscclpp-json"` or `"chakra"`.
        dialect: for MSCCL XML, the runtime that loads the file: `"microsoft"`, `"azure"` or `"rccl"`.
        size: for Chakra, the total data M in bytes.
        options: the options of the lowering, which are used as they are; None for the best ones. The format determines
            the style.

    Returns:
        The program; `Export.write` writes it to files.

    Raises:
        InputError: schedules of this kind have no programs; there is no such format or dialect; the format cannot
            express the collective, its shards or the placement; or a library is missing.
        NoSolutionError: no program of the schedule fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> exported = export(generate("ring:nodes=4"), "msccl-xml")
        >>> exported.text[:26], exported.sizes.match(2**20)
        ('<algo name="ring:nodes=4" ', True)
    """
    target = target_named(target)
    if options is not None:
        return export_with(options, schedule, target, dialect=dialect, size=size)
    return export_best(schedule, target, dialect=dialect, size=size)


def export_best(  # noqa: PLR0913 (one parameter per option)
    schedule: Schedule,
    target: Target | str,
    *,
    dialect: str = DEFAULT_DIALECT,
    size: int = DEFAULT_BYTES,
    given: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
) -> Export:
    """Convert a schedule into the best program for a runtime, as `export`; options in `given` are not searched.

    Args:
        schedule: the schedule.
        target: the format.
        dialect: for MSCCL XML, the runtime.
        size: for Chakra, M in bytes.
        given: options of the lowering by their names; see `best_program`.
        progress: receives the stages and, for large programs, an estimate of the time, the memory and the files.

    Raises:
        InputError: as `export`; also if the program would have more instructions than can be checked.
        NoSolutionError: as `export`.
    """
    target, given = target_named(target), dict(given or {})
    if target is Target.MSCCL_XML:
        _check_placement(dialect, given)
    if target is Target.CHAKRA or not lowerer_for(schedule).is_searched:
        options = replace(usual_options(schedule, target, dialect), **given)
        announce(schedule, target, options.scale, progress)
        return export_with(options, schedule, target, dialect=dialect, size=size, progress=progress)
    announce(schedule, target, given.get("pieces", 1) * given.get("instances", 1), progress)
    progress.begin("choosing the program")
    with collector_paused():
        chosen = best_program(schedule, target, dialect, given=given)
        known = chosen.lowering
        done = export_with(chosen.options, schedule, target, dialect=dialect, lowering=known, progress=progress)
    expected = tuple((point.size, point.algbw) for point in chosen.points)
    return replace(done, expected=expected, slow=_why_slow(chosen))


def _check_placement(dialect: str, given: Mapping[str, Any]) -> None:
    from forestcoll.targets.msccl_xml import dialect_named

    if dialect_named(dialect).one_place and given.get("placement") == Placement.BOTH:
        raise InputError(f"the {dialect} dialect is for in place or for out of place; export two files")


def _why_slow(chosen: Chosen) -> str | None:
    """Return why the program is slow at the greatest size, or None if it is not."""
    bound = schedule_algbw(chosen.lowering)
    if not chosen.points or chosen.points[-1].algbw >= SLOW * bound:
        return None
    if chosen.lowering.loss > 1 - SLOW:
        return "shares are rounded to whole chunks, or trees are left out; more chunks lose less"
    costs = chosen.model.costs
    unlimited = replace(chosen.model, costs=replace(costs, block_gbps=None))
    if costs.block_gbps is not None and unlimited.point(chosen.points[-1].size).algbw >= SLOW * bound:
        return f"a block moves at most {costs.block_gbps:g} GB/s, and more blocks do not fit or do not help"
    if chosen.options.protocol is not Protocol.SIMPLE:
        return f"the protocol {chosen.options.protocol.value} is for small messages"
    return "blocks wait for each other: the order of a block's steps leaves links idle"
