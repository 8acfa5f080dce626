"""`forestcoll view`: a picture or a page of a network or a schedule."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.file_types import FileName, PictureFile, TopologySpec
from forestcoll.cli.options import Changes, change_options, json_option, named_network, names_schedule, refuse_for_file

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.topology import Topology


@click.command("view")
@click.argument("shown", metavar="FILE|TOPOLOGY", type=TopologySpec())
@click.argument("beside", metavar="[FILE]", type=FileName(), required=False)
@change_options
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=PictureFile(".html", ".svg", ".png"),
    required=True,
    help="The file to write: .html (a page), .svg or .png (one picture).",
)
@json_option
def command(
    *,
    shown: str,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    output: Path,
    beside: Path | None,
    as_json: bool,
) -> None:
    """Draw a network or a schedule.

    FILE is a schedule of any kind, which is verified first, and TOPOLOGY is as for the other commands. `-` is either of
    them from standard input. A page shows the network, its bottleneck cut, the loads of the links, and the sends of
    each tree or step, which can be played. It needs no other file and no network connection. A picture shows the
    network or, for a schedule, the loads of its links. A second FILE, a schedule on the same network, is drawn next to
    the first. PNG files need the extra "pictures".
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.view import view
    from forestcoll.presentation.view.view import (
        view_page,
        with_schedule,
        write_view,
    )

    with TerminalProgress() as progress:
        found = view(_read(shown, (without, degrade), progress), progress=progress)
        if beside is not None:
            found = with_schedule(found, Path(shown).name, _schedule(beside, progress), beside.name)
        progress.begin("drawing")
        write_view(found, output)
    print_result(view_page(found, output), as_json=as_json)


def _read(shown: str, changes: "Changes", progress: "Progress") -> "Topology | Schedule":
    """Return the verified schedule in a file, or the network that the argument names."""
    from forestcoll.base.files import path_of

    if not names_schedule(shown):
        progress.begin("reading the topology")
        return named_network(shown, *changes, connected=False)
    refuse_for_file({"without": changes[0], "degrade": changes[1]})
    return _schedule(path_of(shown), progress)


def _schedule(path: Path, progress: "Progress") -> "Schedule":
    from forestcoll.verification.reading import read_verified

    return read_verified(path, progress=progress)[0]
