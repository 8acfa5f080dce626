"""Random numbers that are the same for the same seed on every machine and in every version of Python: SplitMix64.

G. L. Steele, D. Lea and C. H. Flood, *Fast splittable pseudorandom number generators*, 2014. The same input must give
the same bytes for each builder, so the seed of a random one is a parameter.
"""

_MASK = 2**64 - 1


class Draws:
    """A sequence of random numbers, determined by its seed."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def integer(self, lowest: int, highest: int) -> int:
        """Return an integer from `lowest` to `highest`, all equally likely."""
        count = highest - lowest + 1
        beyond = (2**64 // count) * count  # larger numbers would make some results more likely
        while (drawn := self._next()) >= beyond:
            continue
        return lowest + drawn % count
