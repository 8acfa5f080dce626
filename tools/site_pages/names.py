"""The public names by topic: a page that lists all, and a page for each topic with the docstrings.

`src/forestcoll/__init__.pyi` has the topics as comments above its names: `# Title (rooms): sentence.` The rooms are the
namespaces whose names belong to the topic. Each public name is in one topic, and each namespace too; the site is not
built otherwise.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from site_pages import ROOT, page, table

SOURCE = ROOT / "src"
_INTRODUCTION = (
    "All public names by topic. A name leads to its signature, its docstring and an example. Names without a namespace "
    "are offered by `import forestcoll`; [Python](python.md) shows how they are used together."
)
_TOPIC = re.compile(r"# ([^(]+?)(?: \(([a-z_, ]+)\))?: (.+)")


@dataclass(frozen=True)
class Name:
    """A public name: where a user finds it, where it is defined, and the first line of its docstring."""

    public: str
    defined: str
    summary: str


@dataclass
class Topic:
    """Public names about one thing: those of `forestcoll`, and those of namespaces."""

    title: str
    sentence: str
    rooms: tuple[str, ...]
    names: list[Name] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The page with its docstrings."""
        return f"api/{self.title.lower().replace(' ', '-')}.md"


@cache
def topics() -> list[Topic]:
    """Return the topics with their names.

    Raises:
        ValueError: a name or a namespace is in no topic, or in two.
    """
    found: list[Topic] = []
    stub = (SOURCE / "forestcoll/__init__.pyi").read_text(encoding="utf-8")
    for line in stub.partition("# isort: off\n")[2].splitlines():
        if (head := _TOPIC.fullmatch(line)) is not None:
            found.append(Topic(head[1], head[3], tuple(filter(None, (head[2] or "").split(", ")))))
        for _, name in _imports(ast.parse(line), "forestcoll"):
            if not found:
                raise ValueError(f"forestcoll.{name} is above the first topic of __init__.pyi; move it below one")
            if not (SOURCE / "forestcoll" / name / "__init__.py").is_file():
                found[-1].names.append(_named("forestcoll", name))
    known = {name.defined for topic in found for name in topic.names}
    for topic in found:
        for room in topic.rooms:
            names = [_named(f"forestcoll.{room}", name) for name in _declared(f"forestcoll.{room}")]
            topic.names += [name for name in names if name.defined not in known]
    _check(found)
    return found


def _check(found: list[Topic]) -> None:
    rooms = Counter(room for topic in found for room in topic.rooms)
    namespaces = {path.parent.name for path in (SOURCE / "forestcoll").glob("*/__init__.py")}
    public = {room for room in namespaces - {"cli"} if _declared(f"forestcoll.{room}")}
    if wrong := sorted((public ^ rooms.keys()) | {room for room, count in rooms.items() if count > 1}):
        raise ValueError(f"each namespace is in one topic of __init__.pyi, but not {', '.join(wrong)}")
    names = Counter(name.defined for topic in found for name in topic.names)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise ValueError(f"each public name is in one topic, but not {', '.join(twice)}")


def _file(module: str) -> Path:
    """Return the file that has the names of a module: the stub of a package, if it has one."""
    path = SOURCE.joinpath(*module.split("."))
    if not path.is_dir():
        return path.with_suffix(".py")
    return path / ("__init__.pyi" if (path / "__init__.pyi").is_file() else "__init__.py")


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of each import from a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = f"{package}.{node.module or ''}".rstrip(".") if node.level else node.module or ""
            yield from ((module, each.asname or each.name) for each in node.names)


def _declared(module: str) -> list[str]:
    """Return the public names of a package, in the order in which it declares them."""
    path = _file(module)
    if path.suffix == ".pyi":
        return [name for _, name in _imports(_parsed(path), module)]
    for node in _parsed(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def _named(module: str, name: str) -> Name:
    """Return a public name of a package."""
    defined, summary = _definition(module, name)
    return Name(f"{module}.{name}", defined, summary)


def _definition(module: str, name: str) -> tuple[str, str]:
    """Return where a name is defined, and the first line of its docstring."""
    path = _file(module)
    body = list(_statements(_parsed(path).body))
    for node, following in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name and not _is_overload(node):
            return f"{module}.{name}", (ast.get_docstring(node) or "").partition("\n")[0]
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _targets(node):
            text = following.value if isinstance(following, ast.Expr) else None
            told = text.value if isinstance(text, ast.Constant) else ""
            return f"{module}.{name}", str(told).partition("\n")[0]
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for source, each in _imports(_parsed(path), package):
        if each == name:
            return _definition(source, name)
    raise ValueError(f"{module} has no {name}")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module, also those of its conditions."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        else:
            yield node


def _is_overload(node: ast.ClassDef | ast.FunctionDef) -> bool:
    return any(ast.unparse(each) == "overload" for each in node.decorator_list)


def _targets(node: ast.Assign | ast.AnnAssign) -> list[str]:
    return [ast.unparse(each) for each in (node.targets if isinstance(node, ast.Assign) else [node.target])]


def list_page() -> str:
    """Return the page that lists all names with the first line of each docstring."""
    parts = ["# Python names", _INTRODUCTION]
    for topic in topics():
        rows = [
            (f"[`{name.public.removeprefix('forestcoll.')}`][{name.defined}]", name.summary) for name in topic.names
        ]
        parts += [f"## {topic.title}", topic.sentence, table(("name", "what it is"), rows)]
    return page(*parts)


def topic_pages() -> dict[str, str]:
    """Return the page of each topic, with directives that show the docstrings."""
    pages = {}
    for topic in topics():
        parts = [f"# {topic.title}", topic.sentence]
        for place in dict.fromkeys(name.public.rpartition(".")[0] for name in topic.names):
            names = [name for name in topic.names if name.public.rpartition(".")[0] == place]
            parts += [f"## Names of `{place}`", *(f"::: {name.defined}" for name in names)]
        pages[topic.file] = page(*parts)
    return pages
