# SPDX-License-Identifier: Apache-2.0
"""The XML documents of node devices and guests, each asked for by itself.

It does I/O over a connection that is open. ``connection.py`` calls this.
"""

import logging
import typing

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
        text = _text(binding, opened, device)
        if text is not None:
            found[str(device.name())] = text
    return found


def domains(binding: typing.Any, opened: typing.Any) -> dict[str, str]:
    """Return uuid → XML of the guests that are defined or running.

    One guest that cannot be read makes all unknown, because it may use what
    the others leave.
    """
    found = {}
    for domain in opened.listAllDomains(0):
        try:
            found[str(domain.UUIDString())] = str(domain.XMLDesc(0))
        except binding.libvirtError as exc:
            if exc.get_error_code() != binding.VIR_ERR_NO_DOMAIN:
                raise
    return found


def _text(
    binding: typing.Any, opened: typing.Any, device: typing.Any
) -> str | None:
    """Return a device's XML; None if it is gone, empty if it is unknown.

    One device that libvirt cannot describe leaves the others as they are. A
    connection that broke is an error of all.
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
