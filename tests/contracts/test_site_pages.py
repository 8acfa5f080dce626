"""The pages of the site that are made from registries and docstrings are complete."""

import re

import pytest

import forestcoll
from forestcoll.algorithms.method import methods
from forestcoll.cli.main import _COMMANDS
from forestcoll.demand.collective import SCHEDULED
from forestcoll.programs.targets.target import targets
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.registry import builders
from forestcoll.verification import rules
from forestcoll.verification.verifiers import VERIFIERS
from site_pages import names, registries
from site_pages.names import list_page, topic_pages, topics
from site_pages.outputs import rows_kept
from site_pages.project import commands_page


def headings(page: str) -> set[str]:
    return {name for line in re.findall(r"^##+ (.*)$", page, re.MULTILINE) for name in line.split(", ")}


def test_every_builder_method_and_format_has_a_section_with_its_parameters() -> None:
    for page, specs in (
        (registries.machines_page(), builders()),
        (registries.methods_page(), methods.all()),
        (registries.targets_page(), targets.all()),
    ):
        assert {spec.name for spec in specs} <= headings(page)
        assert all(f"| `{each.name}` | `" in page for spec in specs for each in spec.parameters)


def test_every_command_has_its_help() -> None:
    page = commands_page()
    assert all(f"### forestcoll {name}\n\n```text\nUsage: forestcoll {name} " in page for name in _COMMANDS)


def test_every_rule_has_a_line() -> None:
    page = registries.rules_page()
    for kind in (*SCHEDULED, *(each.kind for each in VERIFIERS if each is not TreeSchedule)):
        assert all(f"| `{name}` | {statement} |" in page for name, statement in rules(kind))


def test_every_public_name_is_in_one_topic_with_a_summary() -> None:
    listed, page = [name for topic in topics() for name in topic.names], list_page()
    assert len({name.defined for name in listed}) == len(listed)
    assert all(name.summary and name.defined in page for name in listed)
    directives = re.findall(r"^::: (\S+)$", "\n".join(topic_pages().values()), re.MULTILINE)
    assert sorted(directives) == sorted(name.defined for name in listed)
    offered = {name.public.removeprefix("forestcoll.") for name in listed}
    assert {
        name for name in dir(forestcoll) if name not in {room for topic in topics() for room in topic.rooms}
    } <= offered


def test_a_name_outside_the_topics_stops_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_imports", lambda *_: iter([("forestcoll.base.errors", "InputError")]))
    with pytest.raises(ValueError, match="above the first topic"):
        topics.__wrapped__()


def test_rows_of_tables_in_code_blocks_are_kept_whole_and_sentences_are_not() -> None:
    lines = [
        "size  X  time",
        "<span>1</span>MiB  5  2.5 us",
        "  algbw    a sentence  ",
        "<span>a  b  c",
        "d  e  f</span>",
    ]
    made = rows_kept("<p>a  b  c</p><pre><span></span><code>" + "\n".join(lines) + "</code></pre>")
    assert re.findall(r'<span class="row">(.*)</span>', made) == lines[:2]
    assert re.sub(r'<span class="row">(.*)</span>', r"\1", made).endswith("\n".join(lines) + "</code></pre>")
