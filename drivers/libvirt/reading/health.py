# SPDX-License-Identifier: Apache-2.0
"""The health of a PCI device, from its files below /sys.

It reads files through ``HostFiles``. A device in error is not offered: its
whole inventory is reserved until it is well again. A file that cannot be read
changes nothing: no device is in error because of it, and no device in error is
well again.
"""

from ...host_files import HostFiles
from ..devices import traits
from ..devices.child import Trouble
from ..devices.node_devices import PciDevice

_FOLDER = '/sys/bus/pci/devices/'
# An idle device of vfio-pci may be suspended to D3cold, and comes back.
_ASLEEP = ('suspended', 'suspending', 'resuming')
_TOTAL = 'TOTAL_ERR_FATAL'
_ALL_ONES = b'\xff\xff\xff\xff'


def trouble(device: PciDevice, files: HostFiles) -> Trouble | None:
    """Return the reason why the device cannot be given away, None if it can."""
    folder = f'{_FOLDER}{device.address}'
    asleep = files.word(f'{folder}/power/runtime_status') in _ASLEEP
    return (
        _power(device, files.word(f'{folder}/power_state'), asleep=asleep)
        or _fatal(device, files.text(f'{folder}/aer_dev_fatal'))
        or _silent(device, files, f'{folder}/config', asleep=asleep)
    )


def unread(device: PciDevice, files: HostFiles) -> frozenset[str]:
    """Return the traits of the troubles whose file cannot be read now."""
    folder = f'{_FOLDER}{device.address}'
    sources = {
        traits.D3COLD: 'power_state',
        traits.POWER_ERROR: 'power_state',
        traits.AER_FATAL: 'aer_dev_fatal',
    }
    found = {
        trait
        for trait, name in sources.items()
        if not files.word(f'{folder}/{name}')
        and not _lacks(device, files, name)
    }
    if _is_mute(device, files):
        found.add(traits.NO_ANSWER)
    return frozenset(found)


def _lacks(device: PciDevice, files: HostFiles, name: str) -> bool:
    """Return True for a file that the kernel does not make for a VF."""
    folder = f'{_FOLDER}{device.address}'
    return (
        device.phys_function is not None
        and files.changed(folder) is not None
        and files.changed(f'{folder}/{name}') is None
    )


def _is_mute(device: PciDevice, files: HostFiles) -> bool:
    """Return True if the configuration would tell, and cannot be read."""
    folder = f'{_FOLDER}{device.address}'
    if device.phys_function is not None:
        return False
    if files.word(f'{folder}/power/runtime_status') in _ASLEEP:
        return False
    return not files.octets(f'{folder}/config', len(_ALL_ONES))


def _power(
    device: PciDevice, state: str | None, *, asleep: bool
) -> Trouble | None:
    if state == 'D3cold' and not asleep:
        return Trouble(
            trait=traits.D3COLD,
            reason=f'PCI device {device.address} has no power (D3cold), '
            'although it is not suspended; reset or replace it',
        )
    if state == 'error':
        return Trouble(
            trait=traits.POWER_ERROR,
            reason=f'the power state of PCI device {device.address} is '
            '"error"; reset or replace it',
        )
    return None


def _fatal(device: PciDevice, text: str | None) -> Trouble | None:
    for line in (text or '').splitlines():
        name, _, count = line.strip().rpartition(' ')
        if name.strip() == _TOTAL and count.isdecimal() and int(count):
            return Trouble(
                trait=traits.AER_FATAL,
                reason=f'PCI device {device.address} had fatal errors '
                '(aer_dev_fatal); when it is repaired, remove it and rescan '
                'the bus, or reboot, which sets the counter back',
            )
    return None


def _silent(
    device: PciDevice, files: HostFiles, path: str, *, asleep: bool
) -> Trouble | None:
    """Return trouble if the device does not answer, as after a failed reset.

    Then each bit of the device's configuration reads as one. A VF always reads
    so, and reading would wake a sleeping device.
    """
    if device.phys_function is not None or asleep:
        return None
    if files.octets(path, len(_ALL_ONES)) != _ALL_ONES:
        return None
    return Trouble(
        trait=traits.NO_ANSWER,
        reason=f'PCI device {device.address} does not answer, as after a '
        'failed reset; reset or replace it',
    )
