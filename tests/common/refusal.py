"""The one line with which a call is refused."""

from collections.abc import Callable

import pytest

from forestcoll.base.errors import InputError


def refusal(call: Callable[..., object], *arguments: object, **options: object) -> str:
    """Return the message of the `InputError` that the call raises. It is one line."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message
