# SPDX-License-Identifier: Apache-2.0
"""The disks of a host, by the kernel's name.

It does I/O through ``HostFiles``. The module leaves out block devices that are
no hardware: loop devices, RAM disks, volumes and multipath maps.

The name of a disk may change when the host starts; its ``wwid`` stays. The
kernel's drivers name a disk by its transport, so the module reads
``transport`` from the name. ``model``, ``vendor``, ``firmware`` and ``wwid``
are empty if the disk's driver has no file for them.

``multipath`` is true if a multipath map of the device mapper holds the disk
(the map's uuid begins with ``mpath-``), or if several NVMe controllers have
it. The kernel hides its own paths to such an NVMe disk, and the module leaves
them out.
"""

import re
from collections.abc import Sequence

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Device, Fact
from .family import Family, devices

FAMILY = 'block'
FOLDER = '/sys/block'

_SECTOR = 512  # of ``size``, whatever the disk's
_ADDRESS = re.compile(r'/([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])(?=/)')
_CONTROLLER = re.compile(r'nvme\d+', re.ASCII)
_TRANSPORTS = (
    ('dasd', 'dasd'),
    ('mmcblk', 'mmc'),
    ('nvme', 'nvme'),
    ('pmem', 'nvdimm'),
    ('sd', 'scsi'),
    ('sr', 'scsi'),
    ('vd', 'virtio'),
    ('xvd', 'xen'),
)


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the disks."""
    return devices(FAMILY, FOLDER, files, _device)


def _device(name: str, files: HostFiles) -> Device | None:
    folder = f'{FOLDER}/{name}'
    if not files.names(f'{folder}/device') or _is_hidden(files, folder):
        return None
    controllers = _controllers(files, folder)
    family = Family(FAMILY, files, folder)
    family.known('transport', _transport(name), folder)
    family.computed(
        'address', folder, lambda: _address(files, (folder, *controllers))
    )
    family.file(
        'size_bytes', 'size', lambda text: parsing.integer(text) * _SECTOR
    )
    family.file('removable', parse=parsing.switch)
    family.file('read_only', 'ro', parsing.switch)
    _queue(family)
    _make(family)
    family.file('numa_node', _numa_path(folder, controllers), parsing.integer)
    family.computed(
        'multipath',
        f'{folder}/holders',
        lambda: len(controllers) > 1 or _is_path(files, folder),
    )
    return family.device(name)


def _transport(name: str) -> str:
    for prefix, transport in _TRANSPORTS:
        if name.startswith(prefix):
            return transport
    return ''


def _is_hidden(files: HostFiles, folder: str) -> bool:
    """Return True for a path that the kernel uses itself (Linux 4.15)."""
    return files.word(f'{folder}/hidden') == '1'


def _controllers(files: HostFiles, folder: str) -> tuple[str, ...]:
    """Return the controllers of an NVMe disk that may have several.

    Its device is then not a controller but the subsystem, which lists them.
    """
    device = f'{folder}/device'
    return tuple(
        f'{device}/{name}'
        for name in files.names(device) or ()
        if _CONTROLLER.fullmatch(name)
    )


def _address(files: HostFiles, places: Sequence[str]) -> str:
    """Return the PCI address of the only controller, or ''."""
    found = [_ADDRESS.findall(f'{files.real_path(p)}/') for p in places]
    addresses = {addresses[-1] for addresses in found if addresses}
    return addresses.pop() if len(addresses) == 1 else ''


def _numa_path(folder: str, controllers: Sequence[str]) -> str:
    only = controllers[0] if len(controllers) == 1 else f'{folder}/device'
    return f'{only}/numa_node'


def _queue(family: Family) -> None:
    family.file('rotational', 'queue/rotational', parsing.switch)
    # Linux 4.10 and later have the file for every disk.
    family.file('zoned', 'queue/zoned')
    family.file('zones', 'queue/nr_zones', parsing.integer)
    family.file('scheduler', 'queue/scheduler', _scheduler)
    family.file('write_cache', 'queue/write_cache')
    family.file('dax', 'queue/dax', parsing.switch)
    family.file(
        'discard',
        'queue/discard_max_bytes',
        lambda text: parsing.integer(text) > 0,
    )
    for kind in ('logical', 'physical'):
        family.file(
            f'{kind}_block_bytes', f'queue/{kind}_block_size', parsing.integer
        )


def _scheduler(text: str) -> str:
    """Return the scheduler in use; without a choice, it is the only word."""
    return parsing.chosen(text) if '[' in text else parsing.line(text)


def _make(family: Family) -> None:
    for attribute, names in (
        ('model', ('device/model',)),
        ('vendor', ('device/vendor',)),
        ('firmware', ('device/firmware_rev', 'device/rev')),
        ('wwid', ('wwid', 'device/wwid')),
    ):
        paths = [f'{family.folder}/{name}' for name in names]
        path = next(
            (p for p in paths if family.files.changed(p) is not None), paths[0]
        )
        family.file(
            attribute, path, absent='', given=f'{family.folder}/device'
        )


def _is_path(files: HostFiles, folder: str) -> bool:
    return any(
        files.read(f'{FOLDER}/{holder}/dm/uuid').startswith('mpath-')
        for holder in files.listed(f'{folder}/holders')
        if holder.startswith('dm-')
    )
