"""The version of the installed package."""

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("forestcoll")
    except metadata.PackageNotFoundError:
        return "0+source"  # run from a checkout that is not installed


__version__ = _installed()
"""As `pyproject.toml` states it."""
