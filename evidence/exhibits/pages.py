"""The pages of docs/evidence: an index with one row for each exhibit, and one page for each paper.

A page consists of its head and of one section for each exhibit. The head and the claims are constant, and everything
else in a section is made by the function of the exhibit. Sections that are not made again are kept as they are.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from matplotlib import rc_context

from exhibits.exhibit import Cost, Exhibit, Paper, Result
from exhibits.papers import PAPERS

FOLDER = Path(__file__).parents[2] / "docs" / "evidence"

_COST = {
    Cost.QUICK: "",
    Cost.SLOW: " It takes up to two minutes.",
    Cost.TIMED: " It has measured times, which differ from run to run.",
}
_SECTION = re.compile(r"^<!-- exhibit (\S+) -->\n(.*?)\n<!-- end -->$", re.DOTALL | re.MULTILINE)
_VERDICT = re.compile(r"^\*\*(Same|Better|Differs|Not had)\.\*\* (.*)$", re.MULTILINE)


def name_of(paper: Paper, exhibit: Exhibit) -> str:
    """Return the name of an exhibit for the command line."""
    return f"{paper.name}/{exhibit.anchor}"


def named() -> dict[str, tuple[Paper, Exhibit]]:
    """Return all exhibits by their names."""
    return {name_of(paper, exhibit): (paper, exhibit) for paper in PAPERS for exhibit in paper.exhibits}


def section(paper: Paper, exhibit: Exhibit, result: Result) -> str:
    """Return the section of an exhibit, without its marks."""
    name = name_of(paper, exhibit)
    parts = [
        f"## {exhibit.number}",
        f"Printed: {exhibit.claim}",
        f"**{result.verdict.capitalize()}.** {result.summary}",
    ]
    if result.figure is not None:
        parts.append(f"![{exhibit.number}](pictures/{_picture(name)})")
    if result.lines:
        parts.append("\n".join(result.lines).strip())
    if exhibit.make is not None:
        parts.append(f"Made by `evidence/papers.py {name}`.{_COST[exhibit.cost]}")
    return "\n\n".join(parts)


def _picture(name: str) -> str:
    return f"{name.replace('/', '-')}.svg"


def write_picture(name: str, result: Result, folder: Path = FOLDER) -> None:
    """Write the picture of an exhibit, if it has one. The same values give the same bytes."""
    if result.figure is None:
        return
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        result.figure.savefig(folder / "pictures" / _picture(name), metadata={"Date": None, "Creator": None})


def sections_of(page: str) -> dict[str, str]:
    """Return the sections of a page by the names of their exhibits."""
    return dict(_SECTION.findall(page))


def page_text(paper: Paper, sections: Mapping[str, str]) -> str:
    """Return the page of a paper with these sections, by the names of their exhibits."""
    head = [f"# {paper.title}", paper.source, paper.remarks]
    names = [name_of(paper, exhibit) for exhibit in paper.exhibits]
    bodies = [f"<!-- exhibit {name} -->\n{sections[name]}\n<!-- end -->" for name in names if name in sections]
    return "\n\n".join([*(part for part in head if part), *bodies]) + "\n"


def index_text(sections: Mapping[str, str]) -> str:
    """Return the index, with the verdict and the summary of each section."""
    return "\n\n".join([_INDEX_HEAD, *(_index_part(paper, sections) for paper in PAPERS)]) + "\n"


def _index_part(paper: Paper, sections: Mapping[str, str]) -> str:
    rows = ["| exhibit | verdict | |", "| --- | --- | --- |", *_index_rows(paper, sections)]
    return "\n".join([f"## {paper.title}", "", *rows])


def _index_rows(paper: Paper, sections: Mapping[str, str]) -> Iterator[str]:
    for exhibit in paper.exhibits:
        found = _VERDICT.search(sections.get(name_of(paper, exhibit), ""))
        if found is not None:
            yield f"| [{exhibit.number}]({paper.name}.md#{exhibit.anchor}) | {found[1].lower()} | {found[2]} |"


_INDEX_HEAD = """# Evidence

With these pages you can check every table, figure and theorem of four papers that can be made without the clusters of
their authors, and our findings beyond the papers. `evidence/papers.py` makes all of them again, in some minutes, and
`evidence/papers.py forestcoll/table-1` makes one. `--largest 256` limits exhibits that grow with the number of nodes.
The program needs matplotlib: `pip install matplotlib`.

| verdict | meaning |
| --- | --- |
| same | all printed values are reached, and none is exceeded |
| better | all printed values are reached, and some are exceeded |
| differs | some values are not those of the paper, for the reason that is given |
| not had | the exhibit cannot be made here, for the reason that is given |

All numbers on these pages are made by the command. The exceptions are the printed values, which are copied from
the papers, and the published measurements in `evidence/published`. Times of schedules are simulated, because the
clusters are not here ([simulation](../simulation.md)). Computing times of models are estimated, not measured. Exhibits
with measured times of forestcoll say so. `tests/evidence` makes the exhibits again and compares them with the pages."""
