"""A basis of an abelian group from generators and relations: the Smith normal form of a matrix of integers.

A row (a, b, ...) of the matrix means that the product of the generators to the powers a, b, ... is the identity. Rows
may be added to each other. Columns may be added too if the generators are changed accordingly. At the end each row
contains only one generator, with its order.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class _Form:
    """The relations, and each new generator as powers of the old ones."""

    rows: list[list[int]]
    powers: list[list[int]]

    def swap(self, place: int, row: int, column: int) -> None:
        """Bring the entry at `row` and `column` to the diagonal at `place`."""
        self.rows[place], self.rows[row] = self.rows[row], self.rows[place]
        for each in self.rows:
            each[place], each[column] = each[column], each[place]
        self.powers[place], self.powers[column] = self.powers[column], self.powers[place]

    def clear(self, place: int) -> None:
        """Eliminate the other entries in the row and the column of the diagonal entry; remainders may be left."""
        pivot = self.rows[place][place]
        for row in range(place + 1, len(self.rows)):
            times = self.rows[row][place] // pivot
            self.rows[row] = [one - times * other for one, other in zip(self.rows[row], self.rows[place], strict=True)]
        for column in range(place + 1, len(self.rows)):
            times = self.rows[place][column] // pivot
            for each in self.rows:
                each[column] -= times * each[place]
            added = self.powers[column]
            self.powers[place] = [one + times * two for one, two in zip(self.powers[place], added, strict=True)]

    def remains(self, place: int) -> bool:
        """Return whether the row or the column of `place` has other entries."""
        below = range(place + 1, len(self.rows))
        return any(self.rows[each][place] or self.rows[place][each] for each in below)


def basis(relations: list[list[int]]) -> list[tuple[int, list[int]]]:
    """Return (order, powers) of new generators of the group with these `relations`, as many as there are old ones.

    Each new generator is a product of powers of the old ones. The group is the direct product of the cyclic groups
    that the new ones generate.
    """
    size = len(relations)
    form = _Form([list(row) for row in relations], [[int(one == two) for two in range(size)] for one in range(size)])
    for place in range(size):
        _settle(form, place)
        while form.remains(place):
            _settle(form, place)
    found = [(abs(form.rows[place][place]), form.powers[place]) for place in range(size)]
    return sorted((each for each in found if each[0] > 1), key=lambda each: -each[0])


def _settle(form: _Form, place: int) -> None:
    size = len(form.rows)
    entries = [
        (abs(form.rows[row][column]), row, column)
        for row in range(place, size)
        for column in range(place, size)
        if form.rows[row][column]
    ]
    _, row, column = min(entries)
    form.swap(place, row, column)
    form.clear(place)
