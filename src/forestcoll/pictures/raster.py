"""PNG files of SVG pictures, drawn by the library resvg, which is part of the extra `pictures`."""

from importlib import util

from forestcoll.errors import InputError

_ZOOM = 2


def check_png() -> None:
    """Check that pictures can be drawn as PNG.

    Raises:
        InputError: resvg-py is not installed.
    """
    if util.find_spec("resvg_py") is None:
        raise InputError("resvg-py, which draws PNG files, is not installed; run: pip install 'forestcoll[pictures]'")


def png_of(svg: str) -> bytes:
    """Return a picture as PNG, in light colours and with two pixels for each unit of length.

    Texts are drawn in DejaVu Sans, which matplotlib brings with it; without matplotlib, in a font of the system.

    Args:
        svg: the text of an `svg` element.

    Raises:
        InputError: resvg-py is not installed.
    """
    check_png()
    import resvg_py

    fonts = _font_folders()
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=_ZOOM,
            font_dirs=fonts,
            skip_system_fonts=bool(fonts),
            font_family="DejaVu Sans",
            sans_serif_family="DejaVu Sans",
        )
    )


def _font_folders() -> list[str]:
    if util.find_spec("matplotlib") is None:
        return []
    from matplotlib import get_data_path

    return [f"{get_data_path()}/fonts/ttf"]
