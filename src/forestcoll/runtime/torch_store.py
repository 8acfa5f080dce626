"""A store of torch as the runtime uses stores."""

from datetime import timedelta
from typing import Any

from forestcoll.base.errors import CommunicationError, first_line


class TorchStore:
    """Covers a `torch.distributed.Store`, with keys of its own.

    Args:
        store: a `torch.distributed.Store`: where the values are kept.
        prefix: begins all keys.
    """

    def __init__(self, store: Any, prefix: str = "") -> None:
        self.store, self._prefix = store, prefix

    def set(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`."""
        try:
            self.store.set(self._prefix + key, value)
        except RuntimeError as error:
            raise CommunicationError(f"torch's store does not take {key!r}: {first_line(error)}") from None

    def get(self, key: str, timeout: float) -> bytes:
        """Return the value under `key`, waiting `timeout` seconds at most.

        Raises:
            CommunicationError: no rank set it in this time, or the store is gone.
        """
        try:
            self.store.wait([self._prefix + key], timedelta(seconds=max(timeout, 0.001)))
            return bytes(self.store.get(self._prefix + key))
        except RuntimeError as error:
            raise CommunicationError(
                f"no rank set {key!r} in torch's store within {timeout:g} s: {first_line(error)}"
            ) from None
