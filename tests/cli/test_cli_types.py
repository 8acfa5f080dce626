"""The values of options: texts are read, other values are kept, and messages name the option."""

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_run import run_command

from forestcoll.cli.types import DataSize, ElementTypes, FileName, Reductions, Speed

if TYPE_CHECKING:
    import click


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (DataSize(), "2M", 2**21),
        (DataSize(), 5, 5),
        (FileName(), "a/b.json", Path("a/b.json")),
        (FileName(), Path("a"), Path("a")),
        (Speed(), "400Gb/s", Fraction(50)),
        (ElementTypes(), "bfloat16", "bfloat16"),
        (ElementTypes(), "all", "all"),
        (Reductions(), "avg", "avg"),
    ],
)
def test_a_text_is_read_and_any_other_value_is_kept(kind: "click.ParamType[Any]", text: object, value: object) -> None:
    assert kind.convert(text, None, None) == value


@pytest.mark.parametrize(
    ("words", "option", "reason"),
    [
        (["bench", "-d", "float128"], "'-d' / '--datatype'", "float128"),
        (["bench", "-o", "median"], "'-o' / '--op'", "median"),
        (["bench", "-b", "ten"], "'-b' / '--minbytes'", "ten"),
        (
            ["compare", "ring:nodes=4", "--collective", "broadcast"],
            "'--collective'",
            "is not supported by this command",
        ),
        (["import", "x.xml", "--nvlink", "0"], "'--nvlink'", "'0'; expected a bandwidth above 0"),
        (["import", "x.xml", "--nvlink", "fast"], "'--nvlink'", "fast"),
        (["import", "x.xml", "--format", "nccl"], "'--format'", "nccl"),
        (["verify", ""], "'FILE'", "the file name is empty; give a name"),
        (["generate", "ring", "--collective", "gathering"], "'--collective'", "gathering"),
    ],
)
def test_a_value_that_cannot_be_read_is_wrong_usage(words: list[str], option: str, reason: str) -> None:
    message = run_command(*words).error_line(status=2)
    assert message.startswith(f"Invalid value for {option}: ")
    assert reason in message
    assert message.endswith(f"(see forestcoll {words[0]} --help)")


def test_a_bench_needs_a_network() -> None:
    message = run_command("bench").error_line(status=2)
    assert message.startswith("no network; give --topology, --schedule, or FORESTCOLL_TOPOLOGY in the environment")
