"""The colours of pictures: one scale for loads, and the styles of the other parts in light and dark.

The scale is cividis (Nuñez, Anderton, Renslow: *Optimizing colormaps with consideration for color vision deficiency*,
PLOS ONE 2018): its lightness is uniform, so that it reads in greyscale, and it looks nearly the same to people with a
colour vision deficiency. On a light page, a dark colour means a busy link; on a dark page, the scale is reversed. A
thin line on both sides of a link, the casing, keeps both ends of the scale visible.
"""

from collections.abc import Mapping

_STOPS = (
    (0x00, 0x22, 0x4E),
    (0x12, 0x35, 0x70),
    (0x3B, 0x49, 0x6C),
    (0x57, 0x5D, 0x6D),
    (0x70, 0x71, 0x73),
    (0x8A, 0x86, 0x78),
    (0xA5, 0x9C, 0x74),
    (0xC3, 0xB3, 0x69),
    (0xE1, 0xCC, 0x55),
    (0xFE, 0xE8, 0x38),
)
"""Ten stops of cividis at equal distances, from dark to light."""


_LEVELS = 20
"""The number of steps of the scale."""


def load_class(part: float) -> str:
    """Return the class of CSS that has the colour of a load.

    Args:
        part: from 0 to 1; other values count as the nearer end.

    Example:
        >>> load_class(0), load_class(0.5), load_class(1)
        ('l0', 'l10', 'l20')
    """
    return f"l{round(min(max(part, 0.0), 1.0) * _LEVELS)}"


def text_class(part: float) -> str:
    """Return the class of a text that is readable on the colour of a load."""
    if 0.35 < part < 0.65:
        return "on-middle"
    return "on-busy" if part > 0.5 else "on-idle"


def _colour(place: float) -> str:
    """Return the colour at a place of the scale, from 0, which is dark, to 1, which is light."""
    low = min(int(place * (len(_STOPS) - 1)), len(_STOPS) - 2)
    rest = place * (len(_STOPS) - 1) - low
    mixed = (round(a + (b - a) * rest) for a, b in zip(_STOPS[low], _STOPS[low + 1], strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _scale_rules(*, is_dark: bool) -> list[str]:
    """Return the rules of the scale: a busy link has the end of the scale that differs most from the page."""
    places = ((level, level / _LEVELS if is_dark else 1 - level / _LEVELS) for level in range(_LEVELS + 1))
    return [f".l{level}{{stroke:{_colour(place)};fill:{_colour(place)}}}" for level, place in places]


_LIGHT = {
    "ink": "#1b1f24",
    "quiet": "#57606a",
    "paper": "#ffffff",
    "frame": "#f3f5f7",
    "frame-line": "#8c959f",
    "wire": "#8c959f",
    "compute": "#dbe9f9",
    "compute-line": "#1f5fa8",
    "switch": "#e4e2df",
    "switch-line": "#5c5852",
    "cut": "#c2410c",
    "cut-fill": "#fdebe1",
    "casing": "#3a4048",
    "on-busy": "#ffffff",
    "on-idle": "#111111",
}
_DARK = {
    "ink": "#e8eaed",
    "quiet": "#a5adb7",
    "paper": "#14171b",
    "frame": "#1f242a",
    "frame-line": "#6e7781",
    "wire": "#77808a",
    "compute": "#1d3a5f",
    "compute-line": "#8ab8ee",
    "switch": "#3b3935",
    "switch-line": "#b9b3aa",
    "cut": "#ff9a5c",
    "cut-fill": "#47291a",
    "casing": "#aab2bc",
    "on-busy": "#111111",
    "on-idle": "#ffffff",
}
_RULES = """
text{{fill:{ink};font-family:"Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif}}
.quiet{{fill:{quiet}}}
.paper{{fill:{paper}}}
.frame{{fill:{frame};stroke:{frame-line}}}
.wire{{stroke:{wire};fill:none}}
.casing{{stroke:{casing};fill:none}}
.load{{fill:none}}
.head{{stroke:{casing}}}
.arrow{{fill:{wire};stroke:{casing}}}
.compute{{fill:{compute};stroke:{compute-line}}}
.switch{{fill:{switch};stroke:{switch-line}}}
.shaded{{fill:{cut-fill};stroke:{cut}}}
.crossing{{stroke:{cut};fill:none}}
.cut-text{{fill:{cut}}}
.halo{{stroke:{paper};fill:none}}
.scale{{stroke:{frame-line};fill:none}}
.on-busy{{fill:{on-busy}}}
.on-idle{{fill:{on-idle}}}
.on-middle{{fill:#111111}}
"""


def style(scope: str = ".forestcoll-svg") -> str:
    """Return the rules of CSS for all pictures: light, and dark where the reader prefers that.

    Args:
        scope: the selector of the pictures that the rules apply to.

    Example:
        >>> "@media (prefers-color-scheme:dark)" in style()
        True
    """
    light, dark = (
        "".join(f"{scope} {rule}" for rule in [*_scale_rules(is_dark=is_dark), *_rules(colours)])
        for colours, is_dark in ((_LIGHT, False), (_DARK, True))
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"


def _rules(colours: Mapping[str, str]) -> list[str]:
    return _RULES.format(**colours).strip().splitlines()
