# SPDX-License-Identifier: Apache-2.0
"""Replaces names that identify a host's owner in the texts of a recording.

Pure: no I/O, configuration, logging or clock. UUIDs, MAC addresses, serial
numbers and the host's names are replaced, in paths and texts alike. The same
value becomes the same replacement everywhere, so that one file still points to
another. A guest keeps only the elements that the driver reads: the rest has its
owner's name, its disks and its passwords.
"""

import re
from collections.abc import Iterable, Mapping
from xml.etree import ElementTree as ET

from ...libvirtd import hypervisor, xml

HOSTNAME = 'recorded.example'

# libvirt writes both with an underscore in a device's name.
_UUID = re.compile(
    r'(?<![0-9a-fA-F])[0-9a-fA-F]{8}([-_])(?:[0-9a-fA-F]{4}\1){3}'
    r'[0-9a-fA-F]{12}(?![0-9a-fA-F])'
)
_MAC = re.compile(
    r'(?<![0-9a-fA-F:_-])(?:[0-9a-fA-F]{2}([:_-])){5}[0-9a-fA-F]{2}'
    r'(?![0-9a-fA-F:_-])'
    r'|(?<=_)(?:[0-9a-fA-F]{2}(_)){5}[0-9a-fA-F]{2}(?![0-9a-fA-F_])'
)
# An element or attribute of XML; a line of /proc/cpuinfo or of a VPD.
_SERIALS = (
    re.compile(r'(?<=<serial>)[^<]+(?=</serial>)'),
    re.compile(r'(?<=<serial_number>)[^<]+(?=</serial_number>)'),
    re.compile(r'(?m)(?<=^Serial\t\t: )\S+$'),
    re.compile(r'(?<=identification = )[0-9A-Fa-f]+'),
    re.compile(r'(?m)(?<=^identification  : )[0-9A-Fa-f]+$'),
)
_SERIAL_FILE = re.compile(r'(?:^|/)(?:serial|serial_number|wwid|vpd_pg\w+)$')
# The elements of a guest's XML that are kept, with all that is in them.
_OF_GUEST = frozenset(
    {
        'cpu',
        'cputune',
        'launchSecurity',
        'memory',
        'memoryBacking',
        'numatune',
        'uuid',
        'vcpu',
        'vcpus',
    }
)
_DOMAINS = 'libvirt/domains/'
_HOST = 'libvirt/host.yaml'


def redacted(
    texts: Mapping[str, str], hostnames: Iterable[str]
) -> dict[str, str]:
    """Return path → text without UUIDs, MAC addresses, serials and names.

    :param hostnames: the names of this host
    """
    names = {name for name in hostnames if name}
    replace = _Replacements(name for name in names if '.' in name)
    short = _pattern(names)
    found = {
        replace(path): replace(_without_owner(path, text))
        for path, text in sorted(texts.items())
    }
    # Elsewhere a short name may be a word of libvirt's, such as kvm.
    if short and _HOST in found:
        found[_HOST] = short.sub(HOSTNAME, found[_HOST])
    return found


def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern for these names, the longest first."""
    ordered = sorted(names, key=len, reverse=True)
    parts = (rf'(?<![\w.-]){re.escape(n)}(?![\w-]|\.\w)' for n in ordered)
    return re.compile('|'.join(parts)) if ordered else None


class _Replacements:
    """The replacements of one recording: each value has its own."""

    def __init__(self, hostnames: Iterable[str]) -> None:
        self._known: dict[tuple[str, str], int] = {}
        self._names = _pattern(hostnames)

    def __call__(self, text: str) -> str:
        text = _UUID.sub(self._uuid, text)
        text = _MAC.sub(self._mac, text)
        for pattern in _SERIALS:
            text = pattern.sub(self._serial, text)
        return self._names.sub(HOSTNAME, text) if self._names else text

    def _uuid(self, match: re.Match[str]) -> str:
        plain = match[0].lower().replace('_', '-')
        number = self._number('uuid', plain)
        new = f'00000000-0000-4000-8000-{number:012x}'
        return new.replace('-', match[1])

    def _mac(self, match: re.Match[str]) -> str:
        between = match[1] or match[2]
        plain = match[0].lower().replace(between, ':')
        number = self._number('mac', plain)
        new = f'02:00:00:00:{number // 256:02x}:{number % 256:02x}'
        return new.replace(':', between)

    def _serial(self, match: re.Match[str]) -> str:
        # It keeps the length, and has only digits: s390x has six of them.
        number = self._number('serial', match[0])
        return f'{number:0{len(match[0])}d}'[-len(match[0]) :]

    def _number(self, kind: str, value: str) -> int:
        seen = sum(1 for known, _ in self._known if known == kind)
        return self._known.setdefault((kind, value), seen + 1)


def _without_owner(path: str, text: str) -> str:
    if path.startswith(_DOMAINS) and path.endswith('.xml'):
        return _guest(text)
    if _SERIAL_FILE.search(path):
        return 'removed\n'
    return text


def _guest(text: str) -> str:
    """Return a guest's XML with only what the driver reads of it."""
    try:
        root = xml.parse(text, 'a guest')
    except hypervisor.Unanswered:
        return ''
    kept = ET.Element('domain', {'type': root.get('type', '')})
    kept.extend(e for e in root if e.tag in _OF_GUEST)
    devices = ET.SubElement(kept, 'devices')
    devices.extend(root.iterfind('devices/hostdev'))
    ET.indent(kept)
    return ET.tostring(kept, 'unicode') + '\n'
