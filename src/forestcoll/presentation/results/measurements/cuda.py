"""What was measured of collectives on CUDA tensors: a row for each way of each size."""

from collections.abc import Iterator

from forestcoll.runtime.cuda_table import MeasuredSize, MeasuredWay

_HEAD = ("size", "collective", "path", "chunks", "time", "algbw", "busbw", "share", "#wrong", "")
_WIDTHS = (12, 15, 10, 7, 11, 9, 9, 7, 7, 5)


def cuda_title_lines(unit: str) -> list[str]:
    """Return the lines above the rows; bandwidths are in `unit`."""
    units = ("(B)", "", "", "", "(us)", f"({unit})", f"({unit})", "", "", "")
    return [f"#{_line(_HEAD)[1:]}", f"#{_line(units)[1:]}"]


def cuda_row_lines(row: MeasuredSize) -> Iterator[str]:
    """Yield a line for each way of a collective and size; the best one is marked."""
    for way in row.ways:
        yield _line((str(row.size), row.collective.value, *_cells(way), "best" if way is row.best else ""))


def _cells(way: MeasuredWay) -> Iterator[str]:
    yield way.path
    yield str(way.chunks) if way.chunks else "-"
    yield f"{way.time_us:.1f}"
    yield f"{way.algbw:.4g}"
    yield f"{way.busbw:.4g}"
    yield f"{way.share:.1%}"
    yield str(way.wrong)


def _line(cells: tuple[str, ...]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
