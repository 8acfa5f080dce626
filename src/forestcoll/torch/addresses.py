"""Which address of this machine a process listens on and connects from."""

import fcntl
import ipaddress
import os
import socket
import struct
from collections.abc import Mapping

from forestcoll.base.errors import InputError, shown

_SIOCGIFADDR = 0x8915


def address_of(interface: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the IPv4 address that `interface` means.

    Args:
        interface: an address, the name of a network interface, or None for the interface that leads to `MASTER_ADDR`.
        environment: holds `MASTER_ADDR` and `MASTER_PORT`.

    Raises:
        InputError: there is no such interface, or it has no address.

    Example:
        >>> address_of("lo")
        '127.0.0.1'
    """
    if interface is None:
        return _towards(environment.get("MASTER_ADDR", ""), environment.get("MASTER_PORT", ""))
    try:
        return str(ipaddress.ip_address(interface))
    except ValueError:
        return _of_interface(interface)


def _of_interface(name: str) -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
        except OSError as error:
            known = ", ".join(name for _, name in socket.if_nameindex())
            raise InputError(
                f"interface is {shown(name)}, which has no IPv4 address ({error.strerror}); "
                f"give an address or one of {known}"
            ) from None
    return socket.inet_ntoa(answer[20:24])


def _towards(host: str, port: str) -> str:
    """Return the address of the interface that leads to `host`; a datagram socket sends nothing to find out."""
    if not host:
        return "127.0.0.1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((host, int(port) if port.isdigit() else 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
