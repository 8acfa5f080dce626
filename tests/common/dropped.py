"""A file that is dropped into a package of a registry, for the time of a test."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from forestcoll.base.registry import Registry


@contextmanager
def dropped_in(registry: Registry, name: str, text: str, folder: Path) -> Iterator[None]:
    """Let `registry` find a module `name` with the code `text` in one more package, made in `folder`."""
    registry.all()
    package = folder / "dropped_in"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / f"{name}.py").write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setattr(registry, "_packages", (*registry._packages, "dropped_in"))
        patch.setattr(registry, "_specs", dict(registry._specs))
        patch.setattr(registry, "_is_complete", False)
        try:
            yield
        finally:
            for module in ("dropped_in", f"dropped_in.{name}"):
                sys.modules.pop(module, None)
