"""The arguments and options that several commands share, each written once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from forestcoll.collective import Collective

Command = TypeVar("Command", bound=Callable[..., Any])

topology_argument = click.argument("topology", metavar="TOPOLOGY")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The file to write; gzip if it ends in .gz.",
)


def collective_options(command: Command) -> Command:
    """Add the options that say what is asked of the network."""
    for option in (
        click.option(
            "--max-trees",
            type=click.IntRange(min=1),
            metavar="K",
            help="The best of 1 to K trees per root.",
        ),
        click.option(
            "--trees",
            type=click.IntRange(min=1),
            metavar="K",
            help="Exactly K trees per root.",
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


def check_tree_counts(trees: int | None, max_trees: int | None) -> None:
    """Refuse `--trees` beside `--max-trees` as wrong usage."""
    if trees is not None and max_trees is not None:
        raise click.UsageError("--trees and --max-trees exclude each other; give one of them")
