"""Numbers of trees and of peers, as users give them."""

from numbers import Integral

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import MAX_TREES_DIGITS


def count_of(name: str, count: object) -> int:
    """Return the value of the argument `name` as a Python integer of 1 or more.

    Raises:
        InputError: it is no integer, is less than 1, or has more than `MAX_TREES_DIGITS` digits.

    Example:
        >>> import numpy as np
        >>> count_of("max_peers", np.int64(3))
        3
    """
    if isinstance(count, bool) or not isinstance(count, Integral):
        raise InputError(f"{name} is {shown(count)}; it must be an integer of 1 or more")
    if count < 1:
        raise InputError(f"{name} is {shown(count)}; it must be at least 1")
    if count >= 10**MAX_TREES_DIGITS:
        raise InputError(f"{name} has more than {MAX_TREES_DIGITS} digits; ask for fewer")
    return int(count)
