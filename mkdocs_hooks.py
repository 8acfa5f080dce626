"""Hooks of the documentation site: pages made from other files, and links to these files.

The site also has the documents of the root folder, the help text of each command, and the docstrings of the public
names.
"""

import ast
import csv
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from posixpath import relpath

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent

DOCUMENTS = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""The documents of the root folder, and the pages made from them."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_TABLE = re.compile(r"^\[([^\]\n]+)\]\(([^)\s]+\.csv)\)$", re.MULTILINE)
_NAME = re.compile(r"^from \.(\S+) import (\w+) as \2$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files."""
    pages = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in DOCUMENTS.items()}
    for name, text in (
        pages | {"commands.md": commands_page(), "api.md": api_page(), "rooms.md": rooms_page()}
    ).items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Let links lead to pages of the site; what leads to other files of the repository becomes plain text.

    A paragraph that is only a link to a CSV file becomes a table with the text of the link as its title.
    """
    source = page.file.src_uri
    at = {made: name for name, made in DOCUMENTS.items()}.get(source, f"docs/{source}")
    tables = _TABLE.sub(lambda link: f"**{link[1]}**\n\n{_table((ROOT / at).parent / link[2])}", markdown)
    return _LINK.sub(lambda link: _on_site(link, at, source), tables)


def _table(path: Path) -> str:
    """Return a CSV file as a table; columns with numbers only are aligned to the right."""
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = list(csv.reader(file))
    aligned = [
        "---:" if all(re.match(r"[-+]?[\d.,]*( ?%)?$", row[at]) for row in rows) else "---" for at in range(len(head))
    ]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, aligned, *rows)
    )


def _on_site(link: re.Match[str], at: str, source: str) -> str:
    """Return a link of the file `at` as it stands on the page `source`."""
    image, text, target, anchor = link[1], link[2], link[3], link[4] or ""
    if "://" in target or target.startswith("mailto:") or not target:
        return link[0]
    path = (ROOT / at).parent.joinpath(target).resolve().relative_to(ROOT).as_posix()
    page = DOCUMENTS.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
    if page is None:
        return text
    return f"{image}[{text}]({relpath(page, Path(source).parent.as_posix())}{anchor})"


def commands_page() -> str:
    """Return the help texts of all commands."""
    from click.testing import CliRunner

    from forestcoll.cli import main
    from forestcoll.cli.main import _COMMANDS

    parts = ["# Commands", "The text of `forestcoll COMMAND --help`, for all commands."]
    for name in sorted(_COMMANDS):
        run = CliRunner().invoke(main, [name, "--help"], terminal_width=100, prog_name="forestcoll")
        parts.append(f"## forestcoll {name}\n\n```text\n{run.output.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def api_page() -> str:
    """Return the public names, with directives that show their docstrings."""
    declared = _NAME.findall((ROOT / "src/forestcoll/__init__.pyi").read_text(encoding="utf-8"))
    rooms: dict[str, list[str]] = defaultdict(list)
    for module, name in declared:
        rooms[module.split(".")[0]].append(f"::: forestcoll.{module}.{name}")
    parts = ["# Python names", "All names that `import forestcoll` offers, by the package that defines them."]
    for room, names in sorted(rooms.items()):
        parts += [f"## {room}", *names]
    return "\n\n".join(parts) + "\n"


def rooms_page() -> str:
    """Return the map of the package: its rooms from the highest floor to the lowest, each with its first line."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    floors = [floor.split(" | ") for floor in contracts[0]["layers"] if not floor.startswith("_")]
    parts = ["# Rooms", "The folders of `src/forestcoll`. Each imports only from rows below its own."]
    rows = ["| floor | room | what is in it |", "| ---: | --- | --- |"]
    for number, floor in zip(range(len(floors), 0, -1), floors, strict=True):
        for room in floor:
            code = (ROOT / "src" / "forestcoll" / room / "__init__.py").read_text(encoding="utf-8")
            line = (ast.get_docstring(ast.parse(code)) or "").partition("\n")[0]
            rows.append(f"| {number} | `{room}` | {line} |")
    return "\n\n".join([*parts, "\n".join(rows)]) + "\n"


class Examples(Extension):
    """Lets griffe read the examples of docstrings: it only knows the title in the plural."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change the title of the section in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
