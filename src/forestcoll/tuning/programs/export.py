"""Export of a schedule as a program for a runtime: the best one that the simulator finds, written and checked."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import SupportsIndex

from forestcoll.algorithms.simulate import ScheduleLike, is_schedule, verified_schedule
from forestcoll.base.errors import InputError, argument
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import data_size, size_name
from forestcoll.programs.model import Protocol
from forestcoll.programs.targets.target import (
    Expected,
    Export,
    RuntimeTarget,
    Target,
    collector_paused,
    targets,
)
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.program.measured_blocks import measured_blocks
from forestcoll.simulation.simulate import simulate
from forestcoll.tuning.programs.candidates import SLOW
from forestcoll.tuning.programs.divisible import LEAST_BYTES
from forestcoll.tuning.programs.estimate import announce_export, check_given
from forestcoll.tuning.programs.for_size import best_for_size
from forestcoll.tuning.programs.rounds import MEASURED_INSTRUCTIONS
from forestcoll.tuning.programs.search import Chosen, best_program

POOR = 0.7
"""A program that reaches less than this part of the algbw of its schedule at a size is not for this size."""


def export(
    schedule: ScheduleLike,
    target: Target | str,
    *,
    size: SupportsIndex | str | None = None,
    progress: Progress = SILENT,
    is_generated: bool = False,
) -> Export:
    """Convert a schedule into a program in the format of a runtime.

    For a runtime, simulation chooses the number of chunks, which calls divide, and blocks, channels,
    instances and pieces within the limits of the runtime. The text is read back, checked by the rules of the format
    and run on symbolic data, so a wrong program is never returned. Traces of Chakra do not say which data they move;
    it is only checked that they fit together.

    Args:
        schedule: a schedule of trees, steps or flows, or the file of one, which is verified first; or a network, as
            for `optimum`, whose allgather is generated for the format. Of flows, only a plain all-to-all has a program.
        target: the format: `"msccl-xml"`, `"mscclpp-json"`, `"chakra"`, `"astra-sim"` or `"goal"`; with its options,
            such as `"msccl-xml:dialect=rccl,blocks=64"` or `"goal:bytes=64MiB"`. Options of the lowering that are
            given are not chosen.
        size: for runtimes, the size of M in bytes, or as a text such as `"1MiB"`, that the program is chosen for,
            together with its protocol; 1 GB with the protocol Simple if None.
        progress: receives the stages and, for large programs, an estimate of the time, the memory and the files.
        is_generated: whether the schedule was only generated for this export, so that one that is made for the runtime
            may take its place, as for a network. A schedule that is given is exported as it is.

    Returns:
        The program; `Export.write` writes it to files.

    Raises:
        InputError: the size is not valid, or the format is not for a runtime; the schedule breaks a rule; schedules of
            this kind have no programs; there is no such format or option; the format cannot express the collective, its
            shards or the placement; or the program would have more instructions than can be checked.
        NoSolutionError: no program of the schedule fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> exported = export(generate("ring:nodes=4"), "msccl-xml")
        >>> exported.text[:26], exported.sizes.match(2**20)
        ('<algo name="ring:nodes=4" ', True)
    """
    if not isinstance(target, Target | str):
        raise InputError(f"target is {argument(target)}; expected a text such as msccl-xml, or a target")
    chosen: Target = targets.read(target) if isinstance(target, str) else target
    is_generated = is_generated or not is_schedule(schedule)
    schedule = verified_schedule(schedule, progress)
    options = replace(chosen.usual_options(schedule), **chosen.given)
    chosen.check(schedule, options)
    wanted = None if size is None else data_size(size)
    if wanted is not None and not isinstance(chosen, RuntimeTarget):
        raise InputError(f"size is for runtimes; {chosen.name} has bytes, as in {chosen.name}:bytes={wanted}")
    if isinstance(chosen, RuntimeTarget):
        check_given(schedule, chosen, min(LEAST_BYTES, wanted or LEAST_BYTES))
    announce_export(schedule, chosen, options.scale, progress)
    if not isinstance(chosen, RuntimeTarget):
        return _stated(chosen.export(schedule, options, progress=progress), is_generated=is_generated)
    with collector_paused():
        choose = _choice(is_generated=is_generated)
        if wanted is None:
            best = choose(schedule, chosen, progress=progress)
        else:
            chosen, best = best_for_size(schedule, chosen, wanted, choose, progress)
        done = chosen.export(best.schedule, best.options, lowering=best.lowering, progress=progress)
        expected = _expected(schedule, best.points, best.model.costs)
        losses = _losses(expected, schedule.topology.bandwidth_unit, wanted)
        remarks = done.remarks if wanted is not None else (*done.remarks, *_measured(best))
        done = replace(done, expected=expected, warnings=(*done.warnings, *losses), remarks=remarks)
        done = _stated(done, is_generated=is_generated)
        return replace(done, slow=why_slow(best)) if wanted is None else _for_size(done, best, wanted)


def _stated(done: Export, *, is_generated: bool) -> Export:
    """Return an export that states that its schedule was generated, if it was."""
    if not is_generated:
        return done
    purpose = f", for {done.target.name}" * isinstance(done.target, RuntimeTarget)
    return replace(done, remarks=(f"the schedule was generated first{purpose}", *done.remarks))


def _for_size(done: Export, best: Chosen, size: int) -> Export:
    """Return an export with what is to say about a program that was chosen for a size."""
    name, warnings = size_name(size), done.warnings
    if done.sizes is not None and not done.sizes.match(size):
        granule = size_name(done.sizes.granule)
        warnings = (*warnings, f"calls of {name} do not match: their size must be a multiple of {granule}")
    protocol = f"the protocol is {best.options.protocol.value}, the best that was tried for {name}"
    return replace(done, warnings=warnings, remarks=(protocol, *done.remarks))


def _losses(expected: Sequence[Expected], unit: str, wanted: int | None) -> Iterator[str]:
    """Yield a line for each size at which the program loses much of its schedule; `why_slow` is for the last one."""
    for each in expected if wanted is not None else expected[:-1]:
        if each.algbw < POOR * each.schedule_algbw:
            name, lost = size_name(each.size), 100 * (1 - each.algbw / each.schedule_algbw)
            mend = "no program that was tried for this size is faster"
            if wanted is None:
                mend = f"for calls of this size, export a program with --size {name}"
            figures = f"{each.algbw:.4g} instead of {each.schedule_algbw:.4g} {unit}"
            yield f"at {name}, {lost:.0f} % below the schedule for this size ({figures}); {mend}"


def _choice(*, is_generated: bool) -> Callable[..., Chosen]:
    """Return what chooses the program: for a schedule that was generated for it, also among other schedules."""
    if not is_generated:
        return best_program
    from forestcoll.tuning.programs.for_runtime import best_for_runtime

    return best_for_runtime


def _expected(schedule: Schedule, points: Sequence[Point], costs: Costs) -> tuple[Expected, ...]:
    """Return the speed of a program at some sizes, next to that of its schedule."""
    alone = simulate(schedule, [point.size for point in points], costs) if points else ()
    return tuple(Expected(mine.size, mine.algbw, own.algbw) for mine, own in zip(points, alone, strict=True))


def _measured(best: Chosen) -> tuple[str, ...]:
    """Return what the measured thread blocks of the machine make of the program, if they are known and slow it down."""
    program, topology = best.model.program, best.model.schedule.topology
    blocks = measured_blocks(topology, program.protocol) if best.model.slices and best.points else None
    if blocks is None:
        return ()
    last, unit = best.points[-1], topology.bandwidth_unit
    found = replace(best.model, costs=blocks.costs, slices=blocks.slices).point(last.size, MEASURED_INSTRUCTIONS)
    if found.algbw >= SLOW * last.algbw:
        return ()
    rate = f"a thread block of {blocks.machine} moves {blocks.costs.block_gbps:g} GB/s with {program.protocol.value}"
    reached = f"{found.algbw:.4g} {unit} are expected at {size_name(last.size)}"
    return (f"{rate}, as measured; with that and RCCL's efficiency of links, {reached}",)


def why_slow(chosen: Chosen) -> str | None:
    """Return why the program is slow at the greatest size, or None if it is not."""
    bound = chosen.lowering.schedule_algbw
    if not chosen.points or chosen.points[-1].algbw >= SLOW * bound:
        return None
    refused = "" if chosen.refused is None else f"; of another program that was tried: {chosen.refused}"
    return _reason(chosen, SLOW * bound) + refused


def _reason(chosen: Chosen, enough: float) -> str:
    """Return why the program does not reach `enough`: what is rounded or left out, and what slows the rest down."""
    known = float(chosen.lowering.algbw)
    if known >= enough:
        return _first_reason(chosen, enough)
    unit = chosen.model.schedule.topology.bandwidth_unit
    chunks = chosen.model.chunks
    rounded = f"shares are rounded to {chunks} chunks, or fewer trees are used, so that {known:.4g} {unit} is the most"
    if chosen.points[-1].algbw >= SLOW * known:
        return rounded
    return f"{rounded}, and {_first_reason(chosen, SLOW * known)}"


def _first_reason(chosen: Chosen, enough: float) -> str:
    """Return the first reason without which the program would reach `enough`, with what it would reach."""
    unit = chosen.model.schedule.topology.bandwidth_unit
    costs = chosen.model.costs
    limit = f"a block moves at most {costs.block_gbps or 0:g} GB/s"
    times = f"each message takes {costs.overhead_us:g} us before it moves and {costs.alpha_us:g} us to arrive"
    instant = replace(costs, alpha_us=0, overhead_us=0)
    without_both = _algbw(chosen, replace(instant, block_gbps=None))
    if without_both < enough and chosen.options.protocol is not Protocol.SIMPLE:
        return f"the protocol {chosen.options.protocol.value} is for small messages"
    if without_both < enough:
        return (
            "blocks wait for each other: the order of a block's steps leaves links idle; "
            f"if messages took no time but that of their bytes, it would reach {without_both:.4g} {unit}"
        )
    if costs.block_gbps is not None and (without_limit := _algbw(chosen, replace(costs, block_gbps=None))) >= enough:
        return (
            f"{limit}, and more blocks do not fit or do not help; "
            f"without this limit, it would reach {without_limit:.4g} {unit}"
        )
    if (without_times := _algbw(chosen, instant)) >= enough:
        return (
            f"{times}, and larger or smaller messages do not help; "
            f"without these times, it would reach {without_times:.4g} {unit}"
        )
    return f"{limit}, and {times}; without both, it would reach {without_both:.4g} {unit}"


def _algbw(chosen: Chosen, costs: Costs) -> float:
    """Return what the program would reach at the greatest size with other parameters of the model."""
    return replace(chosen.model, costs=costs).point(chosen.points[-1].size).algbw
