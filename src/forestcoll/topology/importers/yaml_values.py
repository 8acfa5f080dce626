"""YAML as plain values: every scalar is its text, so that no digit of a number is lost. Aliases are refused."""

from collections.abc import Mapping
from typing import cast

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.importers.source import Source

_MAX_BYTES = 16 * 2**20
_MAX_DEPTH = 40

Container = dict[str, object] | list[object]


def read_yaml(source: Source) -> object:
    """Return the first document of a file: objects, lists and texts.

    Raises:
        InputError: it is no YAML, has aliases or is too large; the message names the line.
    """
    import yaml

    if len(source.text) > _MAX_BYTES:
        raise source.error(f"holds more than {_MAX_BYTES >> 20} MiB of YAML; import a smaller file")
    builder = _Builder(source)
    try:
        for event in yaml.parse(source.text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            if isinstance(event, yaml.DocumentEndEvent):
                break
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or "it cannot be parsed"
        raise source.error(
            f"not valid YAML: {problem}; fix it there", None if mark is None else mark.line + 1
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InputError(f"{source.where}: not valid YAML: {' '.join(str(error).split())[:200]}") from None
    return builder.root


class _Builder:
    """Makes values of the events of a parser."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.root: object = None
        self.open: list[Container] = []
        self.keys: list[str | None] = []

    def take(self, event: object) -> None:
        """Add what an event of PyYAML says."""
        import yaml

        line = getattr(getattr(event, "start_mark", None), "line", -1) + 1
        if isinstance(event, yaml.AliasEvent):
            raise self.source.error("uses a YAML alias (*name); write the value itself", line)
        if isinstance(event, yaml.ScalarEvent):
            self._put(str(event.value), line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self.open) >= _MAX_DEPTH:
                raise self.source.error(f"YAML nested deeper than {_MAX_DEPTH} levels", line)
            value: Container = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._put(value, line)
            self.open.append(value)
            self.keys.append(None)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.open.pop()
            self.keys.pop()

    def _put(self, value: object, line: int) -> None:
        if not self.open:
            self.root = value
            return
        top = self.open[-1]
        if isinstance(top, list):
            top.append(value)
            return
        key = self.keys[-1]
        if key is None:
            if not isinstance(value, str):
                raise self.source.error("a key of YAML that is no text; write a name", line)
            if value in top:
                raise self.source.error(f"the key {shown(value)} appears twice; keep one", line)
            self.keys[-1] = value
        else:
            top[key] = value
            self.keys[-1] = None


def objects(source: Source, value: object, what: str) -> list[Mapping[str, object]]:
    """Return a list of objects that a file holds; nothing if it is not there.

    Raises:
        InputError: it is no list, or holds something else than objects.
    """
    if value is None or value == "":
        return []
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise source.error(f"{what} is {shown(value)}; expected a list of objects")
    return cast("list[Mapping[str, object]]", value)
