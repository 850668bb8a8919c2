# SPDX-License-Identifier: Apache-2.0
"""The types of mediated devices that the host's devices can be divided into.

It does I/O through ``HostFiles``. The name is the parent's, a slash and the
type. Documentation/ABI/testing/sysfs-bus-vfio-mdev describes the files: ``name``
and ``description`` are optional, so a missing one is empty.
"""

from ....host_files import HostFiles
from .. import family as family_module
from .. import parsing
from ..fact import Device, Fact
from ..family import Absent, Family

FAMILY = 'mdev_type'
FOLDER = '/sys/class/mdev_bus'

_TYPES = 'mdev_supported_types'


def read(files: HostFiles) -> tuple[Device, ...] | Fact:
    """Return the types of each parent."""
    return family_module.devices(
        FAMILY,
        FOLDER,
        files,
        lambda: [
            f'{parent}/{name}'
            for parent in files.listed(FOLDER)
            for name in files.listed(f'{FOLDER}/{parent}/{_TYPES}')
        ],
        lambda name: _device(name, files),
    )


def _device(name: str, files: HostFiles) -> Device | None:
    parent, _, kind = name.partition('/')
    folder = f'{FOLDER}/{parent}/{_TYPES}/{kind}'
    family = Family(FAMILY, files)
    family.known('parent', parent, FOLDER)
    family.known('type', kind, folder)
    none = Absent(value='', given=folder)
    family.file('type_name', f'{folder}/name', absent=none)
    family.file('description', f'{folder}/description', absent=none)
    family.file('device_api', f'{folder}/device_api')
    family.file('available', f'{folder}/available_instances', parsing.integer)
    family.computed(
        'instances',
        f'{folder}/devices',
        lambda: len(files.listed(f'{folder}/devices')),
    )
    return family.device(name)
