"""The colours of pictures: one scale for loads, and the styles of the other parts in light and dark.

The scale is cividis (Nuñez, Anderton, Renslow: *Optimizing colormaps with consideration for color vision deficiency*,
PLOS ONE 2018): its lightness is uniform, so that it reads in greyscale, and it looks nearly the same to people with a
colour vision deficiency. A light colour means no load, a dark colour means a busy link. A thin line on both sides of a
link, the casing, keeps both ends of the scale visible on a light and on a dark page.
"""

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


def load_colour(part: float) -> str:
    """Return the colour of a load.

    Args:
        part: from 0, which is light, to 1, which is dark; other values count as the nearer end.

    Example:
        >>> load_colour(0), load_colour(1)
        ('#fee838', '#00224e')
    """
    place = (1 - min(max(part, 0.0), 1.0)) * (len(_STOPS) - 1)
    low = min(int(place), len(_STOPS) - 2)
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(_STOPS[low], _STOPS[low + 1], strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def text_on_load(part: float) -> str:
    """Return the colour of a text that is readable on the colour of a load."""
    return "#ffffff" if part > 0.5 else "#111111"


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
    "send": "#1f5fa8",
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
    "casing": "#d5dae0",
    "send": "#8ab8ee",
}
_RULES = """
text{{fill:{ink};font-family:"Helvetica Neue",Helvetica,Arial,"DejaVu Sans",sans-serif}}
.quiet{{fill:{quiet}}}
.paper{{fill:{paper}}}
.frame{{fill:{frame};stroke:{frame-line}}}
.wire{{stroke:{wire};fill:none}}
.casing{{stroke:{casing};fill:none}}
.load{{fill:none}}
.compute{{fill:{compute};stroke:{compute-line}}}
.switch{{fill:{switch};stroke:{switch-line}}}
.shaded{{fill:{cut-fill};stroke:{cut}}}
.crossing{{stroke:{cut};fill:none}}
.cut-text{{fill:{cut}}}
.halo{{stroke:{paper};fill:none}}
.tip{{fill:{ink}}}
.scale{{stroke:{frame-line}}}
"""


def style(scope: str = "svg.forestcoll") -> str:
    """Return the rules of CSS for all pictures: light, and dark where the reader prefers that.

    Args:
        scope: the selector of the pictures that the rules apply to.

    Example:
        >>> "@media (prefers-color-scheme:dark)" in style()
        True
    """
    light, dark = (_RULES.format(**colours).strip().splitlines() for colours in (_LIGHT, _DARK))
    shown = "".join(f"{scope} {rule}" for rule in light)
    return f"{shown}@media (prefers-color-scheme:dark){{{''.join(f'{scope} {rule}' for rule in dark)}}}"
