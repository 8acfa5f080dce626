import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.oneport.series.comparison import compare_series
from forestcoll.presentation.view import view, write_view
from forestcoll.presentation.view.pairs import side_by_side_svg
from forestcoll.presentation.view.view import with_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from parsed_page import Page

VALUES: dict[str, Callable[[], Topology | Schedule]] = {
    "network": lambda: build_topology("dgx-a100:boxes=2"),
    "trees": lambda: generate("dgx-h100:boxes=16"),
    "allreduce": lambda: generate("mi250:boxes=2", "allreduce"),
    "broadcast": lambda: generate("dgx-a100:boxes=2", "broadcast:root=3"),
    "steps": lambda: generate(build_topology("torus:dims=4x4"), method="bfb"),
    "series": lambda: compare_series(build_topology("ring:nodes=5"), 0).schedule(),
}


@pytest.mark.parametrize("name", VALUES)
def test_pages_are_complete_and_load_nothing_and_notebooks_show_a_small_picture(name: str) -> None:
    value = VALUES[name]()
    shown = value._repr_html_()
    assert shown is not None
    assert shown.count("<svg") == 1
    assert len(shown) < 200_000
    page = view(value).html()
    levels = [level for level, _ in Page(page).headings]
    assert levels[0] == 1
    assert set(levels[1:]) == {2}
    addresses = set(re.findall(r"https?://[^\"' <]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe)|\bsrc=|@import|url\(", page)
    assert len(page) < 400_000


def test_a_page_of_a_schedule_has_its_sends_and_controls() -> None:
    page = view(generate("dgx-a100:boxes=2")).html()
    assert page.count('class="player"') == 1
    assert "1040/3 GB/s (346.667), which is the bound: no schedule is faster." in page
    assert "GPU b0/gpu0 must receive 15/16 of the data from the other 15 GPUs." in page
    assert '"name":"tree 1 of 32, root b0/gpu0, 11/208 of the data"' in page
    page = view(generate(build_topology("ring:nodes=4"), method="bfb")).html()
    assert "Its algorithmic bandwidth for large data is 8/3 GB/s" in page


def test_the_end_of_the_name_selects_the_format(tmp_path: Path) -> None:
    found = view(build_topology("ring:nodes=4"))
    write_view(found, tmp_path / "ring.svg")
    write_view(found, tmp_path / "ring.html")
    assert (tmp_path / "ring.svg").read_text() == found.svg() + "\n"
    assert (tmp_path / "ring.html").read_text() == found.html()
    with pytest.raises(InputError, match=r"must end in one of \.html, \.svg, \.png, not '\.gif'"):
        write_view(found, tmp_path / "ring.gif")
    assert not (tmp_path / "ring.gif").exists()


def test_png_files_have_two_pixels_for_each_unit(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py", reason="resvg-py is not installed")
    write_view(view(build_topology("ring:nodes=4")), tmp_path / "ring.png")
    data = (tmp_path / "ring.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20]) == 2 * 520


def test_without_resvg_a_png_is_refused_before_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("forestcoll.presentation.pictures.raster.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"not installed; run: pip install 'forestcoll\[pictures\]'"):
        write_view(view(build_topology("ring:nodes=4")), tmp_path / "ring.png")


def test_two_schedules_are_drawn_side_by_side() -> None:
    one, other = generate("ring:nodes=4"), generate("ring:nodes=4", "broadcast:root=0")
    picture = side_by_side_svg(one, other, names=("first", "second"), shard=0)
    assert "first: 2.667 GB/s" in picture
    assert "second: 2 GB/s" in picture
    assert "Side by side" in with_schedule(view(one), "a", other, "b").html()


def test_a_network_has_no_schedule_next_to_it() -> None:
    with pytest.raises(InputError, match="name a schedule file first"):
        with_schedule(view(build_topology("ring:nodes=4")), "a", generate("ring:nodes=4"), "b")


def test_a_notebook_shows_a_wrong_schedule_without_a_picture() -> None:
    one_way = build_topology("circulant:nodes=5,offsets=1,one_way=true")
    shown = replace(generate("ring:nodes=5"), topology=one_way)._repr_html_()
    assert shown is not None
    assert "<svg" not in shown
