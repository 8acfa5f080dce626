"""The system calls that Python 3.11 has no function for."""

import ctypes
import os
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name, for new ones. Raises `OSError`."""
    _checked(_libc().unshare(flags), "unshare")


def mount_privately() -> None:
    """Keep the mounts of this process's mount namespace from others. Raises `OSError`."""
    _checked(_libc().mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None), "mount /")


def mount(kind: str, target: str) -> None:
    """Mount an empty file system of this kind. Raises `OSError`."""
    _checked(_libc().mount(kind.encode(), target.encode(), kind.encode(), 0, None), f"mount {target}")


def mount_over(file: str, target: str) -> None:
    """Let the file `target` be `file`, in this mount namespace. Raises `OSError`."""
    _checked(_libc().mount(file.encode(), target.encode(), None, _MS_BIND, None), f"mount {target}")


def end_with_parent(number: signal.Signals, parent: int) -> bool:
    """Ask for a signal when the parent process ends; return whether the parent still runs.

    Args:
        number: the signal.
        parent: the id of the parent process, read before the fork.
    """
    _checked(_libc().prctl(_PR_SET_PDEATHSIG, int(number), 0, 0, 0), "prctl")
    return os.getppid() == parent


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
