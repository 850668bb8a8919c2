# SPDX-License-Identifier: Apache-2.0
"""The kernel: release, configuration, modules, command line; the distribution.

It does I/O through ``HostFiles``. A missing file means something in these
cases: without ``/sys/fs/selinux`` or the module's folder the kernel runs no
SELinux or AppArmor, and without ``/sys/kernel/realtime`` it is no real-time
kernel.
"""

import functools
import gzip
import zlib

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Fact, Value
from .family import Family

RELEASE = '/proc/sys/kernel/osrelease'
CONFIG_GZ = '/proc/config.gz'
COMMAND_LINE = '/proc/cmdline'
_MISC = '/sys/class/misc'
_MODULES = '/sys/module'
_LSM = '/sys/kernel/security/lsm'
_LARGEST = 4 * 2**20  # bytes of a configuration; real ones have 300,000
_OS_RELEASE = ('/etc/os-release', '/usr/lib/os-release')


def read(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts that may change while the kernel runs, and its name."""
    family = Family('kernel', files)
    family.file('release', RELEASE)
    for position, part in enumerate(('major', 'minor', 'patch')):
        family.file(
            f'version_{part}',
            RELEASE,
            functools.partial(_part, position=position),
        )
    family.file('build', '/proc/sys/kernel/version')
    family.file('tainted', '/proc/sys/kernel/tainted', parsing.integer)
    family.file('command_line', COMMAND_LINE, parameters)
    family.file('command_line_text', COMMAND_LINE)
    family.file('modules', '/proc/modules', _first_words)
    _security_modules(family)
    family.file(
        'realtime',
        '/sys/kernel/realtime',
        parsing.switch,
        False,
        '/sys/kernel',
    )
    family.file(
        'clock_source',
        '/sys/devices/system/clocksource/clocksource0/current_clocksource',
    )
    # The kernel runs guests: KVM then has a device.
    family.computed('kvm', _MISC, lambda: 'kvm' in files.listed(_MISC))
    for attribute, parameter in (
        ('kvm_intel_nested', 'kvm_intel/parameters/nested'),
        ('kvm_amd_nested', 'kvm_amd/parameters/nested'),
        ('apparmor', 'apparmor/parameters/enabled'),
    ):
        family.file(
            attribute,
            f'{_MODULES}/{parameter}',
            parsing.switch,
            False,
            _MODULES,
        )
    return (*family.facts, *_distribution(files))


def read_configuration(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts that were settled when the kernel was built."""
    family = Family('kernel', files)
    release = _release(files)
    path = configuration_path(files)
    family.computed('config', path, lambda: _configuration(files, path))
    builtin = f'/lib/modules/{release}/modules.builtin'
    family.file('builtin_modules', builtin, _module_names)
    return family.facts


def _release(files: HostFiles) -> str:
    """Return the kernel's release as a part of a path; a NUL ends it."""
    return (files.word(RELEASE) or '').partition('\0')[0]


def configuration_path(files: HostFiles) -> str:
    """Return the file with the kernel's configuration; it may not exist."""
    release = _release(files)
    places = (f'/boot/config-{release}', f'/lib/modules/{release}/config')
    return next(
        (path for path in places if files.changed(path) is not None), CONFIG_GZ
    )


def parameters(text: str) -> dict[str, Value]:
    """Return parameter → value of a command line; the last one counts.

    A parameter without a value gets the empty value. Words after ``--`` belong
    to the first process.
    """
    found: dict[str, Value] = {}
    for word in _words(text):
        if word == '--':
            break
        key, _, value = word.partition('=')
        found[key] = value.strip('"')
    return found


def options(text: str) -> dict[str, Value]:
    """Return option → value of a configuration, without CONFIG_.

    An option that is not set is not in the result.
    """
    prefix = 'CONFIG_'
    found = parsing.table(
        '\n'.join(
            line for line in text.splitlines() if line.startswith(prefix)
        ),
        '=',
    )
    return {
        key.removeprefix(prefix): value.strip('"')
        for key, value in found.items()
    }


def _words(text: str) -> list[str]:
    """Return the words; a space in double quotes separates none."""
    parts = text.split('"')
    joined = '"'.join(
        part.replace(' ', '\0') if number % 2 else part
        for number, part in enumerate(parts)
    )
    return [word.replace('\0', ' ') for word in joined.split()]


def _part(text: str, *, position: int) -> int:
    return parsing.release(text)[position]


def _first_words(text: str) -> tuple[str, ...]:
    return tuple(
        sorted(line.split()[0] for line in text.splitlines() if line.split())
    )


def _module_names(text: str) -> tuple[str, ...]:
    """Return the modules as /proc/modules spells them."""
    return tuple(
        sorted(
            line.rpartition('/')[2].partition('.ko')[0].replace('-', '_')
            for line in text.splitlines()
            if line
        )
    )


def _configuration(files: HostFiles, path: str) -> dict[str, Value]:
    if path != CONFIG_GZ:
        return options(files.read(path))
    packed = files.octets(path, _LARGEST)
    if packed is None:
        raise ValueError('the kernel shows no configuration')
    try:
        text = gzip.decompress(packed).decode('utf-8', 'replace')
    except (OSError, EOFError, zlib.error) as exc:
        raise ValueError(f'it cannot be unpacked: {exc}') from exc
    return options(text)


def _security_modules(family: Family) -> None:
    family.file('security_modules', _LSM, lambda text: tuple(text.split(',')))
    family.file(
        'selinux',
        '/sys/fs/selinux/enforce',
        lambda text: 'enforcing' if parsing.switch(text) else 'permissive',
        'disabled',
        '/sys/fs',
    )


def _distribution(files: HostFiles) -> tuple[Fact, ...]:
    family = Family('os', files)
    path = next(
        (path for path in _OS_RELEASE if files.changed(path) is not None),
        _OS_RELEASE[0],
    )
    for attribute in ('id', 'id_like', 'name', 'version_id'):
        family.file(
            attribute, path, functools.partial(_of_os, key=attribute.upper())
        )
    return family.facts


def _of_os(text: str, *, key: str) -> str:
    """Return a value of os-release; a missing one is empty by its manual."""
    return parsing.table(text, '=').get(key, '').strip('"\'')
