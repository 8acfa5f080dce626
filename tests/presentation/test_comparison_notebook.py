"""A comparison in a notebook."""

import re

from forestcoll import compare


def test_a_notebook_shows_the_answer_the_table_and_a_chart() -> None:
    shown = compare("dgx-a100:boxes=2", baselines=["nccl-ring"], sizes=[2**20])._repr_html_()
    assert shown is not None
    assert "is 1.62 times as fast as NCCL&#x27;s rings" in shown
    assert "<table" in shown
    assert "61.53%" in shown
    assert shown.count("<svg") == 1
    assert "15/16 M where 1/2 M would do" in shown
    assert not re.search(r"(?:src|href)=", shown)
    assert len(shown) < 20_000
