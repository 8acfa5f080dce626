"""Hooks of the documentation site: pages made from other files, tables from CSV, and links to files of the project."""

import csv
import re
from pathlib import Path
from posixpath import relpath

from griffe import Extension, Object
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from site_pages import ROOT
from site_pages.names import list_page, topic_pages
from site_pages.outputs import rows_kept
from site_pages.project import commands_page, rooms_page
from site_pages.registries import machines_page, methods_page, rules_page, targets_page

DOCUMENTS = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
"""The documents of the root folder, and the pages made from them."""

MADE = {
    "api.md": list_page,
    "commands.md": commands_page,
    "machines.md": machines_page,
    "methods.md": methods_page,
    "rooms.md": rooms_page,
    "rules.md": rules_page,
    "targets.md": targets_page,
}
"""The pages made from registries, docstrings and help texts."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
_TABLE = re.compile(r"^\[([^\]\n]+)\]\(([^)\s]+\.csv)\)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files."""
    pages = {page: (ROOT / name).read_text(encoding="utf-8") for name, page in DOCUMENTS.items()}
    for name, text in (pages | {name: make() for name, make in MADE.items()} | topic_pages()).items():
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


def on_page_content(html: str, **_: object) -> str:
    """Keep the rows of tables in code blocks whole."""
    return rows_kept(html)


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


class Examples(Extension):
    """Lets griffe read the examples of docstrings: it only knows the title in the plural."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Change the title of the section in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
