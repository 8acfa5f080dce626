"""`forestcoll one-port`: a series of a collective, or the broadcast of one message in packets."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.base.together import written_together
from forestcoll.cli.file_types import OutputFile, PictureFile
from forestcoll.cli.options import (
    HelpLaterOption,
    json_option,
    named_network,
    outputs_option,
    parameters_help,
    ports_option,
    topology_argument,
    usage_of,
    with_ports,
)
from forestcoll.cli.types import CollectiveName, DataSize, IntegerFrom, SpecText
from forestcoll.demand.collective import SERIES

if TYPE_CHECKING:
    from forestcoll.base.registry import Registry


def _methods() -> "Registry":
    from forestcoll.oneport.asked import methods

    return methods


def _methods_help() -> str:
    texts = ["; ".join(filter(None, [each.facts["summary"], parameters_help(each)])) for each in _methods().all()]
    named = [f"{each.name}: {text}" for each, text in zip(_methods().all(), texts, strict=True)]
    return f"How to broadcast. {'. '.join(named)}.  [default: graph, or packets with --size]"


@click.command("one-port")
@topology_argument
@click.option("--source", metavar="ID", help="The compute node that sends, or the root, by id or position.")
@click.option(
    "--collective",
    type=CollectiveName([each.value for each in SERIES]),
    metavar="NAME",
    help=f"What a series repeats: {', '.join(SERIES)}.  [default: broadcast]",
)
@click.option(
    "--size",
    type=DataSize(),
    metavar="SIZE",
    help="The size of one message, such as 1GB or 256MiB.  [default: a series of messages]",
)
@click.option(
    "--method",
    cls=HelpLaterOption,
    make_help=_methods_help,
    type=SpecText("method", _methods),
    metavar="NAME[:KEY=VALUE…]",
)
@click.option("--simulate", type=IntegerFrom(min=1), metavar="K", help="For a series: also simulate K messages.")
@ports_option
@outputs_option(
    "A file to write: schedule (.json) or picture (one period of a series as a Gantt chart, or the times of one "
    "message for sizes up to a million times as large, .svg or .png).",
    schedule=OutputFile(".json"),
    picture=PictureFile(".svg", ".png"),
)
@json_option
def command(topology: str, output: Mapping[str, Path], *, as_json: bool, **options: Any) -> None:
    """Repeat a collective as a series, or broadcast one large message.

    The source sends one message after another to all compute nodes, in a schedule that repeats after a period. A
    message of size 1 takes 1/bandwidth over a link. If TOPOLOGY contains "port_model": "one-port", a compute node sends
    to one neighbour and receives from one neighbour at a time. Without port_model, it uses all its links at once.
    --ports lists the other models. With send_overhead and receive_overhead, a node needs additional time for each
    message. No schedule has a greater throughput, and the report contains the proof. With graph:loss=, the throughput
    may be less than the optimum by this part.

    With --collective, the series repeats another collective of messages of size 1. A scatter sends a message to each
    node, a gather receives one from each, and a reduce adds them up. An allgather and a reduce-scatter have no
    --source.

    With --size, the source sends one large message in packets. A packet takes latency_us + size / bandwidth over a
    link. The command chooses the number of packets, their trees and the times of all sends for the least total time
    found, and prints a lower bound of the time of any broadcast. With --json, "sends" lists all sends if there are at
    most 20,000. With -o, the periodic schedule of a series of such packets is written.

    A schedule is verified before it is written.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.oneport.asked import asked
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.one_port import answer_page, draw_answer
    from forestcoll.schedule.files import write_schedule

    ports = options.pop("ports")
    changes = options.pop("without"), options.pop("degrade")
    question = usage_of(asked, options)
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        answer = question.answer(with_ports(named_network(topology, *changes), ports), progress)
        with written_together():
            if "picture" in output:
                progress.begin("drawing")
                draw_answer(answer, output["picture"])
            if "schedule" in output:
                progress.begin("writing")
                write_schedule(answer.schedule, output["schedule"])
    err = any(map(is_standard_stream, output.values()))
    print_result(answer_page(answer, progress.seconds, output), as_json=as_json, err=err)
