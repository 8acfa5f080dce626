"""Exact solutions of square systems of linear equations with integer coefficients, by Dixon's p-adic lifting.

A matrix A is inverted once, modulo a prime p. Then the digits of the solution of A z = r in base p are computed one
after the other: the next digit is A^-1 r mod p, and r becomes (r - A digit) / p, which is an integer again. Once there
are enough digits, each component is the only fraction with small numerator and denominator that has these digits
(Wang's rational reconstruction). Then A z = r is tested in integers, so no bound on the digits is needed or trusted.

Cost: n^3 operations on machine words for the inverse, n^2 for each digit. Reference: J. D. Dixon, *Exact solution of
linear equations using p-adic expansions*, 1982.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, lcm

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.int64]

_PRIMES = (1048573, 1048571, 1048559)
"""Below 2^20, so that sums of some thousand products of two residues fit into 53 bits, and so into 64."""

LONGEST_FAST = 2**30
"""The greatest coefficient that fits machine words; matrices with larger ones hold Python integers."""

_MOST_DIGITS = 1024


def solve_with_transpose(
    matrix: Matrix, right: Sequence[int], below: Sequence[int]
) -> tuple[list[Fraction], list[Fraction]] | None:
    """Return z with matrix z = right and y with y matrix = below; None if the matrix has no inverse modulo a prime.

    Matrices with coefficients above `LONGEST_FAST` must have dtype object.
    """
    if len(matrix) == 0:
        return [], []
    for prime in _PRIMES:
        inverse = _inverse((matrix % prime).astype(np.int64), prime)
        if inverse is None:
            continue
        upright = _lift(matrix, inverse, right, prime)
        across = _lift(np.ascontiguousarray(matrix.T), np.ascontiguousarray(inverse.T), below, prime)
        return None if upright is None or across is None else (upright, across)
    return None


def _inverse(matrix: Matrix, prime: int) -> Matrix | None:
    """Return the inverse modulo `prime` by Gauss-Jordan elimination, or None."""
    size = len(matrix)
    work = np.concatenate([matrix, np.eye(size, dtype=np.int64)], axis=1)
    for column in range(size):
        candidates = np.flatnonzero(work[column:, column])
        if not len(candidates):
            return None
        pivot = column + int(candidates[0])
        if pivot != column:
            work[[column, pivot]] = work[[pivot, column]]
        work[column] = work[column] * pow(int(work[column, column]), -1, prime) % prime
        factors = work[:, column].copy()
        factors[column] = 0
        rows = np.flatnonzero(factors)
        places = np.flatnonzero(work[column])
        block = np.ix_(rows, places)
        work[block] = (work[block] - factors[rows, None] * work[column, places]) % prime
    return np.ascontiguousarray(work[:, size:])


def _lift(matrix: Matrix, inverse: Matrix, right: Sequence[int], prime: int) -> list[Fraction] | None:
    """Return z with matrix z = right, or None if it has too many digits."""
    rest = np.array(list(right), dtype=object)
    total = [0] * len(rest)
    power, attempt = 1, 4
    for count in range(1, _MOST_DIGITS + 1):
        residues = (rest % prime).astype(np.int64)
        digit = _times(inverse, residues, prime)
        total = [each + power * int(one) for each, one in zip(total, digit, strict=True)]
        power *= prime
        rest = (rest - (matrix @ digit).astype(object)) // prime
        if count == attempt:
            attempt *= 2
            found = _fractions(total, power)
            if found is not None and _solves(matrix, found, right):
                return found
    return None


def _times(matrix: Matrix, vector: Matrix, prime: int) -> Matrix:
    """Return matrix times vector modulo `prime`; exact in 64 bits, because there are fewer than 2^23 columns."""
    product: Matrix = (matrix @ vector) % prime
    return product


def _fractions(residues: Sequence[int], modulus: int) -> list[Fraction] | None:
    """Return the fractions that the residues represent; denominators found so far are tried first."""
    bound = isqrt(modulus // 2)
    common = 1
    found = []
    for residue in residues:
        numerator = residue * common % modulus
        numerator -= modulus if numerator > modulus // 2 else 0
        if abs(numerator) > bound // common:
            fraction = _reconstructed(residue, modulus, bound)
            if fraction is None:
                return None
            common = lcm(common, fraction.denominator)
            if common > bound:
                return None
            found.append(fraction)
        else:
            found.append(Fraction(numerator, common))
    return found


def _reconstructed(residue: int, modulus: int, bound: int) -> Fraction | None:
    """Return the fraction that is `residue` modulo `modulus`, numerator and denominator at most `bound`, or None."""
    before, after = (modulus, 0), (residue, 1)
    while after[0] > bound:
        quotient = before[0] // after[0]
        before, after = after, (before[0] - quotient * after[0], before[1] - quotient * after[1])
    if after[1] == 0 or abs(after[1]) > bound:
        return None
    return Fraction(after[0], after[1])


def _solves(matrix: Matrix, solution: Sequence[Fraction], right: Sequence[int]) -> bool:
    """Return whether matrix times solution = right, computed in integers."""
    common = lcm(*(each.denominator for each in solution))
    whole = np.array([int(each * common) for each in solution], dtype=object)
    for row, side in zip(matrix, right, strict=True):
        places = np.flatnonzero(row)
        if sum(int(row[place]) * whole[place] for place in places.tolist()) != side * common:
            return False
    return True
