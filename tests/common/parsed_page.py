"""Pages in HTML, read and checked."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img", "hr"}


class Page(HTMLParser):
    """Reads a page: elements are closed where they must be, ids differ, and pictures have names."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self.feed(page)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))
        assert all(attributes.get("aria-label") for tag, attributes in self.tags if tag == "svg")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"h1", "h2", "h3"}:
            self.headings.append((int(self.open[-1][1]), data))
        if "script" not in self.open and "style" not in self.open:
            self.texts.append(data)

    @property
    def ids(self) -> list[str | None]:
        """The ids of all elements."""
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    @property
    def text(self) -> str:
        """The text outside scripts and styles."""
        return " ".join(" ".join(self.texts).split())
