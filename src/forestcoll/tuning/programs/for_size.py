"""The best program of a schedule for one size of the data: its protocol is chosen too.

With LL, 4 of 8 bytes are data, and with LL128 120 of 128 (`prims_ll.h` and `prims_ll128.h` of NCCL). So a program is
simulated with as many bytes as it moves. LL also saves the part of the latency of a send that the table of the machine
states (`topology/gpus.py`). RCCL has LL128 on few machines, so it is not tried there.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import Progress
from forestcoll.programs.formats.msccl_xml.dialects import DialectName
from forestcoll.programs.lowering import Style
from forestcoll.programs.model import Protocol
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Costs, Point
from forestcoll.topology import Topology
from forestcoll.topology.gpus import gpu_of
from forestcoll.tuning.programs.candidates import Objective
from forestcoll.tuning.programs.divisible import LEAST_BYTES
from forestcoll.tuning.programs.search import GAIN, Chosen

MOVED = {Protocol.SIMPLE: Fraction(1), Protocol.LL: Fraction(2), Protocol.LL128: Fraction(128, 120)}
"""The bytes that move for each byte of data."""


def best_for_size(
    schedule: Schedule, target: RuntimeTarget, size: int, choose: Callable[..., Chosen], progress: Progress
) -> tuple[RuntimeTarget, Chosen]:
    """Return the target with the best protocol for M of `size` bytes, and the program that `choose` finds for it.

    The points of the program are those of the data, without the bytes that a protocol adds.

    Raises:
        InputError: as for `best_program`.
        NoSolutionError: no program fits the runtime.
    """
    best: tuple[RuntimeTarget, Chosen] | None = None
    refused: InputError | NoSolutionError | None = None
    for each in _with_protocols(schedule, target):
        protocol = Protocol(each.protocol or Protocol.SIMPLE)
        moved = MOVED[protocol]
        costs = _costs(schedule.topology, protocol)
        objective = Objective((ceil(size * moved),), min(LEAST_BYTES, size), costs=costs)
        try:
            found = choose(schedule, each, objective=objective, progress=progress)
        except (InputError, NoSolutionError) as error:
            refused = refused or error
            continue
        found = replace(found, points=tuple(_of_data(point, size, moved) for point in found.points))
        if best is None or found.algbw > GAIN * best[1].algbw:
            best = each, found
    if best is None:
        raise refused or NoSolutionError(f"{schedule.topology.name}: no program fits {target.name}")
    return best


def _of_data(point: Point, size: int, moved: Fraction) -> Point:
    return replace(point, size=size, algbw=point.algbw / float(moved), busbw=point.busbw / float(moved))


def _with_protocols(schedule: Schedule, target: RuntimeTarget) -> Iterator[RuntimeTarget]:
    """Yield the target with each protocol to try: the given one, or the usual one first and those for less data."""
    if target.protocol is not None:
        yield target
        return
    usual = target.usual_options(schedule).protocol
    tried = [usual, *(each for each in MOVED if each not in {usual, Protocol.SIMPLE})]
    if target.style is Style.ONE_SIDED or getattr(target, "dialect", None) == DialectName.RCCL:
        tried = [each for each in tried if each is not Protocol.LL128]
    yield from (replace(target, protocol=each.value) for each in tried)


def _costs(topology: Topology, protocol: Protocol) -> Costs:
    """Return the usual costs; those of LL have less latency where the machine is known."""
    machine, usual = gpu_of(topology), Costs()
    if machine is None:
        return usual
    saved = machine.link_us - machine.ll_us if protocol is Protocol.LL else 0.0
    return replace(usual, alpha_us=max(0.0, usual.alpha_us - saved), block_gbps=machine.block_gbps)
