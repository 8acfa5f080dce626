"""The pictures of the documents are what `tools/document_pictures.py` writes."""

from pathlib import Path

from document_pictures import pictures

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"


def test_the_committed_pictures_have_the_same_bytes() -> None:
    expected = dict(pictures())
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(expected)
    for name, content in expected.items():
        assert (FOLDER / name).read_text(encoding="utf-8") == content + "\n", (
            f"{name}: run `tools/document_pictures.py`"
        )


def test_documents_refer_to_each_picture() -> None:
    pages = "".join(page.read_text() for page in sorted(FOLDER.parent.glob("*.md")))
    for path in FOLDER.iterdir():
        assert f"(pictures/{path.name})" in pages
