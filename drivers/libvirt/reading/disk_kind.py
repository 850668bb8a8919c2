# SPDX-License-Identifier: Apache-2.0
"""STORAGE_DISK_SSD or STORAGE_DISK_HDD: the kind of disk below the guests.

It reads files through ``HostFiles``: the mount point of the instances'
folder, and the kernel's word about its block device. A file system without a
block device of its own (a network, btrfs) leaves both traits unknown.
"""

import re
from collections.abc import Iterator

from compute_agent.virt.values import finding

from ...host_files import HostFiles
from ..inventory import disk

SSD = 'STORAGE_DISK_SSD'
HDD = 'STORAGE_DISK_HDD'
#: Operators set these by hand, too: the driver takes away only its own.
TRAITS = frozenset({SSD, HDD})

MOUNTS = '/proc/self/mountinfo'
_DEVICES = '/sys/dev/block'
_QUEUE = 'queue/rotational'
# The kernel calls each virtio disk a rotating one.
_VIRTUAL = '/virtio'
_KINDS = {'0': SSD, '1': HDD}
_ESCAPED = re.compile(r'\\([0-7]{3})')


def findings(
    files: HostFiles, options: disk.Options
) -> tuple[finding.Finding, finding.Finding]:
    """Return the findings of both traits."""
    if options.images_type in (disk.LVM, disk.RBD):
        return _unknown(
            f'guests have no disks in files: [libvirt] images_type is '
            f'{options.images_type}'
        )
    device = _device(
        files.text(MOUNTS) or '', files.real_path(options.instances_path)
    )
    if not device:
        return _unknown(
            f'{MOUNTS} names no block device of {options.instances_path}'
        )
    if _VIRTUAL in files.real_path(f'{_DEVICES}/{device}'):
        return _unknown(f'block device {device} is a virtual disk')
    for path in (f'{device}/{_QUEUE}', f'{device}/../{_QUEUE}'):
        content = files.word(f'{_DEVICES}/{path}')
        if content in _KINDS:
            return _known(_KINDS[content], f'{_DEVICES}/{path} is {content}')
    return _unknown(f'{_DEVICES}/{device}/{_QUEUE} cannot be read')


def _device(mounts: str, path: str) -> str:
    """Return the numbers of the path's device; empty without a device."""
    best, found = '', ''
    for point, device in _mounts(mounts):
        if _is_below(path, point) and len(point) >= len(best):
            best, found = point, device
    return '' if found.startswith('0:') else found


def only_mounts(text: str) -> str:
    """Return the lines with the fields that are read, and no others."""
    lines = (line.split(' ') for line in text.splitlines())
    return ''.join(
        f'0 0 {fields[2]} / {fields[4]}\n'
        for fields in lines
        if len(fields) > 4
    )


def _mounts(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        fields = line.split(' ')
        if len(fields) > 4:
            yield _ESCAPED.sub(_character, fields[4]), fields[2]


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 8))


def _is_below(path: str, point: str) -> bool:
    return f'{path}/'.startswith(f'{point.rstrip("/")}/')


def _known(kind: str, fact: str) -> tuple[finding.Finding, finding.Finding]:
    """Return the findings if the kind of the disk is known."""
    return _finding(SSD, kind, fact), _finding(HDD, kind, fact)


def _unknown(reason: str) -> tuple[finding.Finding, finding.Finding]:
    return (
        _finding(SSD, None, _QUEUE, reason),
        _finding(HDD, None, _QUEUE, reason),
    )


def _finding(
    trait: str, kind: str | None, fact: str, reason: str = ''
) -> finding.Finding:
    found = finding.Found.UNKNOWN
    if kind is not None:
        is_kind = trait == kind
        found = finding.Found.PRESENT if is_kind else finding.Found.ABSENT
    return finding.Finding(
        trait=trait,
        found=found,
        fact=fact,
        sources=('kernel',) if trait == kind else (),
        reason=reason,
    )
