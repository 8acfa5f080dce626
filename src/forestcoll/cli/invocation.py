"""The words of the present command, for files that state how they were made."""

import shlex
import sys
from collections.abc import Iterable, Iterator


def invocation(output: str) -> str:
    """Return the command that is running, without the option for its output file.

    Args:
        output: the option that names the output file.
    """
    return shlex.join(["forestcoll", *_without(sys.argv[1:], output)])


def _without(words: Iterable[str], option: str) -> Iterator[str]:
    """Yield the words without an option and its value.

    Example:
        >>> list(_without(["compare", "ring", "--html", "a.html", "--json"], "--html"))
        ['compare', 'ring', '--json']
    """
    skips_next = False
    for word in words:
        if not skips_next and word != option and not word.startswith(f"{option}="):
            yield word
        skips_next = not skips_next and word == option
