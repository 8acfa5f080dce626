"""Points and links as comma-separated values, and a simulated program as a trace for Chrome."""

import json
from collections.abc import Iterator, Sequence

from forestcoll.base.display import printable
from forestcoll.programs.model import Instruction, Message, Multicast, Place, Program, instruction_name
from forestcoll.simulation.costs import Point
from forestcoll.simulation.loads import Loads
from forestcoll.simulation.program.events import Timeline


def points_csv(points: Sequence[Point], unit: str) -> Iterator[str]:
    """Yield the lines of a table of points: bytes, microseconds, and bandwidths in `unit`."""
    yield f"size,time_us,{_cell(f'algbw ({unit})')},{_cell(f'busbw ({unit})')},pieces,chunk_bytes\n"
    for point in points:
        values = (point.seconds * 1e6, point.algbw, point.busbw)
        yield f"{point.size},{','.join(f'{value:.6g}' for value in values)},{point.pieces},{point.chunk_bytes:.6g}\n"


def links_csv(loads: Loads, point: Point) -> Iterator[str]:
    """Yield the lines of a table of links: the part of the data that crosses each, and its utilisation."""
    unit = loads.topology.bandwidth_unit
    yield f"source,target,{_cell(f'bandwidth ({unit})')},part_of_data,utilisation\n"
    used = loads.utilisation(point.size, point.seconds).tolist()
    for link, part, busy in zip(loads.topology.links, loads.parts.tolist(), used, strict=True):
        ends = ",".join(map(_cell, loads.topology.ids([link.source, link.target])))
        yield f"{ends},{float(link.bandwidth):.6g},{part:.6g},{busy:.6g}\n"


def _cell(name: object) -> str:
    """Return a text from outside as a cell. What a spreadsheet would take for a formula is quoted as text."""
    text = printable(name)
    is_formula = text.startswith(("=", "+", "-", "@"))
    text = "'" * is_formula + text.replace('"', '""')
    return f'"{text}"' if is_formula or "," in text or '"' in text else text


def chrome_trace(program: Program, timeline: Timeline) -> Iterator[str]:
    """Yield the pieces of a trace for chrome://tracing and Perfetto: a process per rank, a thread per block."""
    yield '{"displayTimeUnit": "ns", "traceEvents": [\n'
    for rank in range(len(program.ranks)):
        yield json.dumps({"ph": "M", "name": "process_name", "pid": rank, "args": {"name": f"rank {rank}"}}) + ",\n"
    before = ""
    for action in timeline.actions:
        instruction = program.ranks[action.rank].blocks[action.block].instructions[action.instruction]
        event = {
            "ph": "X",
            "name": name_of(program, action.rank, instruction),
            "pid": action.rank,
            "tid": action.block,
            "ts": round(action.begin * 1e6, 6),
            "dur": round((action.end - action.begin) * 1e6, 6),
            "args": {"step": instruction_name(program, action.rank, action.block, action.instruction)},
        }
        yield before + json.dumps(event)
        before = ",\n"
    yield "\n]}\n"


def name_of(program: Program, rank: int, instruction: Instruction) -> str:
    """Return what an instruction does in words: "receive from rank 2, send to rank 5 (4 chunks)"."""
    sources = [_other(program, rank, place, receives=True) for place in instruction.sources]
    targets = [_other(program, rank, place, receives=False) for place in instruction.targets]
    received = ", ".join(sorted({each for each in sources if each}))
    sent = ", ".join(sorted({each for each in targets if each}))
    verb = "reduce" if len(instruction.sources) > 1 else "copy"
    parts = [f"receive from {received}"] * bool(received) + [verb] * (len(instruction.sources) > 1 or not sent)
    parts += [f"send to {sent}"] * bool(sent)
    return f"{', '.join(parts)} ({instruction.count} chunks)"


def _other(program: Program, rank: int, place: Place, *, receives: bool) -> str:
    if isinstance(place, Multicast):
        return "the switch"
    if isinstance(place, Message):
        channel = program.channels[place.channel]
        return f"rank {channel.source if receives else channel.target}"
    return "" if place.rank == rank else f"rank {place.rank}"
