"""Pages about the project: the help texts of the commands, and the rooms of the package."""

import ast
import tomllib

from site_pages import ROOT, page, table


def commands_page() -> str:
    """Return the help texts of all commands, in the groups of `forestcoll --help`."""
    from click.testing import CliRunner

    from forestcoll.cli.main import _GROUPS, forestcoll

    parts = ["# Commands", "The text of `forestcoll COMMAND --help`, for all commands."]
    for group, commands in _GROUPS.items():
        parts.append(f"## {group}")
        for name in commands:
            run = CliRunner().invoke(forestcoll, [name, "--help"], prog_name="forestcoll", terminal_width=80)
            parts.append(f"### forestcoll {name}\n\n```text\n{run.output.rstrip()}\n```")
    return page(*parts)


def rooms_page() -> str:
    """Return the map of the package: its rooms from the highest floor to the lowest, each with its first line."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    floors = [floor.split(" | ") for floor in contracts[0]["layers"] if not floor.startswith("_")]
    rows = []
    for number, floor in zip(range(len(floors), 0, -1), floors, strict=True):
        for room in floor:
            code = (ROOT / "src" / "forestcoll" / room / "__init__.py").read_text(encoding="utf-8")
            line = (ast.get_docstring(ast.parse(code)) or "").partition("\n")[0]
            rows.append((str(number), f"`{room}`", line))
    return page(
        "# Rooms",
        "The folders of `src/forestcoll`. Each imports only from rows below its own.",
        table(("floor", "room", "what is in it"), rows),
    )
