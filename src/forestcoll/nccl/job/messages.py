"""Tells the messages of a log with `NCCL_DEBUG=INFO` apart, also where ranks that share a file cut each other's lines.

A message begins with the mark of its process, anywhere in a line, and ends with the line or at the next mark:

    node-00:4001:4002 [0] NCCL INFO Trees [0] 1/4/-1->0->-1 [1] 1/-1/-1->0->2

Before the mark there may be those of mpirun, srun or torchrun, a time stamp, and the rest of a line of another rank.
NCCL 2.28 to 2.32 write WARN and ATTN with the time and the place in the source. Output is written in blocks of 4,096
bytes, so a message may also end in the middle, and go on with a piece of another message that has no mark. So its last
word is never used if the message is cut, and a reader must not use what follows text that it does not know.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_LEVEL = re.compile(r"NCCL (?:INFO|WARN|ATTN|ABORT|TRACE|VERSION) ")
_MARK = re.compile(r"([\w.-]+):(\d+):(\d+) \[(-?\d+)\] (?:\S+:\d+ (?:\(\S+\) )?)?$")
_RARE = 2
"""The most messages under a name of a host that may be damaged."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

_WANTED = re.compile(
    r"(?:\[Rank \d+\] )?(?:nccl\w* )?comm 0x|Channel \d|Trees \[|Tree \d|Ring \d|[NR]CCL version|"
    r"NCCL_HOSTID set|cudaDriverVersion |"
    r"NET/\w+ : Using \[|===|CPU/|\s*\+ [A-Z]|Connected all (?:rings|trees)|\d+ coll channels|"
    r"(?:AllReduce|AllGather|ReduceScatter|Broadcast|Reduce): "
)
"""The beginnings of messages with facts; all others are skipped."""


class Process(NamedTuple):
    """A process of a log.

    Attributes:
        host: its host, as its marks name it.
        pid: its number there.
        life: how many processes of the log had this number before.
    """

    host: str
    pid: int
    life: int = 0


class Message(NamedTuple):
    """A message of a log.

    Attributes:
        line: its line number in the log, from 1.
        process: the process that wrote it.
        thread: the thread.
        device: the number of the CUDA device of the thread.
        text: the text after the level.
        is_cut: whether text of another rank follows in the line, or the log ends in it.
    """

    line: int
    process: Process
    thread: int
    device: int
    text: str
    is_cut: bool


def has_messages(text: str) -> bool:
    """Return whether a text has a message of NCCL with the mark of its process."""
    return any(_mark_before(text, level.start()) for level in _LEVEL.finditer(text))


def messages(text: str) -> Iterator[Message]:
    """Yield the messages of a log that state facts, in the order of the log."""
    text = _COLOUR.sub("", text) if "\x1b" in text else text
    found = list(_marked(text))
    hosts = _damaged_hosts(Counter(message.process for message in found))
    for message in found:
        host = hosts.get(message.process, message.process.host)
        if host is not None:
            yield message._replace(process=Process(host, message.process.pid))


def _marked(text: str) -> Iterator[Message]:
    line, counted = 1, 0
    levels = _LEVEL.finditer(text)
    following = next(levels, None)
    while (level := following) is not None:
        following = next(levels, None)
        if _WANTED.match(text, level.end()) is None or (mark := _mark_before(text, level.start())) is None:
            continue
        line, counted = line + text.count("\n", counted, level.start()), level.start()
        end = text.find("\n", level.end())
        is_cut = end < 0
        end = len(text) if is_cut else end
        if following is not None and following.start() < end:
            other = _mark_before(text, following.start())
            end, is_cut = following.start() if other is None else max(other.start(), level.end()), True
        process = Process(mark[1], int(mark[2]))
        yield Message(line, process, int(mark[3]), int(mark[4]), text[level.end() : end].rstrip("\r"), is_cut)


def _mark_before(text: str, level: int) -> re.Match[str] | None:
    """Return the mark that ends where a level begins."""
    begin = text.rfind("\n", max(0, level - 4096), level) + 1
    place = text.rfind(" [", begin, level)
    return _MARK.search(text, max(begin, place - 256), level) if place >= 0 else None


def _damaged_hosts(processes: Counter[Process]) -> dict[Process, str | None]:
    """Return the hosts of processes whose mark was cut or follows another text at once: `node-01node-01:17:17 [0]`.

    Such names are much rarer than others. The host is that of the only process with the same number, if the end of one
    name is the other; else it is None, since the name is lost.
    """
    hosts: Counter[str] = Counter()
    for process, count in processes.items():
        hosts[process.host] += count
    most = max(hosts.values(), default=0)
    damaged = {host for host, count in hosts.items() if count <= _RARE and count * 16 <= most}
    whole: dict[int, list[str]] = {}
    for process in processes:
        if process.host not in damaged:
            whole.setdefault(process.pid, []).append(process.host)
    found: dict[Process, str | None] = {}
    for process in processes:
        if process.host in damaged:
            same = [each for each in whole.get(process.pid, ()) if _is_end(each, process.host)]
            found[process] = same[0] if len(same) == 1 else None
    return found


def _is_end(one: str, other: str) -> bool:
    return one.endswith(other) or other.endswith(one)
