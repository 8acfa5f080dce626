"""The entry point: finds the file of a command, and turns each ending into an exit status and one line.

0 done; 1 the input or the answer is bad; 2 wrong usage; 130 on Ctrl-C. Results go to standard output, everything else
to standard error.
"""

import importlib
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import click

from forestcoll.cli.examples import epilog_of
from forestcoll.errors import ForestcollError, InternalError, nearest, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_TRACEBACK = "FORESTCOLL_TRACEBACK"
"""The environment variable that asks for the traceback of a defect."""

_COMMANDS = {
    "broadcast-series": "Broadcast message after message at the greatest rate.",
    "bounds": "Say what no schedule can beat, and why.",
    "check-program": "Check a program for a runtime that anyone wrote.",
    "compare": "Compare the optimum with well-known algorithms.",
    "export": "Write a schedule as a program for a runtime.",
    "find-topology": "Find networks built for collectives.",
    "generate": "Write a schedule that reaches the optimum, verified.",
    "optimum": "Say how fast a collective can run, exactly, and why.",
    "simulate": "Say how long a schedule takes, size by size.",
    "pipelined-broadcast": "Send one large message from a node to all, in packets.",
    "train-time": "Say how long training takes on a network.",
    "topologies": "List the builders of networks and their parameters.",
    "topology": "Write a topology file.",
    "verify": "Check a schedule that anyone wrote.",
}
"""Each command and its summary, so that --help need not import them; `tests/cli` compares them with the commands."""


def module_of(command: str) -> str:
    """Return the name of the file that holds a command."""
    return command.replace("-", "_")


class _LazyGroup(click.Group):
    """A group that imports a command's file, `forestcoll.cli.NAME`, when the command is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"forestcoll.cli.{module_of(cmd_name)}").command
        command.epilog = epilog_of(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {shown(name)}{_hint(name, _COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the commands and options that begin so, without importing the commands."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=each) for name, each in sorted(_COMMANDS.items())]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(each for each in names if each.value.startswith(incomplete)), *options]

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # click itself would print an empty line first

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


def _hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a question with the nearest known name, or nothing."""
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {shown(near)}?"


def _usage_message(error: click.ClickException) -> str:
    """Return what is wrong with the usage, with the nearest option if the option is unknown."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error.format_message()
    options = [name for each in error.ctx.command.get_params(error.ctx) for name in (*each.opts, *each.secondary_opts)]
    near = _hint(error.option_name, (name for name in options if name.startswith("--")))
    return f"no such option {shown(error.option_name)}{near}"


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 (click's)
    if not wanted or ctx.resilient_parsing:
        return
    from importlib import metadata

    try:
        version = metadata.version("forestcoll")
    except metadata.PackageNotFoundError:
        version = "(not installed: run from its source)"
    click.echo(f"forestcoll {version}")
    ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def forestcoll() -> None:
    """How fast can this network possibly run a collective, and what schedule gets there?

    TOPOLOGY is a file (forestcoll.topology/1, networkx's node-link JSON), - for standard input, or a builder's name
    with parameters, such as dgx-a100:boxes=2 or torus:dims=4x4x4.
    """


def main() -> NoReturn:
    """Run the command line and exit."""
    sys.exit(_run())


def _run() -> int:  # noqa: PLR0911 (one return per ending)
    try:
        os.fstat(1)  # a closed standard output is found before the work, not after it
        _open_standard_error()
        status = forestcoll.main(prog_name="forestcoll", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)  # noqa: T201 (no command at all: the whole help, not one line)
        return error.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "forestcoll"
        _complain(f"{_usage_message(error)} (see {path} --help)")
        return error.exit_code
    except InternalError as error:
        return _report_defect(error)
    except ForestcollError as error:
        _complain(str(error))
        return 1
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted; nothing was written")
        return 130
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), 1
        )  # the reader has closed the pipe; the interpreter still flushes at exit
        return 1
    except MemoryError:
        _complain("out of memory; try a smaller network or fewer trees")
        return 1
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _complain(f"cannot write the result: {error.strerror or error}")
        return 1
    except Exception as error:  # noqa: BLE001 (the last resort: a user sees one line, whatever our defect is)
        return _report_defect(error)
    return status if isinstance(status, int) else 0


def _open_standard_error() -> None:
    """Discard messages where standard error is closed: Python makes it None, and libraries expect a stream."""
    if getattr(sys, "stderr", None) is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 (open to the end of the process)


def _report_defect(error: Exception) -> int:
    """Say in one line that the defect is ours, or show the traceback if the user asked for it."""
    if os.environ.get(_TRACEBACK):
        raise error
    if not isinstance(error, InternalError):
        error = InternalError(f"{type(error).__name__}: {error}"[:200])
    _complain(f"{error} ({_TRACEBACK}=1 shows the traceback)")
    return 1


def _complain(message: str) -> None:
    from forestcoll.presentation.printing import print_complaint

    print_complaint(message)
