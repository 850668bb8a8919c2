# SPDX-License-Identifier: Apache-2.0
"""The XML documents of node devices and guests, each asked for by itself.

It does I/O over a connection that is open. ``connection.py`` calls this.
"""

import typing
from collections.abc import Callable, Sequence


def node_devices(binding: typing.Any, opened: typing.Any) -> dict[str, str]:
    """Return libvirt's name of a device → XML.

    A mediated device that is only defined does not exist, and its parent can
    still create another in its place. So only active devices count. libvirt
    before 7.3 refuses the flag for that; it lists no others.
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
    return _documents(
        binding,
        listed,
        lambda device: (device.name(), device.XMLDesc(0)),
        gone=binding.VIR_ERR_NO_NODE_DEVICE,
    )


def domains(binding: typing.Any, opened: typing.Any) -> dict[str, str]:
    """Return uuid → XML of the guests that are defined or running."""
    return _documents(
        binding,
        opened.listAllDomains(0),
        lambda domain: (domain.UUIDString(), domain.XMLDesc(0)),
        gone=binding.VIR_ERR_NO_DOMAIN,
    )


def _documents(
    binding: typing.Any,
    listed: Sequence[typing.Any],
    describe: Callable[[typing.Any], tuple[str, str]],
    *,
    gone: int,
) -> dict[str, str]:
    """Return key → XML, without what went while it was listed."""
    found = {}
    for one in listed:
        try:
            key, text = describe(one)
        except binding.libvirtError as exc:
            if exc.get_error_code() != gone:
                raise
        else:
            found[key] = text
    return found
