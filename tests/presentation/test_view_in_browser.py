"""The script of a page in a real browser, without a display. The tests are skipped where no browser is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.presentation.view import view

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")

pytestmark = pytest.mark.skipif(not BROWSER, reason="no chromium is installed")

PROBE = """<script>
const result = [];
const figure = document.querySelector("figure.player");
const state = function () {
  const shown = figure.querySelectorAll("[data-wire]:not([display])").length;
  result.push(figure.querySelector(".state").textContent + "|" + shown);
};
state();
figure.querySelector(".next").click(); state();
figure.querySelector(".next").click(); state();
const choice = figure.querySelector(".story");
choice.value = "3"; choice.dispatchEvent(new Event("change")); state();
result.push(figure.querySelector("[data-name]").textContent);
const marks = document.querySelectorAll("svg .marks > g");
marks[0].dispatchEvent(new Event("pointerover", { bubbles: true }));
result.push(document.getElementById("details").textContent);
marks[0].focus();
marks[0].dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
result.push(document.activeElement.getAttribute("aria-label"));
document.title = result.join(";");
</script>"""


def dumped(page: str, tmp_path: Path, *more: str) -> tuple[str, str]:
    """Return the document after its scripts have run, and the messages of the browser."""
    path = tmp_path / "page.html"
    path.write_text(page)
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path}"]
    run = subprocess.run(  # noqa: S603 (the browser)
        [BROWSER, *options, *more, "--dump-dom", path.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    return run.stdout, "\n".join(line for line in run.stderr.splitlines() if "CONSOLE" in line)


def test_controls_and_keys_work_without_errors(tmp_path: Path) -> None:
    page = view(generate("ring:nodes=4")).html().replace("</body>", f"{PROBE}</body>")
    shown, messages = dumped(page, tmp_path)
    assert messages == ""
    assert shown.partition("<title>")[2].partition("</title>")[0].split(";") == [
        "2 sends one after the other|3",
        "send 1 of 2|2",
        "2 sends one after the other|3",
        "2 sends one after the other|3",
        "tree 4 of 8, root 2, 1/8 of the data",
        "0: compute node, 2 GB/s out",
        "1: compute node, 2 GB/s out",
    ]


def test_on_a_narrow_screen_a_picture_keeps_its_size_and_scrolls(tmp_path: Path) -> None:
    probe = """<script>
    const box = document.querySelector(".scroll"), picture = box.querySelector("svg");
    const widths = [picture.getBoundingClientRect().width, picture.getAttribute("width"), box.clientWidth];
    document.title = [...widths, document.documentElement.scrollWidth].map(Math.round).join(";");
    </script>"""
    page = view("dgx-a100:boxes=2").html().replace("</body>", f"{probe}</body>")
    shown, messages = dumped(page, tmp_path, "--window-size=500,900")
    assert messages == ""
    drawn, natural, room, whole = map(int, shown.partition("<title>")[2].partition("</title>")[0].split(";"))
    assert drawn == natural > room
    assert whole <= 500
