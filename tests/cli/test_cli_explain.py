from pathlib import Path

import pytest
from cli_run import run_command

LOG = Path(__file__).parents[2] / "examples" / "nccl-tests.log"


def test_the_json_of_a_log() -> None:
    document = run_command("explain", "dgx-a100:boxes=2", "--measured", str(LOG), "--json").document()
    tests = document["tests"]
    assert isinstance(tests, list)
    (test,) = tests
    assert (test["collective"], test["ranks"], test["bound_algbw"]) == ("allgather", 16, "1040/3")
    assert (test["bound_busbw"], test["ring_algbw"], test["verdict"]) == ("325", "640/3", "normal for rings")
    assert test["best"] == {"size": 4294967296, "algbw": 187.970139, "share": 0.542222}
    assert test["rows"][-1]["out_of_place"]["share"] == 0.542222
    assert test["limiting_links"][0] == {"links": 1, "bandwidth": "300", "between": ["GPU", "box switch"]}


def test_the_page_of_a_log(tmp_path: Path) -> None:
    broken = LOG.read_text().replace("# Out of", "  8589934592 2147483648 float none -1 457 18\n# Out of")
    (tmp_path / "log").write_text(broken)
    run = run_command("explain", "dgx-a100:boxes=2", "--measured", str(tmp_path / "log"))
    assert run.status == 0
    lines = run.out.splitlines()
    assert lines[1] == "allgather over 16 ranks (line 25):"
    assert "  NCCL's rings  at most algbw 640/3 GB/s (213.333); the best is 88.11% of it" in lines
    assert any(line.startswith("  verdict       normal for rings") for line in lines)
    assert any("Line 32 was skipped: has 7 columns" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["dgx-a100:boxes=2"], 2, "Missing option '--measured'"),
        (["dgx-a100:boxes=2", "--measured", "no.log"], 1, "no.log: no such file"),
        (["dgx-a100:boxes=4", "--measured", str(LOG)], 1, "ran on 16 ranks, and dgx-a100:boxes=4 has 32"),
        (["dgx-a100:boxes=2", "--measured", __file__], 1, "has no row of nccl-tests or rccl-tests"),
        (["dgx-a100:boxes=2", "--measured", str(LOG), "--collective", "x"], 2, "there is no collective 'x'"),
        (["nowhere", "--measured", str(LOG)], 1, "no such builder or file"),
    ],
)
def test_wrong_input_is_refused_in_one_line(words: list[str], status: int, said: str) -> None:
    assert said in run_command("explain", *words).error_line(status)
