"""Draw Figures 2, 10, 11, 12 and 14 of *ForestColl* (NSDI 2026) and make its Table 1: a part of `make figures`.

    .venv/bin/python benchmarks/forest_figures.py [FOLDER] [--only NAMES] [--largest N] [--page PAGE]

Each figure becomes a picture and a page of Markdown with the printed values next to ours, in build/figures. The times
of Figure 14 are stored as they are measured, so a run that was interrupted continues. The program needs matplotlib
(`pip install 'forestcoll[pictures]'`) and takes a few minutes.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import forest_curves
import forest_generation
import forest_h100
import forest_paths
import forest_trees_table
from matplotlib.figure import Figure

_FIGURES: dict[str, Callable[[Path, int], tuple[Figure | None, Sequence[str]]]] = {
    "forest-table-1": forest_trees_table.made,
    "forest-figure-2": forest_paths.made,
    "forest-figure-10": forest_curves.made_mi250,
    "forest-figure-11": forest_curves.made_a100,
    "forest-figure-12": forest_h100.made,
    "forest-figure-14": forest_generation.made,
}


def main() -> None:
    """Draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/figures"))
    parser.add_argument("--only", help="names of figures, separated by commas, such as forest-figure-2")
    parser.add_argument("--largest", type=int, default=1024, help="maximum number of GPUs of Figure 14")
    parser.add_argument("--page", type=Path, help="also update the tables in this page: docs/figures.md")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in arguments.only.split(",") if arguments.only else _FIGURES:
        begin = time.perf_counter()
        figure, lines = _FIGURES[name](arguments.folder, arguments.largest)
        page = arguments.folder / f"{name}.md"
        picture = [f"![{name}]({name}.png)", ""] if figure is not None else []
        page.write_text("\n".join([*picture, *lines, ""]), encoding="utf-8")
        if arguments.page is not None:
            arguments.page.write_text(renewed(arguments.page, name, lines), encoding="utf-8")
        if figure is not None:
            figure.savefig(arguments.folder / f"{name}.png", dpi=130)
        print(f"{page}  {time.perf_counter() - begin:.0f} s", flush=True)


def renewed(page: Path, name: str, lines: Sequence[str]) -> str:
    """Return the text of a page with the lines of a figure between its two marks."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    head, found, rest = page.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise ValueError(f"{page}: has no marks of {name}")
    return head + begin + "\n".join(lines).strip() + end + rest.partition(end)[2]


if __name__ == "__main__":
    main()
