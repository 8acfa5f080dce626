"""Masks: what differs between two runs of the same build, and why it must be left out of a comparison."""

import re
from dataclasses import dataclass

from recording.running import PREFIX


@dataclass(frozen=True)
class Mask:
    """A part of an output that is replaced before outputs are compared.

    Attributes:
        text: what stands in its place.
        why: why it differs.
        pattern: what is replaced.
        within: only what lies in matches of this pattern is replaced; None for the whole text.
    """

    text: str
    why: str
    pattern: re.Pattern[str]
    within: re.Pattern[str] | None = None

    def over(self, text: str) -> str:
        """Return the text with the mask over it."""
        if self.within is None:
            return self.pattern.sub(self.text, text)
        return self.within.sub(lambda found: self.pattern.sub(self.text, found[0]), text)


NOTE_OF_TIME = r"^forestcoll: note: .*: (?:[\d,]+ of [\d,]+ after )?\d+ s(?:, about .* at this rate)?\n?"
_NUMBER = r"\d[\d.]*(?:e-\d+)?"

MASKS: tuple[Mask, ...] = (
    Mask(
        "<seconds>",
        "the time of each stage of a run, in its report",
        re.compile(rf"(?<= ){_NUMBER}(?= s\b)"),
        within=re.compile(rf"^  (?:run )?time +[a-z](?:[^,\n]+ {_NUMBER} s(?:, |$))+", re.MULTILINE),
    ),
    Mask(
        "<seconds>",
        "the time of each stage of a run, in JSON",
        re.compile(rf"(?<=: ){_NUMBER}(?=,?$)", re.MULTILINE),
        within=re.compile(r'"seconds": \{[^{}]*\}'),
    ),
    Mask(
        " <measured>",
        "the times and rates of a row of bench, and their widths",
        re.compile(r" +\d[\d.]*%?(?= |$)"),
        within=re.compile(r"(?<= sum     -1 ).*engine/\w+ *$", re.MULTILINE),
    ),
    Mask(
        "",
        "notes that say how far a long stage is",
        re.compile(rf"^--- standard error\n(?:{NOTE_OF_TIME})+\Z|{NOTE_OF_TIME}", re.MULTILINE),
    ),
    Mask("<measured>", "the mean of the rates of bench", re.compile(r"(?<=# Avg bus bandwidth    : )[\d.]+")),
    Mask("<folder>", "the temporary folder of a job", re.compile(rf"(?:/[\w.-]+)*/{PREFIX}\w+/folder")),
    Mask(" at <address>", "the place of a value in memory, in its repr", re.compile(r" at 0x[0-9a-f]+")),
    Mask("", "the module of a name, which is what may change", re.compile(r"\bforestcoll\.(?:\w+\.)+(?=[A-Za-z_])")),
)
"""All masks, in the order in which they are applied."""


def masked(content: str | bytes) -> bytes:
    """Return an output with all masks over it. Files that are no text have none."""
    if isinstance(content, str):
        return _masked_text(content)
    try:
        return _masked_text(content.decode())
    except UnicodeDecodeError:
        return content


def _masked_text(text: str) -> bytes:
    for mask in MASKS:
        text = mask.over(text)
    return text.encode("utf-8", "backslashreplace")
