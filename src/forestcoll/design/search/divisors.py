"""The divisors of numbers, from their factorisation."""

from functools import cache


@cache
def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a number of 1 or more, in increasing order.

    Example:
        >>> divisors(12)
        (1, 2, 3, 4, 6, 12)
    """
    found, rest, prime = [1], number, 2
    while rest > 1:
        if prime * prime > rest:
            prime = rest
        power = 1
        smaller = list(found)
        while rest % prime == 0:
            rest //= prime
            power *= prime
            found.extend(each * power for each in smaller)
        prime += 1
    return tuple(sorted(found))


@cache
def primes_of(number: int) -> tuple[int, ...]:
    """Return the different prime factors of a number, in increasing order."""
    return tuple(each for each in divisors(number)[1:] if len(divisors(each)) == 2)
