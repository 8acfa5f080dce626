"""The kernel's network settings of a namespace."""

import subprocess
from pathlib import Path

from forestcoll.base.errors import InputError

_CONGESTION_CONTROL = ("cubic", "reno")
"""The first that every namespace may use is taken: others, such as bbr, guess the rate of a shaped link badly."""

_SETTINGS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv6.conf.all.disable_ipv6": "1",
    "net.ipv6.conf.default.disable_ipv6": "1",
}


def apply_settings(namespace: str) -> None:
    """Give a namespace that has no links yet its settings."""
    lines = "".join(f"[ ! -e {_path(name)} ] || echo {value} > {_path(name)}\n" for name, value in settings().items())
    words = ["ip", "netns", "exec", namespace, "sh", "-e"]
    done = subprocess.run(words, input=lines, capture_output=True, text=True, check=False)  # noqa: S603 (fixed words)
    if done.returncode != 0:
        raise InputError(
            f"emulate: the settings of namespace {namespace} failed: {' '.join(done.stderr.split())[:200]}"
        )


def settings() -> dict[str, str]:
    """Return the settings and their values; those that this kernel does not have are left out when they are applied."""
    allowed = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    control = next((name for name in _CONGESTION_CONTROL if name in allowed), None)
    return _SETTINGS | ({} if control is None else {"net.ipv4.tcp_congestion_control": control})


def _path(name: str) -> str:
    return f"/proc/sys/{name.replace('.', '/')}"
