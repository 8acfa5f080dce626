import sys
from types import ModuleType

import pytest

from forestcoll.base.display import Displayed
from forestcoll.topology.registry import build_topology


class Value(Displayed):
    pass


def stand_in(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("forestcoll.presentation.html")
    module.__dict__["html_of"] = lambda value: f"<b>{type(value).__name__}</b>"
    monkeypatch.setitem(sys.modules, "forestcoll.presentation", ModuleType("forestcoll.presentation"))
    monkeypatch.setitem(sys.modules, "forestcoll.presentation.html", module)
    return module


def test_a_notebook_shows_the_html_of_the_presentation_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch)
    assert Value()._repr_html_() == "<b>Value</b>"
    assert build_topology("ring")._repr_html_() == "<b>Topology</b>"


@pytest.mark.parametrize("absent", ["forestcoll.presentation", "forestcoll.presentation.html"])
def test_without_a_presentation_layer_the_repr_is_shown(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    stand_in(monkeypatch)

    def refuse(_: str) -> ModuleType:
        raise ModuleNotFoundError(name=absent)

    monkeypatch.setattr("forestcoll.base.display.importlib.import_module", refuse)
    assert Value()._repr_html_() is None


def test_a_missing_import_of_the_presentation_layer_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: str) -> ModuleType:
        raise ModuleNotFoundError("No module named 'numpy'", name="numpy")

    monkeypatch.setattr("forestcoll.base.display.importlib.import_module", refuse)
    with pytest.raises(ModuleNotFoundError, match="numpy"):
        Value()._repr_html_()
