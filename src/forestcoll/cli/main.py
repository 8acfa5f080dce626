"""The entry point of the command line: imports the file of a command, and maps errors to exit statuses and messages.

Exit statuses: 0 success; 1 invalid input or a negative result; 2 wrong usage; 130 Ctrl-C, and nothing was written.
Results are printed to standard output, and everything else to standard error.
"""

import gc
import importlib
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import click

from forestcoll.base.endings import sets_written
from forestcoll.base.errors import ForestcollError, InternalError, nearest, shown

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_TRACEBACK = "FORESTCOLL_TRACEBACK"
"""The environment variable that enables tracebacks of defects."""

_OBJECTS_OF_A_COLLECTION = 100_000
"""After how many new objects Python looks for unreachable cycles, instead of 700.

Imports and large networks make many objects that live to the end, and each collection visits them again.
"""

_GROUPS = {
    "Networks": {
        "topology": "Write a network in any format, or list the builders.",
        "import": "Read a file of another tool as a network.",
        "view": "Draw a network or a schedule.",
        "design": "Find or expand networks for collectives.",
    },
    "Schedules": {
        "optimum": "Compute the exact optimum of a collective.",
        "generate": "Generate a verified schedule that reaches the optimum.",
        "verify": "Verify a schedule or a program.",
        "simulate": "Simulate the time of a schedule by message size.",
        "compare": "Compare the optimum with well-known algorithms.",
        "what-if": "Compute the effect of failures, upgrades and new links.",
    },
    "Programs": {
        "export": "Write a schedule as a program for a runtime.",
        "tune": "Find the best schedule for each message size.",
        "rank-order": "Find the best order of hosts for NCCL's rings and trees.",
    },
    "Measurements": {
        "explain": "Compare measured bandwidth with its bound.",
        "bench": "Measure a collective next to its bound.",
        "probe": "Measure a cluster by sends between its ranks.",
        "fit": "Fit the cost model to measured times.",
        "emulate": "Run COMMAND once for each rank on an emulated network.",
    },
    "Research": {
        "one-port": "Repeat a collective as a series, or broadcast one large message.",
        "train-time": "Estimate the time of a training iteration on a network.",
    },
}
"""The summary of each command, below its heading. So --help imports no command; `tests/cli` compares the texts."""

_COMMANDS = {name: summary for group in _GROUPS.values() for name, summary in group.items()}

_FORMER = {
    "bounds": "optimum",
    "broadcast-series": "one-port",
    "check-program": "verify",
    "expand": "design",
    "find-topology": "design",
    "pipelined-broadcast": "one-port",
    "topologies": "topology",
}
"""The command that does what a command of another name did before the first release."""


def module_of(command: str) -> str:
    """Return the name of the file that holds a command; Python reserves the word `import`."""
    return "import_files" if command == "import" else command.replace("-", "_")


@cache
def _completed(command: click.Command, name: str) -> click.Command:
    """Add what all commands have: examples, links one by one, and the check of all outputs before any work."""
    from forestcoll.cli.examples import epilog_of
    from forestcoll.cli.options import links_one_by_one
    from forestcoll.cli.outputs import check_outputs

    work = command.callback

    def checked(*arguments: Any, **options: Any) -> Any:
        check_outputs(click.get_current_context())
        return work(*arguments, **options) if work is not None else None

    parse = command.parse_args
    command.callback = checked
    command.parse_args = lambda ctx, args: parse(ctx, list(links_one_by_one(args)))  # type: ignore[method-assign]
    command.epilog = epilog_of(name)
    return command


class _LazyGroup(click.Group):
    """A group of commands that imports the file of a command, `forestcoll.cli.NAME`, only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"forestcoll.cli.{module_of(cmd_name)}").command
        return _completed(command, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {shown(name)}{_hint(_FORMER.get(name, name), _COMMANDS)}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Return the commands and options that begin with `incomplete`, without importing the commands."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=each) for name, each in sorted(_COMMANDS.items())]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(each for each in names if each.value.startswith(incomplete)), *options]

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # click itself would print an empty line first
        except click.UsageError as error:
            if error.ctx is None and (command := self.get_command(ctx, ctx.invoked_subcommand or "")) is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=ctx.invoked_subcommand)
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))


def _hint(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name, with the nearest known name if there is one."""
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {shown(near)}?"


_PARAMETER = re.compile(r"unexpected extra arguments? \(([a-z_]+=[^ )]+)")
"""What click says about a parameter that a space separates from the name of a network."""


def _usage_message(error: click.ClickException) -> str:
    """Return the message about wrong usage, with the nearest option if the option is unknown."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        message = error.format_message()
        extra = _PARAMETER.search(message)
        return message if extra is None else f"{message}; parameters of TOPOLOGY follow a colon, NAME:{extra[1]}"
    options = [name for each in error.ctx.command.get_params(error.ctx) for name in (*each.opts, *each.secondary_opts)]
    near = _hint(error.option_name, (name for name in options if name.startswith("--")))
    return f"no such option {shown(error.option_name)}{near}"


def _print_version(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 (click's)
    if not wanted or ctx.resilient_parsing:
        return
    from forestcoll.base.version import __version__, native_build

    click.echo(f"forestcoll {__version__}")
    click.echo(f"native core: {native_build()}")
    ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and the build of the native core, and exit.",
)
def forestcoll() -> None:
    """Compute the exact optimum of a collective on any network, and a verified schedule that reaches it.

    TOPOLOGY is a file, - for standard input, or the name of a builder with parameters, such as dgx-a100:boxes=2 or
    torus:dims=4x4x4. A file is networkx's node-link JSON (format forestcoll.topology/1), or a file of another tool that
    "forestcoll import" reads, such as NCCL's topology XML or the output of nvidia-smi topo -m.
    """


def main() -> NoReturn:
    """Run the command line and exit."""
    gc.set_threshold(_OBJECTS_OF_A_COLLECTION)
    sys.exit(_run())


def _run() -> int:  # noqa: PLR0911 (one return per exit status)
    before = sets_written()
    try:
        os.fstat(1)  # fail before the work if standard output is closed
        _open_standard_error()
        _accept_all_characters()
        status = forestcoll.main(prog_name="forestcoll", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)  # noqa: T201 (without a command, print the complete help)
        return error.exit_code
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "forestcoll"
        _print_error(f"{_usage_message(error)} (see {path} --help)")
        return error.exit_code
    except InternalError as error:
        return _report_defect(error)
    except ForestcollError as error:
        _print_error(str(error))
        return 1
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(wrote=sets_written() > before)
    except BrokenPipeError:
        # The reader has closed the pipe, and the interpreter still flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except MemoryError:
        _print_error("out of memory; use a smaller network, fewer trees or chunks, or smaller values of options")
        return 1
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _print_error(f"cannot write the result: {error.strerror or error}")
        return 1
    except Exception as error:  # noqa: BLE001 (any other error is a defect, which is reported in one line)
        return _report_defect(error)
    return status if isinstance(status, int) else 0


def _interrupted(*, wrote: bool) -> int:
    """Report Ctrl-C, and return the exit status, which says whether files or standard output were written."""
    _print_error("interrupted after output was written" if wrote else "interrupted; nothing was written")
    return 1 if wrote else 130


def _open_standard_error() -> None:
    """Discard messages if standard error is closed: it is None then, and libraries expect a stream."""
    if getattr(sys, "stderr", None) is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 (open to the end of the process)


def _accept_all_characters() -> None:
    """Print `?` for characters that the encoding of standard output does not have; a result is not lost for them."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _report_defect(error: Exception) -> int:
    """Print one line about a defect of forestcoll, or raise the error if the user has enabled tracebacks."""
    if os.environ.get(_TRACEBACK):
        raise error
    if not isinstance(error, InternalError):
        error = InternalError(f"{type(error).__name__}: {error}"[:200])
    _print_error(f"{error} ({_TRACEBACK}=1 shows the traceback)")
    return 1


def _print_error(message: str) -> None:
    from forestcoll.presentation.printing import print_error

    print_error(message)
