"""Graph files of NCCL as a page and as JSON: the channels of each kind of host, and how good they are."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.nccl.graph.channels import Channels
from forestcoll.nccl.graph.hosts import HostGraph
from forestcoll.presentation.tables import Page, Table, labelled
from forestcoll.presentation.text import written

_USE = (
    "NCCL reads the file of its host from NCCL_GRAPH_FILE. All GPUs of the host must take part in the job.",
    "NCCL has nothing to compare a file with: give it only to hosts that are as it says.",
)


def host_graphs_document(found: Sequence[HostGraph], files: Sequence[Path], output: Path | None) -> dict[str, object]:
    """Return the JSON of graph files.

    Args:
        found: the graph of each kind of host.
        files: the files that were written, one for each of `found`; none if none was.
        output: where they were written; None if nowhere.
    """
    names: list[str | None] = [str(file) for file in files] or [None] * len(found)
    return {
        "format": "nccl-graph",
        "hosts": [
            {
                "hosts": list(each.hosts),
                "rings": _channels_document(each.rings),
                "chains": _channels_document(each.chains),
                "sms": each.sms,
                "unit": each.unit,
                "notes": list(each.file.notes),
                "file": name,
            }
            for each, name in zip(found, names, strict=True)
        ],
        "output": None if output is None else str(output),
    }


def _channels_document(channels: Channels | None) -> dict[str, object] | None:
    if channels is None:
        return None
    return {
        "channels": len(channels.orders),
        "speed": str(channels.speed),
        "total": str(channels.total),
        "optimum": None if channels.optimum is None else str(channels.optimum),
        "proven": channels.is_proven,
    }


def host_graphs_page(found: Sequence[HostGraph], title: str, files: Sequence[Path], output: Path | None) -> Page:
    """Return the page of graph files; the arguments are those of `host_graphs_document`."""
    blocks: list[Table | str] = []
    for place, each in enumerate(found):
        place_of = str(files[place]) if files and len(found) > 1 else written(output).text
        blocks.append(labelled([*_rows(each), ("written", str(place_of))]))
    return Page(f"{title}: nccl-graph", (*blocks, *_USE))


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
