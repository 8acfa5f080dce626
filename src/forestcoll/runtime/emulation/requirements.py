"""What a machine needs for emulated networks: Linux, root, the programs of iproute2, and HTB in the kernel."""

import os
import shutil
import subprocess
import sys

from forestcoll.base.errors import InputError

_PROGRAMS = ("ip", "tc", "bridge")
_PROBE = (
    "ip link add name probe type bridge && ip link set probe up && "
    "tc qdisc add dev probe root handle 1: htb default 1 && ip link add name one type veth peer name other"
)
_FIX = "run it on a Linux machine, or in a virtual machine, where you are root"


def check_machine() -> None:
    """Check that this machine can emulate networks.

    Raises:
        InputError: something is missing; the message names it.
    """
    problem = missing()
    if problem is not None:
        raise InputError(f"emulate: {problem}")


def missing() -> str | None:
    """Return what is missing on this machine, and how to fix that; None if nothing is missing."""
    if not sys.platform.startswith("linux"):
        return f"network namespaces need Linux, and this is {sys.platform}; {_FIX}"
    if os.geteuid() != 0:
        return f"network namespaces need root, and the user id is {os.geteuid()}; use sudo, or {_FIX}"
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            return f"the program {program!r} is not installed; install the package iproute2"
    return _missing_in_kernel()


def _missing_in_kernel() -> str | None:
    """Try what is needed in a namespace that ends with the attempt."""
    words = ["unshare", "--net", "--mount", "--pid", "--fork", "sh", "-c", _PROBE]
    if shutil.which(words[0]) is None:
        return "the program 'unshare' is not installed; install the package util-linux"
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603 (fixed words)
    except subprocess.TimeoutExpired:
        return f"the kernel does not answer when a namespace is made; {_FIX}"
    if done.returncode == 0:
        return None
    said = (done.stderr.strip().splitlines() or ["no message"])[0]
    return f"the kernel refuses namespaces, bridges, veth or the queueing discipline htb ({said}); {_FIX}"
