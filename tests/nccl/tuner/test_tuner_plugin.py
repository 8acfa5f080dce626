"""The tuner plugin: it is compiled, and called as NCCL calls it, by ctypes."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TypeAlias

import pytest

from forestcoll.nccl.choice.table import ALGORITHMS, PROTOCOLS

IGNORED = -1.0
"""What NCCL writes into its table for an entry that it has switched off."""

OWN_CHANNELS = 0
"""The number of channels before a tuner is called: NCCL's own."""

ALLGATHER, ALLREDUCE = 2, 4

LOGGER = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, *[ctypes.c_void_p] * 6
)


class Plugin(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("init", ctypes.c_void_p),
        ("get_coll_info", ctypes.c_void_p),
        ("destroy", ctypes.c_void_p),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    source = files("forestcoll.nccl.tuner").joinpath("tuner.c")
    path = tmp_path_factory.mktemp("plugin") / "libnccl-tuner-forestcoll.so"
    words = [compiler, "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-o", str(path), str(source)]
    subprocess.run(words, check=True)  # noqa: S603 (fixed words)
    return ctypes.CDLL(str(path))


class Tuner:
    """A communicator with the plugin."""

    def __init__(self, library: ctypes.CDLL, version: int, hosts: int, ranks: int) -> None:
        self.plugin = Plugin.in_dll(library, f"ncclTunerPlugin_v{version}")
        self.lines: list[str] = []
        self.logger = LOGGER(self._log)
        self.context = ctypes.c_void_p()
        context, of_ranks, of_hosts = ctypes.byref(self.context), ctypes.c_size_t(ranks), ctypes.c_size_t(hosts)
        init = ctypes.CFUNCTYPE(ctypes.c_int)(self.plugin.init)
        if version == 4:
            status = init(of_ranks, of_hosts, self.logger, context)
        else:
            status = init(context, ctypes.c_uint64(1), of_ranks, of_hosts, self.logger, None, None)
        assert status == 0

    def _log(self, level: int, _: int, file: bytes, line: int, text: bytes, *values: int) -> None:
        assert file
        assert line > 0
        self.lines.append(f"{level} {text.decode()}")
        if b"%s:%d: %s" in text:  # a line that is not understood
            number, fault = values[1], ctypes.cast(values[2], ctypes.c_char_p).value or b""
            self.lines[-1] = f"line {number & 0xFFFFFFFF}: {fault.decode()}"

    def chosen(
        self, collective: int, size: int, *, ignored: tuple[tuple[str, str], ...] = (), operations: int = 1
    ) -> tuple[tuple[str, str] | None, int]:
        """Return the setting whose cost the plugin has made 0, and the number of channels."""
        table = (ctypes.c_float * (len(ALGORITHMS) * len(PROTOCOLS)))(*[5.0] * 21)
        settings = list(product(ALGORITHMS, PROTOCOLS))
        for each in ignored:
            table[settings.index(each)] = IGNORED
        before, channels = list(table), ctypes.c_int(OWN_CHANNELS)
        call = ctypes.CFUNCTYPE(ctypes.c_int)(self.plugin.get_coll_info)
        numbers = ctypes.c_int(len(ALGORITHMS)), ctypes.c_int(len(PROTOCOLS)), ctypes.c_int(0)
        asked = ctypes.c_int(collective), ctypes.c_size_t(size), ctypes.c_int(operations)
        assert call(self.context, *asked, table, *numbers, ctypes.byref(channels)) == 0
        changed = [place for place in range(21) if table[place] != before[place]]
        assert len(changed) <= 1
        assert all(table[place] == 0 for place in changed)
        return (settings[changed[0]] if changed else None), channels.value

    def destroy(self) -> None:
        assert ctypes.CFUNCTYPE(ctypes.c_int)(self.plugin.destroy)(self.context) == 0


Start: TypeAlias = Callable[..., Tuner]
"""Returns a communicator with a file of this text; without a file if it is None."""


@pytest.fixture(params=[4, 5, 6])
def tuner_of(
    request: pytest.FixtureRequest, library: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Start]:
    made: list[Tuner] = []

    def start(text: str | None, hosts: int = 4, ranks: int = 32) -> Tuner:
        path = tmp_path / "tuner.csv"
        if text is not None:
            path.write_text(text)
        monkeypatch.setenv("NCCL_TUNER_CONFIG_FILE", str(path))
        made.append(Tuner(library, request.param, hosts, ranks))
        return made[-1]

    yield start
    for each in made:
        each.destroy()


RULES = """# a comment

allreduce,0,4096,tree,ll,0,4,32
AllReduce , 4097 , 18446744073709551615 , Ring , SIMPLE , 12 , -1 , -1
allgather,0,1024,ring,ll,-1,-1,-1
"""


def test_rules_are_applied(tuner_of: Start) -> None:
    tuner = tuner_of(RULES)
    assert tuner.chosen(ALLREDUCE, 0) == (("TREE", "LL"), OWN_CHANNELS)
    assert tuner.chosen(ALLREDUCE, 4096) == (("TREE", "LL"), OWN_CHANNELS)
    assert tuner.chosen(ALLREDUCE, 4097) == (("RING", "SIMPLE"), 12)
    assert tuner.chosen(ALLREDUCE, 2**40) == (("RING", "SIMPLE"), 12)
    assert tuner.chosen(ALLGATHER, 1024) == (("RING", "LL"), OWN_CHANNELS)
    assert not [line for line in tuner.lines if line.startswith("line")]


def test_what_has_no_rule_is_left_to_nccl(tuner_of: Start) -> None:
    tuner = tuner_of(RULES)
    assert tuner.chosen(ALLGATHER, 1025) == (None, OWN_CHANNELS)
    assert tuner.chosen(0, 1024) == (None, OWN_CHANNELS)
    assert tuner.chosen(ALLREDUCE, 64, operations=0) == (None, OWN_CHANNELS)


def test_rules_are_for_their_communicators_only(tuner_of: Start) -> None:
    tuner = tuner_of(RULES, hosts=2, ranks=16)
    assert tuner.chosen(ALLREDUCE, 64) == (None, OWN_CHANNELS)
    assert tuner.chosen(ALLREDUCE, 5000) == (("RING", "SIMPLE"), 12)


def test_what_nccl_has_switched_off_stays_off(tuner_of: Start) -> None:
    tuner = tuner_of("allreduce,0,4096,tree,ll128,3,-1,-1\nallreduce,0,4096,ring,ll,2,-1,-1\n")
    assert tuner.chosen(ALLREDUCE, 64) == (("TREE", "LL128"), 3)
    assert tuner.chosen(ALLREDUCE, 64, ignored=(("TREE", "LL128"),)) == (("RING", "LL"), 2)
    assert tuner.chosen(ALLREDUCE, 64, ignored=(("TREE", "LL128"), ("RING", "LL"))) == (None, OWN_CHANNELS)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("alreduce,0,4096,tree,ll,0,-1,-1", "unknown collective"),
        ("allreduce,0,4096,quick,ll,0,-1,-1", "unknown algorithm"),
        ("allreduce,0,4096,tree,warp,0,-1,-1", "unknown protocol"),
        ("allreduce,0,4096,tree,ll,128,-1,-1", "channels must be -1 to 64"),
        ("allreduce,0,4096,tree,ll,-2,-1,-1", "channels must be -1 to 64"),
        ("allreduce,0,4096,tree,ll,1x,-1,-1", "channels must be -1 to 64"),
        ("allreduce,-5,4096,tree,ll,0,-1,-1", "bytes are no whole number"),
        ("allreduce,0,99999999999999999999,tree,ll,0,-1,-1", "bytes are no whole number"),
        ("allreduce,9,8,tree,ll,0,-1,-1", "the least bytes are more than the most"),
        ("allreduce,0,4096,tree,ll,0,0,-1", "hosts must be -1, or 1 or more"),
        ("allreduce,0,4096,tree,ll,0,-1,", "ranks must be -1, or 1 or more"),
        ("allreduce,0,4096,tree,ll", "expected 8 fields"),
        ("allreduce,0,4096,tree,ll,0,-1,-1,-1", "expected 8 fields"),
        ("allreduce" + 250 * " " + ",0,4096,tree,ll,0,-1,-1", "the line is longer than 255 characters"),
    ],
)
def test_a_line_that_is_not_understood_is_no_rule(tuner_of: Start, line: str, fault: str) -> None:
    tuner = tuner_of(f"# the second line is wrong\n{line}\nallreduce,0,64,ring,ll,0,-1,-1")
    assert f"line 2: {fault}" in tuner.lines
    assert tuner.chosen(ALLREDUCE, 64) == (("RING", "LL"), OWN_CHANNELS)
    assert tuner.chosen(ALLREDUCE, 4096) == (None, OWN_CHANNELS)


def test_without_a_file_nccl_runs_without_rules(tuner_of: Start) -> None:
    tuner = tuner_of(None)
    assert tuner.chosen(ALLREDUCE, 64) == (None, OWN_CHANNELS)
    assert "cannot be read" in tuner.lines[0]
