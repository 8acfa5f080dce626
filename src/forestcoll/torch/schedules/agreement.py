"""How ranks come to the same network and the same schedules: rank 0 computes, the store carries, all ranks check."""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress

from forestcoll.base.errors import CommunicationError, ForestcollError, InputError, NoSolutionError
from forestcoll.runtime import Store

_PART_BYTES = 2**22
_SEEN_SECONDS = 5.0
_KINDS = {kind.__name__: kind for kind in (InputError, NoSolutionError, CommunicationError)}


class Agreement:
    """One rank's part in agreeing.

    Args:
        store: where values are kept; its keys belong to this agreement.
        rank: of the caller.
        size: how many ranks there are.
        timeout: how many seconds to wait for another rank.
    """

    def __init__(self, store: Store, rank: int, size: int, timeout: float) -> None:
        self._store, self.rank, self.size, self._timeout = store, rank, size, timeout

    def report(self, mine: dict[str, object], key: str = "report") -> None:
        """Send an object to rank 0, which reads it by `reports`."""
        self._store.set(f"{key}/{self.rank}", json.dumps(mine).encode())

    def reports(self, key: str = "report") -> list[dict[str, object]]:
        """Return, on rank 0, what all ranks reported under `key`.

        Raises:
            CommunicationError: a rank did not come in time.
        """
        until = time.monotonic() + self._timeout
        found = []
        for rank in range(self.size):
            try:
                text = self._store.get(f"{key}/{rank}", until - time.monotonic())
            except CommunicationError:
                raise CommunicationError(
                    f"rank {rank} did not come within {self._timeout:g} s; start all {self.size} ranks"
                ) from None
            found.append(json.loads(text))
        return found

    def share(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return on all ranks what `make` returns on rank 0; an error of rank 0 is raised on all ranks.

        Raises:
            InputError: `make` raised it.
            NoSolutionError: `make` raised it.
            CommunicationError: rank 0 did not answer in time, or the data were damaged on their way.
        """
        return self._lead(key, make) if self.rank == 0 else self._follow(key)

    def _lead(self, key: str, make: Callable[[], bytes]) -> bytes:
        try:
            data = make()
        except BaseException as error:
            kind = type(error).__name__ if isinstance(error, ForestcollError) else "CommunicationError"
            text = str(error) if isinstance(error, ForestcollError) else f"rank 0 failed: {type(error).__name__}"
            self._store.set(key, json.dumps({"kind": kind, "error": text}).encode())
            self._wait_until_seen(key)
            raise
        parts = [data[begin : begin + _PART_BYTES] for begin in range(0, len(data), _PART_BYTES)]
        for number, part in enumerate(parts):
            self._store.set(f"{key}/{number}", part)
        self._store.set(key, json.dumps({"hash": hashlib.sha256(data).hexdigest(), "parts": len(parts)}).encode())
        return data

    def _wait_until_seen(self, key: str) -> None:
        """Wait, but not long, until the others have read an error: the store may end with this process."""
        until = time.monotonic() + min(self._timeout, _SEEN_SECONDS)
        for rank in range(1, self.size):
            with suppress(CommunicationError):
                self._store.get(f"{key}/seen/{rank}", until - time.monotonic())

    def _follow(self, key: str) -> bytes:
        header = json.loads(self._store.get(key, self._timeout))
        if "error" in header:
            self._store.set(f"{key}/seen/{self.rank}", b"1")
            raise _KINDS.get(header["kind"], CommunicationError)(header["error"])
        data = b"".join(self._store.get(f"{key}/{number}", self._timeout) for number in range(header["parts"]))
        if hashlib.sha256(data).hexdigest() != header["hash"]:
            raise CommunicationError(f"{key}: the data that rank {self.rank} received have another hash than rank 0's")
        return data
