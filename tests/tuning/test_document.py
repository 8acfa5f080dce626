"""The program in docs/tuning.md runs, and the example for MSCCL++ with a stand-in for the library."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from forestcoll.presentation.results.programs.tuning_folder import write_tuning
from forestcoll.tuning.tune import tune

ROOT = Path(__file__).parents[2]
DOCUMENT, EXAMPLE = ROOT / "docs" / "tuning.md", ROOT / "examples" / "mscclpp_tuned.py"


def test_the_example_writes_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert '"ring:nodes=4"' in program
    exec(program.replace("ring:nodes=4", "dgx-a100:boxes=1,gpus=2"), {})  # noqa: S102 (our own example, but faster)
    ranges = json.loads(Path("ring/manifest.json").read_text())["ranges"]
    assert len(capsys.readouterr().out.splitlines()) == len(ranges)


class Library:
    """Records what is registered."""

    def __init__(self) -> None:
        self.plans: list[str] = []
        self.selector: Any = None
        builder = SimpleNamespace(
            add_algorithm_builder=lambda algorithm: self.plans.append(algorithm["id"]),
            set_algorithm_selector=lambda function: setattr(self, "selector", function),
        )
        algorithm = mock.Mock(side_effect=lambda **given: given)
        self.ext = SimpleNamespace(AlgorithmCollectionBuilder=lambda: builder)
        types = SimpleNamespace(float16=1, bfloat16=2, float32=3, int32=4, uint32=5)
        self.module = SimpleNamespace(
            Algorithm=algorithm, ExecutionPlan=lambda file, rank: (file, rank), ext=self.ext, DataType=types
        )


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_mscclpp_gets_the_plan_of_each_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collective: str) -> None:
    monkeypatch.chdir(tmp_path)
    found = tune("dgx-a100:boxes=1,gpus=4", collective, [2**12, 2**28])
    write_tuning(found, "tuned")
    library = Library()
    names: dict[str, Any] = {}
    with mock.patch.dict(sys.modules, {"mscclpp": library.module, "mscclpp.ext": library.ext}):
        exec(EXAMPLE.read_text(), names)  # noqa: S102 (our own example)
        names["register"](0)
    known = {name: name for name in library.plans}
    assert len(known) == len(found.ranges)
    for each in found.ranges:
        size = 1 << each.most.bit_length() - 1
        part = size // 4 if collective == "allgather" else size
        request = SimpleNamespace(
            collective=collective.replace("-", ""),
            world_size=4,
            rank=0,
            message_size=part,
            dtype=1,
            input_buffer=0,
            output_buffer=0 if collective == "allreduce" else 8,
        )
        chosen = library.selector({request.collective: known}, request)
        if each.least <= size:
            assert chosen.rpartition(" ")[0].endswith(f" {each.least}-{each.most}")
        request.message_size = part + 4
        assert library.selector({request.collective: known}, request) is None
        request.message_size, request.output_buffer = part, 8 - request.output_buffer
        assert library.selector({request.collective: known}, request) is None
