# SPDX-License-Identifier: Apache-2.0
"""The values, documents and errors of libvirt-python, as the agent takes them.

``connection.py`` calls this, with the binding and an open connection. It does
I/O over that connection: each document of a device or a guest is asked for by
itself. The meaning of an error follows from libvirt's number of it.
"""

import errno
import logging
import typing

from ..libvirtd import hypervisor

# The call, the flag or the kind of guest is unknown, or not for this user.
_ALWAYS = (
    'VIR_ERR_NO_SUPPORT',
    'VIR_ERR_INVALID_ARG',
    'VIR_ERR_OPERATION_DENIED',
    'VIR_ERR_CONFIG_UNSUPPORTED',
    'VIR_ERR_ARGUMENT_UNSUPPORTED',
    'VIR_ERR_OPERATION_UNSUPPORTED',
    'VIR_ERR_ACCESS_DENIED',
)

# The agent's user may not have a full connection.
_REFUSALS = (
    'VIR_ERR_OPERATION_DENIED',
    'VIR_ERR_AUTH_FAILED',
    'VIR_ERR_AUTH_CANCELLED',
    'VIR_ERR_AUTH_UNAVAILABLE',
    'VIR_ERR_ACCESS_DENIED',
)


def error_class(
    binding: typing.Any, exc: typing.Any
) -> type[hypervisor.Unanswered]:
    """Return Unsupported if the same question always fails in this way."""
    always = {getattr(binding, name) for name in _ALWAYS}
    if exc.get_error_code() in always:
        return hypervisor.Unsupported
    return hypervisor.Unanswered


def is_refusal(binding: typing.Any, exc: typing.Any) -> bool:
    """Return True if libvirt, or the socket's mode, keeps the user out."""
    code = exc.get_error_code()
    if code == binding.VIR_ERR_SYSTEM_ERROR:
        return exc.get_int1() in (errno.EACCES, errno.EPERM)
    return code in {getattr(binding, name) for name in _REFUSALS}


def error_line(exc: Exception | None) -> str:
    """Return the error in one line."""
    return ' '.join(str(exc).split())


def guest_kind(
    request: hypervisor.DomainCapabilitiesRequest,
) -> tuple[str | None, str, str | None, str]:
    """Return the kind of guest, as the binding's calls take it."""
    return (
        request.emulator or None,
        request.arch,
        request.machine,
        request.virt_type,
    )


def expansion(binding: typing.Any, *, expand: bool) -> int:
    """Return the flag to list every feature of a CPU, or none."""
    flag: int = binding.VIR_CONNECT_BASELINE_CPU_EXPAND_FEATURES
    return flag if expand else 0


def versions(_: typing.Any, opened: typing.Any) -> hypervisor.Versions:
    """Return the releases of libvirt and of the hypervisor."""
    return hypervisor.Versions(
        libvirt=_version(opened.getLibVersion()),
        hypervisor=_version(opened.getVersion()),
        kind=str(opened.getType()),
    )


def _version(number: int) -> hypervisor.Version:
    """Return the parts of libvirt's number, as 9000001 for 9.0.1."""
    return number // 1_000_000, number // 1_000 % 1_000, number % 1_000


def processors(_: typing.Any, opened: typing.Any) -> hypervisor.Processors:
    """Return the processors that are present, and those online."""
    used = opened.getCPUMap(0)[1]
    return hypervisor.Processors(
        present=frozenset(range(len(used))),
        online=frozenset(i for i, is_used in enumerate(used) if is_used),
    )


LOG = logging.getLogger(__name__)


def node_devices(binding: typing.Any, opened: typing.Any) -> dict[str, str]:
    """Return libvirt's name of a device → XML.

    A mediated device that is only defined does not exist, and its parent can
    still create another in its place. So only active devices count. libvirt
    before 7.3 refuses the flag for that; it lists no others. The XML of a
    device is empty if libvirt cannot tell it.
    """
    kinds = (
        binding.VIR_CONNECT_LIST_NODE_DEVICES_CAP_PCI_DEV
        | binding.VIR_CONNECT_LIST_NODE_DEVICES_CAP_NET
        | binding.VIR_CONNECT_LIST_NODE_DEVICES_CAP_VDPA
        | binding.VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV
        | binding.VIR_CONNECT_LIST_NODE_DEVICES_CAP_MDEV_TYPES
    )
    # A binding that was built with an older libvirt does not know the flag.
    active = getattr(binding, 'VIR_CONNECT_LIST_NODE_DEVICES_ACTIVE', 0)
    try:
        listed = opened.listAllDevices(kinds | active)
    except binding.libvirtError as exc:
        if exc.get_error_code() != binding.VIR_ERR_INVALID_ARG or not active:
            raise
        listed = opened.listAllDevices(kinds)
    found = {}
    for device in listed:
        text = _device_xml(binding, opened, device)
        if text is not None:
            found[str(device.name())] = text
    return found


def domains(binding: typing.Any, opened: typing.Any) -> dict[str, str]:
    """Return uuid → XML of the guests that are defined or running.

    If one guest cannot be read, all guests are unknown, because it may use
    devices that no other guest has.
    """
    found = {}
    for domain in opened.listAllDomains(0):
        try:
            found[str(domain.UUIDString())] = str(domain.XMLDesc(0))
        except binding.libvirtError as exc:
            if exc.get_error_code() != binding.VIR_ERR_NO_DOMAIN:
                raise
    return found


def _device_xml(
    binding: typing.Any, opened: typing.Any, device: typing.Any
) -> str | None:
    """Return a device's XML; None if it is gone, empty if it is unknown.

    One device that libvirt cannot describe leaves the others as they are. A
    broken connection fails the whole list.
    """
    try:
        return str(device.XMLDesc(0))
    except binding.libvirtError as exc:
        if exc.get_error_code() == binding.VIR_ERR_NO_NODE_DEVICE:
            return None
        if not opened.isAlive():
            raise
        LOG.debug('node device %s: %s', device.name(), exc)
        return ''
