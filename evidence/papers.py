"""Make the tables and figures of the papers again and write docs/evidence.

    .venv/bin/python evidence/papers.py [NAME...] [--largest N] [--quick]

NAME is the name of an exhibit, such as forestcoll/table-1, or of a page, such as one-port. The other sections of the
pages are kept. The program needs matplotlib (`pip install matplotlib`).
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "common"))
from exhibits.exhibit import Cost, Settings
from exhibits.pages import FOLDER, index_text, named, page_text, section, sections_of, write_picture
from exhibits.papers import PAPERS


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="exhibits or pages; all if none is given")
    parser.add_argument("--largest", type=int, default=1024, help="maximum number of nodes of exhibits that grow")
    parser.add_argument("--quick", action="store_true", help="only exhibits that take seconds")
    parser.add_argument("--store", type=Path, default=Path("build/evidence"), help="folder for results that are kept")
    given = parser.parse_args()
    given.store.mkdir(parents=True, exist_ok=True)
    chosen = _chosen(given.names, quick=given.quick)
    if not chosen:
        parser.error(f"no exhibit is called {' or '.join(given.names)}; known are {', '.join(named())}")
    write(chosen, Settings(given.store, given.largest))


def _chosen(names: Sequence[str], *, quick: bool) -> list[str]:
    return [
        name
        for name, (paper, exhibit) in named().items()
        if (not names or {name, paper.name} & set(names)) and (exhibit.cost is Cost.QUICK or not quick)
    ]


def write(names: Sequence[str], settings: Settings) -> None:
    """Make these exhibits. The pages are written after each of them, so a run can be interrupted."""
    for name in names:
        begin = time.process_time()
        paper, exhibit = named()[name]
        result = exhibit.result(settings)
        write_picture(name, result)
        write_pages({name: section(paper, exhibit, result)})
        print(f"{name}: {result.verdict}, {time.process_time() - begin:.1f} s", flush=True)


def write_pages(made: Mapping[str, str]) -> None:
    """Write all pages with these sections and the others as they are."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = {paper.name: FOLDER / f"{paper.name}.md" for paper in PAPERS}
    sections = {
        name: text
        for path in pages.values()
        if path.exists()
        for name, text in sections_of(path.read_text(encoding="utf-8")).items()
    }
    sections.update(made)
    for paper in PAPERS:
        pages[paper.name].write_text(page_text(paper, sections), encoding="utf-8")
    (FOLDER / "index.md").write_text(index_text(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
