# SPDX-License-Identifier: Apache-2.0
"""A driver with the name of nova's driver for libvirt."""

from nova.virt import small


class LibvirtDriver(small.SmallDriver):
    """Nothing of its own."""
