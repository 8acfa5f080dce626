"""Times of settings of NCCL from logs of nccl-tests: one log for each algorithm and protocol, and one without.

NCCL prints what is set (`NCCL_ALGO set by environment to allreduce:tree`) with NCCL_DEBUG=INFO.
"""

import re
from collections.abc import Iterable

from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, read_bytes
from forestcoll.demand.collective import Collective
from forestcoll.nccl.choice.table import ALGORITHMS, PROTOCOLS
from forestcoll.nccl.reading import MAX_LOG_BYTES, read_log
from forestcoll.nccl.results import COLLECTIVES, collectives_of
from forestcoll.nccl.tuner.rules import NAMES, Setting, Times

_SET = re.compile(rb"NCCL_(ALGO|PROTO) set by environment to ([\w:;,^]+)")


def measured_times(logs: Iterable[PathLike], collective: Collective, ranks: int) -> Times:
    """Return the least microseconds of each setting by size; None is the key of logs without a setting.

    Raises:
        InputError: a log cannot be read, is of another collective or number of ranks, or sets only one of algorithm and
            protocol, or something else than one word for each.
    """
    times: dict[Setting | None, dict[int, float]] = {}
    for log in logs:
        path = as_path(log)
        found = times.setdefault(_setting(read_bytes(path, limit=MAX_LOG_BYTES), path.name, collective), {})
        for test in read_log(path).tests:
            named = COLLECTIVES.get(test.program or "")
            kinds = collectives_of(test) if named is None else (named,)
            if collective not in kinds:
                raise InputError(f"{path}: the test in line {test.line} is not {collective.with_article}; leave it out")
            if test.ranks not in (None, ranks):
                raise InputError(f"{path}: the test in line {test.line} ran on {test.ranks} ranks, not on {ranks}")
            for row in test.rows:
                least = min((float(each.time_us) for each in row.results), default=None)
                if least is not None:
                    found[row.size] = min(least, found.get(row.size, least))
    return times


def _setting(text: bytes | bytearray, name: str, collective: Collective) -> Setting | None:
    given = {kind.decode(): _word(value.decode(), collective) for kind, value in _SET.findall(text)}
    if not given:
        return None
    if len(given) == 1:
        missing = "NCCL_PROTO" if "ALGO" in given else "NCCL_ALGO"
        raise InputError(f"{name}: does not set {missing}; run the commands that tune prints without --measured")
    setting = given["ALGO"].replace("NVLSTREE", "NVLS_TREE"), given["PROTO"]
    for word, known in zip(setting, (ALGORITHMS, PROTOCOLS), strict=True):
        if word not in known:
            raise InputError(f"{name}: sets {shown(word)}; expected one of {', '.join(known)}")
    return setting


def _word(value: str, collective: Collective) -> str:
    """Return the word of one collective in `allreduce:tree;allgather:ring`, or the only word, in capitals."""
    for part in value.split(";"):
        name, colon, word = part.rpartition(":")
        if not colon or name.lower() == NAMES[collective]:
            return word.upper()
    return value.upper()
