"""Reads what NCCL's tools write as JSON, and reports of RAS.

| file | content |
| --- | --- |
| `-J` of nccl-tests | one object with `config`, `results`, and the whole environment in `env`, which is not read |
| `-Z json` of rccl-tests | a list of one object for each result, or one in each line |
| Inspector, a plugin of NCCL 2.28 and newer | an object for each call of one rank, with the time of its kernel |
| RAS (`ncclras`), as JSON or as text | the communicators of a running job, with the ranks that do not answer |

Source: the repositories NVIDIA/nccl-tests (`src/util.cu`), ROCm/rccl-tests (`src/common.cu`) and NVIDIA/nccl
(`plugins/profiler/inspector`, `src/ras/client_support.cc`).
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from pathlib import PurePath
from statistics import median
from typing import Any

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.demand.collective import Collective
from forestcoll.nccl.results import (
    COLLECTIVES,
    Log,
    LogRow,
    LogTest,
    Measured,
    MissingRank,
    RasCommunicator,
    measured,
    program_of,
)
from forestcoll.nccl.tables import Draft, TableReader

_PARTS = {Collective.ALLGATHER, Collective.REDUCE_SCATTER}
"""The collectives for which Inspector counts the part of one rank."""

_JSON = re.compile(r"\s*(?:\{|\[\s*\{)")
_INSPECTOR = re.compile(r'"(?:coll|p2p)_perf"\s*:')
_NEXT = re.compile(r"\S")
_OLD_KEYS = {"#wrong": "wrong", "gpus": "ranks"}
"""Names of old versions of rccl-tests, which wrote an object in each line."""

_RESULTS = ("time", "algBw", "busBw", "wrong")
_LINES = re.compile(r"\}[ \t\r]*\n\s*\{")
_LINE_END = re.compile(r"[^\n]*")
_RAS_TEXT = re.compile(r"^Job summary\s*$", re.MULTILINE)
_RAS_SECTION = re.compile(r"^#(\d+-\d+) \((\w+)\) (INCOMPLETE|MISMATCH|ERROR)")
_RAS_RANK = re.compile(r"^  Rank (\d+)(?: -- (?:GPU \S+ managed by process (\d+) on node (\S+)|\[))")
_RAS_LATE = re.compile(r"^  Rank (\d+) has (launched up to operation \d+|not launched any operations)")
_RAS_COUNTS = re.compile(r"^  Communicator ranks have different (\w+) operation counts")


def document_log(text: str, name: str) -> Log | None:
    """Return what a file holds that is JSON or a report of RAS; None if it is neither.

    Raises:
        InputError: it is one of them, but cannot be read; the message says where.
    """
    if _JSON.match(text) is not None:
        return _inspector(text, name) if _INSPECTOR.search(text) else _document(text, name)
    return _ras_text(text, name) if _RAS_TEXT.search(text) else None


def _document(text: str, name: str) -> Log:
    if _LINES.search(text) is not None:
        text = "[" + _LINES.sub("},\n{", text) + "]"
    is_list = text.lstrip().startswith("[")
    found = _json(re.sub(r":\s*N/A\b", ': "N/A"', text) if is_list else text, name)
    if isinstance(found, list):
        return _rccl(found, name)
    if isinstance(found, dict) and isinstance(found.get("communicators"), list):
        return _ras(found["communicators"], name)
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        return _nccl_tests(found, name)
    raise InputError(f"{name}: is JSON, but not of nccl-tests, rccl-tests, Inspector or RAS; it has no results")


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{name}: is JSON that is nested too deep; give the file as it was written") from None
    except json.JSONDecodeError as error:
        why = (
            "; perhaps the test hung, or was ended"
            if "Untermin" in error.msg or error.pos >= len(text.rstrip()) - 1
            else ""
        )
        raise InputError(
            f"{name}: line {error.lineno}, column {error.colno}: no valid JSON: {error.msg}{why}"
        ) from None


def _nccl_tests(found: Mapping[str, Any], name: str) -> Log:
    arguments, config = found.get("args"), found.get("config")
    devices = config.get("devices") if isinstance(config, dict) else None
    draft = Draft(1, None, [])
    if isinstance(arguments, list) and arguments:
        draft.program = program_of(PurePath(str(arguments[0])).name.removesuffix("_perf"))
    for each in devices if isinstance(devices, list) else []:
        if isinstance(each, dict) and isinstance(each.get("rank"), int) and isinstance(each.get("group", 0), int):
            draft.ranks.append((each["rank"], each.get("group", 0), str(each.get("hostname"))))
    draft.counted = len(draft.ranks) * _gpus_of_process(config) or None
    skipped = []
    for place, each in enumerate(found["results"]):
        if isinstance(each, dict) and each.get("size") == 0:  # as in tables: less than one element a rank
            continue
        try:
            draft.rows.append(_result(each, draft.counted))
        except ValueError as error:
            skipped.append((1, f"result {place}: {error}"))
    errors = found.get("errors")
    draft.remarks += [f"NCCL's last error: {each}" for each in errors if each] if isinstance(errors, list) else []
    if "end_time" not in found:
        draft.remarks.append("the file has no end_time: the test hung, or was ended")
    return Log(name, (draft.test(),), tuple(skipped))


def _gpus_of_process(config: Any) -> int:
    """Return how many ranks a process has: the list of devices has only the first of each process."""
    counts = [config.get(key) for key in ("nthreads", "ngpus")] if isinstance(config, dict) else []
    return prod(each for each in counts if isinstance(each, int) and 0 < each < 1000)


def _result(found: Any, ranks: int | None) -> LogRow:
    """Return one result of nccl-tests.

    Raises:
        ValueError: it cannot be read.
    """
    if not isinstance(found, dict) or not isinstance(found.get("size"), int) or found["size"] < 1:
        raise ValueError("has no size of 1 or more")
    root = str(found.get("root", -1)).strip()
    if not re.fullmatch(r"-?\d{1,9}", root):
        raise ValueError(f"root is {shown(root)}; expected an integer")
    results: list[Measured | None] = []
    for key in ("out_of_place", "in_place"):
        each = found.get(key)
        if not isinstance(each, dict):
            results.append(None)
            continue
        wrong = each.get("nwrong")
        cells = {"time": str(each.get("time", each.get("cpu_time"))), "algbw": str(each.get("alg_bw"))}
        cells |= {"busbw": str(each.get("bus_bw")), "wrong": "" if wrong is None else f"{wrong:g}"}
        results.append(measured(found["size"], cells, ranks=ranks))
    return LogRow(1, found["size"], int(root), str(found.get("redop", "none")), results[0], results[1])


def _rccl(found: Sequence[Any], name: str) -> Log:
    """Return the results of rccl-tests: each object is a row of the CSV file that it writes otherwise."""
    reader, header = TableReader(name), ""
    for each in found:
        if not isinstance(each, dict) or "size" not in each:
            raise InputError(f"{name}: is a list, but not of results of rccl-tests; each has size, time and busBw")
        cells = {_OLD_KEYS.get(str(key), str(key)): str(value) for key, value in each.items()}
        results = [key for key in _RESULTS if key in cells]  # in the order of the CSV file, behind all others
        names = [*(key for key in cells if key not in results), *results]
        if ",".join(names) != header:
            header = ",".join(names)
            reader.read(1, header)
        reader.read(1, ",".join(cells[key] for key in names))
    return Log(name, tuple(reader.tests()), tuple(reader.skipped))


def _inspector(text: str, name: str) -> Log:
    """Return the calls that Inspector timed: a test for each collective of each communicator.

    A rank's kernel also waits for ranks that come late, so the time of a size is the median of all calls and ranks.
    """
    calls: dict[tuple[str, int, str], dict[int, list[tuple[int, Fraction]]]] = defaultdict(lambda: defaultdict(list))
    skipped: list[tuple[int, str]] = []
    for number, entry in _entries(text):
        try:
            header, call = _call(entry)
            calls[header][call[0]].append((number, call[1]))
        except ValueError as error:
            skipped.append((number, str(error)))
    tests = []
    for (_, ranks, program), sizes in calls.items():
        rows = [_median_row(size, times, COLLECTIVES.get(program), ranks) for size, times in sorted(sizes.items())]
        first = min(number for times in sizes.values() for number, _ in times)
        count = sum(map(len, sizes.values()))
        remark = f"NCCL's Inspector timed {plural(count, 'call')}; a row is the median of the calls of one size"
        tests.append(LogTest(first, program, ranks, 0, 0, repeated=False, rows=tuple(rows), remarks=(remark,)))
    return Log(name, tuple(tests), tuple(skipped))


def _entries(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the line and the value of each JSON value, on one line or several; None where it is not complete."""
    decoder, place, number = json.JSONDecoder(), 0, 1
    while (start := _NEXT.search(text, place)) is not None:
        number += text.count("\n", place, start.start())
        try:
            value, place = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            value, place = None, _LINE_END.search(text, start.start()).end()  # type: ignore[union-attr]
        yield number, value
        number += text.count("\n", start.start(), place)


def _call(entry: Any) -> tuple[tuple[str, int, str], tuple[int, Fraction]]:
    """Return the communicator, its ranks and the program of a call, then its total size and its microseconds.

    Raises:
        ValueError: the call is no collective with a bandwidth; the message says why.
    """
    if entry is None:
        raise ValueError("is not complete JSON")
    header, call = (entry.get(key) if isinstance(entry, dict) else None for key in ("header", "coll_perf"))
    if isinstance(entry, dict) and "p2p_perf" in entry:
        raise ValueError("is a send or a receive, not a collective")
    if not isinstance(header, dict) or not isinstance(call, dict):
        raise ValueError("is no entry of Inspector: it has no header, or no coll_perf")
    source, name = call.get("coll_timing_source"), str(call.get("coll"))
    if source != "kernel_gpu":
        raise ValueError(f"was timed by {shown(source)}; only kernel_gpu, the time of the kernel, is a bandwidth")
    ranks: Any = header.get("n_ranks")
    size: Any = call.get("coll_msg_size_bytes")
    time: Any = call.get("coll_exec_time_us")
    program = program_of(name)
    if program is None or not all(isinstance(each, int) and each > 0 for each in (ranks, size, time)):
        raise ValueError(f"has the collective {shown(name)}, {shown(size)} bytes and {shown(time)} us")
    parts = ranks if COLLECTIVES.get(program) in _PARTS else 1
    return (str(header.get("id")), ranks, program), (size * parts, Fraction(time))


def _median_row(size: int, times: Sequence[tuple[int, Fraction]], collective: Collective | None, ranks: int) -> LogRow:
    time = median(each for _, each in times)
    algbw = Fraction(size) / time / 1000
    factor = Fraction(1) if collective is None else collective.busbw_factor(ranks)
    return LogRow(times[0][0], size, -1, "none", Measured(time, algbw, algbw * factor, None), None)


def _ras(communicators: Sequence[Any], name: str) -> Log:
    found = []
    for each in communicators:
        if not isinstance(each, dict) or not isinstance(each.get("missing_ranks"), list):
            raise InputError(
                f"{name}: a communicator of RAS has no list missing_ranks; give the output of ncclras -f json"
            )
        missing = [
            MissingRank(rank["rank"], str(rank.get("host", "")), rank.get("pid"))
            for rank in each["missing_ranks"]
            if isinstance(rank, dict) and isinstance(rank.get("rank"), int)
        ]
        size, present = each.get("size"), each.get("ranks")
        late = _late(present) if isinstance(present, list) else ()
        found.append(RasCommunicator(str(each.get("hash", "")), size, tuple(missing), tuple(late)))
    return Log(name, (), (), tuple(found))


def _late(ranks: Iterable[Any]) -> list[str]:
    """Return a sentence for each collective of which some ranks have made fewer calls than others."""
    counts: dict[str, dict[int, int]] = defaultdict(dict)
    for rank in ranks:
        calls = rank.get("collective_counts") if isinstance(rank, dict) else None
        for collective, count in calls.items() if isinstance(calls, dict) else ():
            if isinstance(count, int) and isinstance(rank.get("rank"), int):
                counts[collective][rank["rank"]] = count
    found = []
    for collective, calls in counts.items():
        most = max(calls.values())
        behind = [f"{rank} ({count})" for rank, count in sorted(calls.items()) if count < most]
        if behind:
            found.append(f"{collective}: up to {plural(most, 'call')}; behind: rank {', '.join(behind)}")
    return found


def _ras_text(text: str, name: str) -> Log:
    found: list[RasCommunicator] = []
    kind = counted = ""
    for line in text.splitlines():
        if (section := _RAS_SECTION.match(line)) is not None:
            kind = section[3]
            if not found or found[-1].name != section[2]:
                found.append(RasCommunicator(section[2], None, ()))
        elif (counts := _RAS_COUNTS.match(line)) is not None:
            counted = counts[1]
        elif found and (late := _RAS_LATE.match(line)) is not None:
            found[-1] = replace(found[-1], late=(*found[-1].late, f"{counted}: rank {late[1]} has {late[2]}"))
        elif found and kind == "INCOMPLETE" and (rank := _RAS_RANK.match(line)) is not None:
            pid = None if rank[2] is None else int(rank[2])
            each = MissingRank(int(rank[1]), rank[3] or "", pid)
            found[-1] = replace(found[-1], missing=(*found[-1].missing, each))
    return Log(name, (), (), tuple(found) or (RasCommunicator("", None, ()),))
