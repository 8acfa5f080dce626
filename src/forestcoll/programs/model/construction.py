"""Fast construction of frozen values, of which a program has millions.

The constructor of a frozen dataclass calls `object.__setattr__` for each field. A class with the same slots that is not
frozen takes a third of the time to make an object, which then becomes one of the frozen class: Python allows this if
the two classes have the same slots.
"""

from dataclasses import MISSING, fields
from typing import Any, TypeVar

_Class = TypeVar("_Class")


def made_fast(cls: type[_Class]) -> type[_Class]:
    """Return the frozen dataclass `cls`, which has slots, with a faster constructor that takes the same arguments."""
    listed = fields(cls)  # type: ignore[arg-type]  # `cls` is a dataclass
    defaults = {each.name: each.default for each in listed if each.default is not MISSING}
    kw_only = "*, " if any(each.kw_only for each in listed) else ""
    parameters = kw_only + ", ".join(
        f"{each.name}={each.name}" if each.name in defaults else each.name for each in listed
    )
    lines = [f"def __new__(cls, {parameters}):", " self = make(open_class)"]
    lines += [f" self.{each.name} = {each.name}" for each in listed]
    lines += [" self.__class__ = cls", " return self"]
    open_class = type(cls.__name__, (), {"__slots__": tuple(each.name for each in listed)})
    names: dict[str, Any] = {"make": object.__new__, "open_class": open_class, **defaults}
    exec("\n".join(lines), names)  # noqa: S102 (the text has only the names of fields, as that of `dataclass` itself)
    for name, value in {"__new__": names["__new__"], "__init__": object.__init__, "__reduce__": _reduced}.items():
        setattr(cls, name, value)
    return cls


def _reduced(value: Any) -> tuple[Any, ...]:
    """Return how to copy a value, as `object.__reduce__`."""
    return _again, (type(value), {each.name: getattr(value, each.name) for each in fields(value)})


def _again(cls: type[_Class], values: dict[str, Any]) -> _Class:
    return cls(**values)
