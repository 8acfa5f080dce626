"""Named values with parameters: one grammar, `NAME:key=value,key=value`, and one registry for each kind of value.

A value is a frozen dataclass whose fields are its parameters (`parameters`), in a file of its own:

    @methods.add("bfb")
    @dataclass(frozen=True)
    class Bfb:
        chunks: int | None = derived_integer("any", "chunks of a shard", minimum=1)

A registry knows the packages whose modules declare its values, so a new value is one new file. The module has the name
of the value, with `_` for `-`, and is imported on the first use of that name. All modules of the packages are imported
only to list the values, and for an unknown name. Modules whose names begin with an underscore contain shared code.

A text is read by the fields, and written in a normal form: the sizes and all fields that differ from their default, in
the order of the fields. A parameter whose text has `,` is quoted: `broadcast:root='a,b'`.
"""

import importlib
import importlib.util
import pkgutil
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, TypeVar, cast

from forestcoll.base.errors import InputError, InternalError, did_you_mean, shown
from forestcoll.base.parameters import Parameter, Text, parameter_of

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FIRST = re.compile(r"([a-z0-9-]+)[ ,]")
"""A name before something that does not separate it from its parameters."""

_PART = re.compile(r"""((?:[^,'"]|'[^']*'|"[^"]*")*)(?:,|$)""")
"""A parameter and the comma after it; commas in quotes do not count."""

Made = TypeVar("Made", bound=type)


@dataclass(frozen=True)
class Spec:
    """A named value with parameters, as its file declares it.

    Attributes:
        name: the name that begins its text.
        make: the class or the function that takes the parameters.
        parameters: the parameters, in the order in which a text states them.
        module: the module that declares it.
        facts: what else the declaration says, such as a summary.
    """

    name: str
    make: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    module: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def read(self, text: str) -> Any:
        """Return the value for the parameters in a text, `key=value,key=value`.

        Raises:
            InputError: there is no such parameter, it is given twice, or its value is out of range.
        """
        return self.make(**self.values(text))

    def values(self, text: str) -> dict[str, Any]:
        """Return the values of the parameters in a text, as `read`."""
        known = {parameter.name: parameter for parameter in self.parameters}
        values: dict[str, Any] = {}
        for part in _parts(text):
            key, equals, value = part.partition("=")
            if not equals:
                last = next(reversed(values), None)
                hint = (
                    ", with quotes around a text that has commas" if last and isinstance(known[last].kind, Text) else ""
                )
                raise InputError(
                    f"{self.name}: {shown(part)} is not key=value; expected NAME:key=value,key=value{hint}"
                )
            if key not in known:
                there_are = f"there are {', '.join(known)}" if known else f"{self.name} has no parameters"
                raise InputError(
                    f"{self.name}: there is no parameter {shown(key)}; {did_you_mean(key, known)}{there_are}"
                )
            if key in values:
                raise InputError(f"{self.name}: {key} is given twice; give it once")
            values[key] = self._value(known[key], _unquoted(value))
        return values

    def _value(self, parameter: Parameter, text: str) -> object:
        try:
            return parameter.kind.parse(text)
        except ValueError:
            form = parameter.kind.form
            raise InputError(f"{self.name}: {parameter.name} is {shown(text)}; expected {form}") from None

    def completions(self) -> dict[str, str | None]:
        """Return how each parameter begins in a text, with its meaning."""
        return {f"{each.name}=": each.meaning for each in self.parameters}

    def text(self, value: object) -> str:
        """Return the text of a value that this spec made, in the normal form."""
        stated = []
        for parameter in self.parameters:
            each = getattr(value, parameter.name)
            if parameter.is_size or each != parameter.default:
                stated.append(f"{parameter.name}={_quoted(parameter.kind.write(each))}")
        return ":".join([self.name, ",".join(stated)]) if stated else self.name


class Registry:
    """The values of one kind, by name.

    Args:
        noun: what a value is called in messages, such as `method`.
        packages: the packages whose modules declare the values.
        hint: the end of the message about an unknown name; the known names if it is empty.
        known: the values of another registry with the same packages.
    """

    def __init__(
        self, noun: str, packages: tuple[str, ...], *, hint: str = "", known: Mapping[str, Spec] = MappingProxyType({})
    ) -> None:
        self._noun, self._packages, self._hint = noun, packages, hint
        self._specs: MutableMapping[str, Spec] = ChainMap({}, cast("dict[str, Spec]", known))
        self._is_complete = False

    def including(self, *specs: Spec) -> "Registry":
        """Return a registry that has the values of this one and further ones."""
        wider = Registry(self._noun, self._packages, hint=self._hint, known=self._specs)
        for spec in specs:
            wider.put(spec)
        return wider

    def add(self, name: str, **facts: Any) -> Callable[[Made], Made]:
        """Declare the decorated dataclass as the value called `name`."""

        def register(made: Made) -> Made:
            self.put(Spec(name, made, tuple(map(parameter_of, fields(made))), made.__module__, facts))
            return made

        return register

    def put(self, spec: Spec) -> None:
        """Add a value.

        Raises:
            InternalError: another file declares the same name.
        """
        if spec.name in self._specs:
            raise InternalError(f"two values are called {spec.name!r}: each {self._noun} needs a name of its own")
        self._specs[spec.name] = spec

    def all(self) -> tuple[Spec, ...]:
        """Return all specs, sorted by name. This imports all their files."""
        if not self._is_complete:
            for package in self._packages:
                path = importlib.import_module(package).__path__
                for name in sorted(module.name for module in pkgutil.iter_modules(path) if not module.ispkg):
                    if not name.startswith("_"):
                        importlib.import_module(f"{package}.{name}")
            self._is_complete = True
        return tuple(spec for _, spec in sorted(self._specs.items()))

    def completions(self) -> dict[str, str | None]:
        """Return the names of all values, sorted, with their summaries."""
        return {each.name: each.facts.get("summary") for each in self.all()}

    def found(self, name: str) -> Spec | None:
        """Return the value called `name`, or None. Only the module of that name, or of its first words, is imported."""
        words = name.split("-") if name not in self._specs and _NAME.fullmatch(name) else []
        for count in range(len(words), 0, -1):
            for package in self._packages:
                module = f"{package}.{'_'.join(words[:count])}"
                if name not in self._specs and importlib.util.find_spec(module) is not None:
                    importlib.import_module(module)
        return self._specs.get(name)

    def named(self, name: str) -> Spec:
        """Return the value called `name`.

        Raises:
            InputError: there is none.
        """
        spec = self.found(name)
        if spec is not None:
            return spec
        known = [each.name for each in self.all()]
        if name in known:
            return self._specs[name]
        first = _FIRST.match(name)
        if first is not None and first[1] in known and (rest := name[first.end() :].strip(" ,:")):
            raise InputError(f"{shown(name)}: no such {self._noun}; write parameters as {first[1]}:{rest}")
        hint = self._hint or f"there are {', '.join(known)}"
        raise InputError(f"{shown(name)}: no such {self._noun}; {did_you_mean(name, known)}{hint}")

    def read(self, text: str) -> Any:
        """Return the value that a text, `NAME` or `NAME:key=value,key=value`, stands for.

        Raises:
            InputError: there is no such name or parameter, or a value is out of range.
        """
        head, colon, rest = text.partition(":")
        spec = self.named(head)
        return spec.read(rest) if colon else spec.make()

    def having(self, key: str) -> list[str]:
        """Return the names of the values that have a parameter."""
        return [spec.name for spec in self.all() if key in {parameter.name for parameter in spec.parameters}]

    def require(self, spec: Spec, keys: Iterable[str], options: Mapping[str, str]) -> None:
        """Check that a value has the parameters that options of the command line set.

        Args:
            spec: the value.
            keys: the names of the parameters.
            options: the options of parameters whose names differ from those of their options.

        Raises:
            InputError: it has not; the message names the values that have.
        """
        known = {parameter.name for parameter in spec.parameters}
        for key in keys:
            if key not in known:
                option = options.get(key, f"--{key.replace('_', '-')}")
                having = ", ".join(self.having(key))
                raise InputError(f"{option} is for {having}; leave it out with the {self._noun} {spec.name}")

    def name_of(self, made: type) -> str:
        """Return the name of the values of a class; the name of the class if it is not declared."""
        return next((spec.name for spec in self._specs.values() if spec.make is made), made.__name__)

    def text(self, value: object) -> str:
        """Return the text of a value, in the normal form; its `repr` if it is not declared."""
        spec = self._specs.get(self.name_of(type(value)))
        return repr(value) if spec is None else spec.text(value)


def _parts(text: str) -> list[str]:
    """Return the parameters of a text; if a quote is not closed, the rest is one parameter."""
    parts, place = [], 0
    while place <= len(text):
        found = _PART.match(text, place)
        part = text[place:] if found is None else found[1]
        parts.append(part)
        place += len(part) + 1
    return parts


def _quoted(text: str) -> str:
    return f"'{text}'" if "," in text and "'" not in text else f'"{text}"' if "," in text else text


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0] else text
