"""What NCCL did in a job, from its log: as tables and sentences, and as JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.nccl.comparison import LogComparison
from forestcoll.nccl.job.communicators import ROOT, Choice, Communicator, Gpu, Tree
from forestcoll.nccl.job.explained import JobReport, Reached
from forestcoll.presentation.tables import Column, Page, Row, Table, labelled, row
from forestcoll.presentation.text import bandwidth

UNKNOWN = "unknown"
"""What the log does not say, in JSON and in tables."""

_MOST_RANKS = 32
"""The most ranks that a line shows."""

_MOST_ROWS = 40


def _values_of(report: JobReport) -> dict[str, object]:
    """Return the values of the log of a job in JSON."""
    return {
        "log": report.log.name,
        "nccl": _communicator(report.largest),
        "communicators": [_communicator(each) for each in report.log.communicators],
        "jobs": report.log.jobs,
        "topology": None if report.topology is None else report.topology.name,
        "schedules": [_reached_document(each) for each in report.reached],
        "remarks": [*report.log.remarks, *report.reasons],
    }


def _communicator(found: Communicator) -> dict[str, object]:
    """Return the JSON of a communicator; `unknown` stands for what the log does not say."""
    return {
        "id": found.name or None,
        "version": found.version or UNKNOWN,
        "ranks": found.size,
        "hosts": UNKNOWN if found.hosts is None else [list(host) for host in found.hosts],
        "channels": _known(found.channels),
        "rings": [UNKNOWN if ring is None else list(ring) for ring in found.rings],
        "trees": [[_known(parent) for parent in tree] for tree in found.trees],
        "nics": [asdict(nic) for nic in found.nics],
        "gpus": [_without_none(gpu) for gpu in found.gpus],
        "choices": [
            {
                "collective": each.collective.value,
                "bytes": each.size,
                "algorithm": each.algorithm,
                "protocol": each.protocol,
                "channels": each.channels,
            }
            for each in found.choices
        ],
        "remarks": list(found.remarks),
    }


def _without_none(gpu: Gpu) -> dict[str, object]:
    return {key: UNKNOWN if value in {None, ""} else value for key, value in asdict(gpu).items()}


def _known(value: int | None) -> int | str:
    return UNKNOWN if value is None else value


def _reached_document(reached: Reached) -> dict[str, object]:
    schedule = reached.schedule
    return {
        "collective": schedule.collective.value,
        "algorithm": reached.algorithm,
        "algbw": str(schedule.algbw),
        "unit": schedule.topology.bandwidth_unit,
        "verified": True,
        "in_box_order_algbw": None if reached.in_box_order is None else str(reached.in_box_order),
        "limiting_links": [
            {"links": len(each.links), "bandwidth": str(each.bandwidth), "between": list(each.sorts)}
            for each in reached.limiting
        ],
        "uneven_links": [{"ends": schedule.topology.ids(ends), "times": str(times)} for ends, times in reached.uneven],
        "other_nics": reached.changed,
    }


def library_algbws(found: LogComparison, report: JobReport) -> list[Fraction | None]:
    """Return for each test what the algorithm that NCCL chose for its best size could reach, in GB/s."""
    return [
        None if test.demand is None or (row := test.best[0]) is None else report.reached_algbw(test.demand, row.size)
        for test in found.tests
    ]


def joined_page(page: Page, found: LogComparison, report: JobReport) -> Page:
    """Return the page of a comparison, after it what NCCL did and what its own schedule could reach."""
    algbws = library_algbws(found, report)
    rows = []
    for test, library in zip(found.tests, algbws, strict=True):
        best_row, best = test.best
        if test.bound_algbw is not None and test.collective is not None and best_row is not None:
            reached = UNKNOWN if library is None else bandwidth(library, "GB/s")
            figures = f"{float(best):.4g} GB/s", reached, bandwidth(test.bound_algbw, "GB/s")
            rows.append((test.collective.value, size_name(best_row.size), *figures))
    columns = _columns("collective", "size>", "measured>", "NCCL's schedule>", "any schedule>")
    table = [Table(columns, tuple(rows), title="algbw: measured, and what could be reached")] if rows else []
    known = page.document()
    tests = [
        each if algbw is None else {**each, "library_algbw": algbw}
        for each, algbw in zip(known["tests"], algbws, strict=True)
    ]
    did = job_page(report)
    return Page(page.title, (*page.blocks, *table, did.title, *did.blocks, row(**{**known, "tests": tests})))


def job_page(report: JobReport) -> Page:
    """Return the page of the log of a job."""
    found = report.largest
    hosts = "an unknown number of hosts" if found.hosts is None else plural(len(found.hosts), "host")
    title = f"{report.log.name}: NCCL {found.version or 'of unknown version'}, {plural(found.size, 'rank')} on {hosts}"
    return Page(title, tuple(_blocks(report)))


def _blocks(report: JobReport) -> Iterator[Row | Table | str]:
    found = report.largest
    yield row(**_values_of(report))
    yield labelled(_figures(found))
    yield from _orders(found)
    if found.choices:
        yield from _choices(found.choices)
    if report.reached and report.topology is not None:
        yield from _on_network(report)
    others = report.log.communicators[1:]
    if others:
        rows = tuple((each.name or "without a name", each.size, _known(each.channels)) for each in others[:_MOST_ROWS])
        yield Table(_columns("other communicators", "ranks>", "channels>"), rows)
    yield from (f"Note: {each}." for each in (*found.remarks, *report.log.remarks, *report.reasons))


def _choices(choices: Sequence[Choice]) -> Iterator[Table | str]:
    columns = _columns("collective", "size>", "algorithm", "protocol", "channels>")
    rows = tuple(
        (each.collective.value, size_name(each.size), each.algorithm, each.protocol, str(each.channels))
        for each in choices
    )
    yield Table(columns, rows[:_MOST_ROWS], title="NCCL's choices")
    if len(rows) > _MOST_ROWS:
        yield f"{len(rows) - _MOST_ROWS} more choices; --json lists them."


def _columns(*titles: str) -> tuple[Column, ...]:
    """Return columns with these titles; those with `>` at the end are aligned to the right."""
    return tuple(Column(title.removesuffix(">"), right=title.endswith(">")) for title in titles)


def _figures(found: Communicator) -> Iterator[tuple[str, str]]:
    names: dict[str, list[int]] = {}
    for gpu in found.gpus:
        names.setdefault(gpu.host, []).append(gpu.rank)
    for number, (name, ranks) in enumerate(list(names.items())[:_MOST_ROWS]):
        yield "" if number else "hosts", f"{name}: {'rank' if len(ranks) == 1 else 'ranks'} {_listed(ranks)}"
    yield "channels", str(_known(found.channels))
    for number, nic in enumerate(found.nics[:_MOST_ROWS]):
        rings = f"{plural(nic.sends, 'ring')} out, {nic.receives} in" + f", {nic.unknown} {UNKNOWN}" * bool(nic.unknown)
        yield "" if number else "NICs", f"{nic.host}: {nic.network}/{nic.device} {nic.name}, {rings}"


def _orders(found: Communicator) -> Iterator[Table]:
    """Yield the rings and the trees; channels with the same are one row."""
    for title, texts in (
        ("ring", [UNKNOWN if ring is None else _listed(ring, " ") for ring in found.rings]),
        ("tree: parent > children", [_tree_text(tree) for tree in found.trees]),
    ):
        channels: dict[str, list[int]] = {}
        for channel, text in enumerate(texts):
            channels.setdefault(text, []).append(channel)
        if channels:
            rows = tuple((text, _ranges(numbers)) for text, numbers in channels.items())
            yield Table(_columns(title, "channels"), rows[:_MOST_ROWS])


def _tree_text(tree: Tree) -> str:
    children: dict[int, list[int]] = {}
    for rank, parent in enumerate(tree):
        if parent is not None:
            children.setdefault(parent, []).append(rank)
    texts = [f"{parent} > {' '.join(map(str, below))}" for parent, below in sorted(children.items()) if parent != ROOT]
    root = f"root {children[ROOT][0]}" if ROOT in children else f"root {UNKNOWN}"
    unknown = [f"parents of {_listed([rank for rank, each in enumerate(tree) if each is None])} {UNKNOWN}"]
    return "; ".join([root, *texts[:_MOST_RANKS], *["..."] * (len(texts) > _MOST_RANKS), *unknown * (None in tree)])


def _on_network(report: JobReport) -> Iterator[Table | str]:
    where = "the network in the log" if report.is_logged or report.topology is None else report.topology.name
    columns = _columns("collective", "algorithm", "algbw>", "busbw>", "limited by")
    rows = []
    for each in report.reached:
        schedule = each.schedule
        unit, factor = schedule.topology.bandwidth_unit, schedule.collective.busbw_factor(report.largest.size)
        limits = "; ".join(limit.name(unit) for limit in each.limiting)
        values = (bandwidth(schedule.algbw, unit), bandwidth(schedule.algbw * factor, unit))
        rows.append((schedule.collective.value, each.algorithm, *values, limits))
    yield Table(columns, tuple(rows), title=f"These rings and trees on {where}, verified")
    for each in report.reached:
        yield from (f"{each.schedule.collective.value} by {each.algorithm}s: {text}." for text in _sentences(each))


def _sentences(reached: Reached) -> Iterator[str]:
    topology = reached.schedule.topology
    if reached.in_box_order is not None:
        unit = topology.bandwidth_unit
        gain = "the same" if reached.in_box_order == reached.schedule.algbw else bandwidth(reached.in_box_order, unit)
        yield f"with ranks in the order of the boxes, algbw would be {gain}"
    if reached.uneven:
        named = ", ".join(" - ".join(map(str, topology.ids(ends))) for ends, _ in reached.uneven[:4])
        more = ", ..." if len(reached.uneven) > 4 else ""
        times = max(times for _, times in reached.uneven)
        yield f"{named}{more} carry up to {float(times):.3g} times the data of most links of their class"
    if reached.changed:
        yield f"at {plural(reached.changed, 'end')} of rings, the NIC in the log is not within reach; another is used"


def _listed(numbers: Sequence[int], separator: str = ", ") -> str:
    shown = separator.join(map(str, numbers[:_MOST_RANKS]))
    return shown + f"{separator}..." * (len(numbers) > _MOST_RANKS)


def _ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers as ranges: 0-3, 8."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
