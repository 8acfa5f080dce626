"""Graph files of NCCL as a page: the channels of each kind of host, and how good they are."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.nccl.graph.channels import Channels
from forestcoll.nccl.graph.hosts import HostGraph
from forestcoll.presentation.tables import Page, Row, Table, labelled, row
from forestcoll.presentation.text import written

_USE = (
    "NCCL reads the file of its host from NCCL_GRAPH_FILE. All GPUs of the host must take part in the job.",
    "NCCL has nothing to compare a file with: give it only to hosts that are as it says.",
)


def host_graphs_page(found: Sequence[HostGraph], title: str, files: Sequence[Path], output: Path | None) -> Page:
    """Return the page of graph files.

    Args:
        found: the graph of each kind of host.
        title: what they are of.
        files: the files that were written, one for each of `found`; none if none was.
        output: where they were written; None if nowhere.
    """
    blocks: list[Row | Table | str] = [row(format="nccl-graph")]
    for place, each in enumerate(found):
        file = str(files[place]) if files and len(found) > 1 else written(output).text
        blocks.append(labelled([*_rows(each), ("written", file)]))
    hosts = [_host(each, files[place] if files else None) for place, each in enumerate(found)]
    return Page(f"{title}: nccl-graph", (*blocks, row(hosts=hosts, output=output), *_USE))


def _host(found: HostGraph, file: Path | None) -> dict[str, object]:
    values = {"hosts": found.hosts, "rings": _values(found.rings), "chains": _values(found.chains), "sms": found.sms}
    return values | {"unit": found.unit, "notes": found.file.notes, "file": file}


def _values(channels: Channels | None) -> dict[str, object] | None:
    if channels is None:
        return None
    count, is_proven = len(channels.orders), channels.is_proven
    speeds = {"speed": channels.speed, "total": channels.total, "optimum": channels.optimum}
    return {"channels": count, **speeds, "proven": is_proven}


def _rows(found: HostGraph) -> Iterator[tuple[str, str]]:
    if found.hosts:
        names = ", ".join(found.hosts[:3])
        more = len(found.hosts) - 3
        yield plural(len(found.hosts), "host"), names + (f" and {more} more" if more > 0 else "")
    for kind, channels in (("rings", found.rings), ("chains", found.chains)):
        if channels is not None:
            yield kind, _channels_text(channels, found.unit)
    yield "SMs", f"{found.sms} of each GPU: NCCL makes two channels of each"
    yield from (("note", each) for each in found.file.notes)


def _channels_text(channels: Channels, unit: str) -> str:
    count = plural(len(channels.orders), "channel")
    text = f"{count} of {_number(channels.speed)}, together {_number(channels.total)} {unit}"
    if channels.optimum is None:
        return text
    if channels.total < channels.optimum:
        return f"{text}, {float(channels.total / channels.optimum):.1%} of the best with any shares"
    return f"{text}: the optimum{', with the fewest channels' if channels.is_proven else ''}"


def _number(value: Fraction) -> str:
    return f"{float(value):.6g}"
