"""The arguments and options that several commands share, each written once."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from forestcoll.collective import Collective
from forestcoll.errors import shown

if TYPE_CHECKING:
    from forestcoll.bounds import Optimum
    from forestcoll.progress import Progress
    from forestcoll.topology import Topology

Command = TypeVar("Command", bound=Callable[..., Any])


def _path(_context: click.Context, parameter: click.Parameter, text: str | None) -> Path | None:
    """Return the path that `text` names; `-` is the standard stream, `./-` a file."""
    if text is None:
        return None
    if not text:
        raise click.BadParameter(
            "give -o a file's name" if isinstance(parameter, click.Option) else "name a file", param=parameter
        )
    from forestcoll.files import path_of

    return path_of(text)


def _tree_count(_context: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Return the integer that `text` writes."""
    if text is None:
        return None
    from forestcoll.exact import MAX_TREES_DIGITS

    digits = text.removeprefix("+").lstrip("0")
    if not (digits.isascii() and digits.isdecimal()):
        raise click.BadParameter(f"{shown(text)}; expected an integer of 1 or more", param=parameter)
    if len(digits) > MAX_TREES_DIGITS:
        raise click.BadParameter(f"{shown(text)} has more than {MAX_TREES_DIGITS} digits", param=parameter)
    return int(digits)


def _no_root(_context: click.Context, _parameter: click.Parameter, root: str | None) -> None:
    """Refuse a root: no collective of this version has one."""
    if root is not None:
        raise click.UsageError("an allgather has no root; leave --root out")


topology_argument = click.argument("topology", metavar="TOPOLOGY")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
file_argument = click.argument("file", metavar="FILE", callback=_path)
output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_path,
    help="The file to write; gzip if it ends in .gz; - is standard output, and the report goes to standard error.",
)


def collective_options(command: Command) -> Command:
    """Add the options that say what is asked of the network."""
    for option in (
        click.option(
            "--max-trees",
            callback=_tree_count,
            metavar="K",
            help="The best of 1 to K trees per root.",
        ),
        click.option(
            "--trees",
            callback=_tree_count,
            metavar="K",
            help="Exactly K trees per root.",
        ),
        click.option(
            "--root",
            callback=_no_root,
            expose_value=False,
            metavar="ID",
            help="The node that data comes from or goes to; an allgather has none.",
        ),
        click.option(
            "--collective",
            type=click.Choice([each.value for each in Collective]),
            default=Collective.ALLGATHER.value,
            show_default=True,
            help="The operation.",
        ),
    ):
        command = option(command)
    return command


def is_standard_output(output: Path | None) -> bool:
    """Return whether `output` is standard output, so that a report must go to standard error."""
    return output == Path("-")


def check_tree_counts(trees: int | None, max_trees: int | None) -> None:
    """Refuse `--trees` beside `--max-trees` as wrong usage."""
    if trees is not None and max_trees is not None:
        raise click.UsageError("--trees and --max-trees exclude each other; give one of them")


def find_optimum(
    network: "Topology", collective: str, trees: int | None, max_trees: int | None, progress: "Progress"
) -> "tuple[Optimum, tuple[Optimum, ...]]":
    """Return the optimum that the options ask for, and with `--max-trees` those of all numbers of trees."""
    from forestcoll.bounds import best_of, optima_by_trees, optimum

    if max_trees is None:
        return optimum(network, Collective(collective), trees=trees, progress=progress), ()
    by_trees = optima_by_trees(network, Collective(collective), most=max_trees, progress=progress)
    return best_of(by_trees), by_trees
