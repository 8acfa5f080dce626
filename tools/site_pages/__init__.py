"""Pages of the documentation site that are made when it is built: from registries, from docstrings, from help texts.

`names.py` has the public names by topic, `registries.py` machines, methods, targets and rules, and `project.py` the
commands and the map of the package. `site_hooks.py` adds them to the site.
"""

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder of the project."""


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return a table in Markdown.

    Example:
        >>> print(table(("key", "meaning"), [("k", "trees per root")]))
        | key | meaning |
        | --- | --- |
        | k | trees per root |
    """
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def page(*parts: str) -> str:
    """Return a page of several paragraphs."""
    return "\n\n".join(parts) + "\n"
