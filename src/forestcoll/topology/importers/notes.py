"""What an importer says of its work besides the network: what it left out, and what it took for granted."""

from dataclasses import dataclass, field


@dataclass
class Notes:
    """Collects sentences in the order in which they are first said; each is kept once.

    Attributes:
        ignored: what the file holds and the network does not, and why.
        assumed: what the network has and the file does not say.
    """

    ignored: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def ignore(self, text: str) -> None:
        """Note what was left out, and why."""
        if text not in self.ignored:
            self.ignored.append(text)

    def leave_out(self, start: str) -> None:
        """Take a beginning that they share from the notes: the name of the only file."""
        self.ignored = [text.removeprefix(start) for text in self.ignored]
        self.assumed = [text.removeprefix(start) for text in self.assumed]

    def assume(self, text: str) -> None:
        """Note what was taken for granted."""
        if text not in self.assumed:
            self.assumed.append(text)


def listed(names: list[str], most: int = 4) -> str:
    """Return some names as a list in words, cut where it is long.

    Example:
        >>> listed(["a", "b", "c"], most=2)
        'a, b and 1 more'
    """
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
