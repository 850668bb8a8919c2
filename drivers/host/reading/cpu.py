# SPDX-License-Identifier: Apache-2.0
"""The processors: model, features, weaknesses, topology and frequency.

It does I/O through ``HostFiles``. A missing file means something in these
cases, by the kernel's documentation (Documentation/ABI/testing/
sysfs-devices-system-cpu, admin-guide/pm): without ``cpufreq`` there is no
frequency driver, without ``smt`` the architecture has no SMT to switch, and
without ``isolated`` no processor is isolated.
"""

import functools
from collections.abc import Callable, Mapping, Sequence

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Fact, Value
from .family import Absent, Family

CPUINFO = '/proc/cpuinfo'
CPUS = '/sys/devices/system/cpu'
ONLINE = f'{CPUS}/online'
MICROCODE = f'{CPUS}/cpu0/microcode/version'
_WEAKNESSES = f'{CPUS}/vulnerabilities'

Block = Mapping[str, str]

# The words for the features that a processor has, by architecture.
_FLAGS = ('flags', 'Features', 'features', 'isa')
# Attribute → the keys that architectures use for it, and how they are read.
_IDENTITY: Mapping[str, tuple[tuple[str, ...], Callable[[str], Value]]] = {
    'vendor': (('vendor_id', 'CPU implementer', 'mvendorid'), parsing.line),
    'model_name': (('model name', 'cpu', 'uarch'), parsing.line),
    'family': (('cpu family', 'CPU architecture'), parsing.integer),
    'model': (('model', 'CPU part'), lambda text: int(text, 0)),
    'stepping': (('stepping', 'CPU revision'), parsing.integer),
    'microcode': (('microcode',), parsing.line),
}


def read(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts that change only with processors and microcode."""
    family = Family('cpu', files)
    family.computed('arch', '/proc/sys/kernel/arch', files.machine)
    _identity(family)
    _topology(family)
    family.computed(
        'cache_bytes', f'{CPUS}/cpu0/cache', lambda: _caches(files)
    )
    return family.facts


def read_state(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts that an administrator changes on a running host."""
    family = Family('cpu', files)
    for attribute in ('present', 'online', 'offline'):
        family.file(attribute, f'{CPUS}/{attribute}', parsing.numbers)
    for attribute, name in (
        ('isolated', 'isolated'),
        ('tickless', 'nohz_full'),
    ):
        family.file(
            attribute,
            f'{CPUS}/{name}',
            _isolated,
            Absent(value=(), given=CPUS),
        )
    family.file(
        'smt',
        f'{CPUS}/smt/active',
        parsing.switch,
        Absent(value=False, given=CPUS),
    )
    family.computed(
        'vulnerabilities', _WEAKNESSES, lambda: _vulnerabilities(files)
    )
    family.computed(
        'vulnerable',
        _WEAKNESSES,
        lambda: _beginning(_vulnerabilities(files), 'Vulnerable'),
    )
    _frequency(family)
    return family.facts


def blocks(text: str) -> list[Block]:
    """Return the blocks of /proc/cpuinfo, one for each processor."""
    return [parsing.table(block) for block in text.split('\n\n')]


def common_flags(found: Sequence[Block]) -> tuple[str, ...]:
    """Return the features that every processor has, sorted.

    :raises ValueError: the kernel lists no features
    """
    listed = [
        frozenset(block[key].replace('_', ' ').split())
        if key == 'isa'
        else frozenset(block[key].split())
        for block in found
        for key in _FLAGS
        if key in block
    ]
    if not listed:
        raise ValueError('the kernel lists no features of the processors')
    return tuple(sorted(listed[0].intersection(*listed[1:])))


def _identity(family: Family) -> None:
    @functools.cache
    def found() -> list[Block]:
        return blocks(family.files.read(CPUINFO))

    def first(keys: tuple[str, ...], parse: Callable[[str], Value]) -> Value:
        return _first(found(), keys, parse)

    family.computed('flags', CPUINFO, lambda: common_flags(found()))
    family.computed('bugs', CPUINFO, lambda: _bugs(found()))
    for attribute, (keys, parse) in _IDENTITY.items():
        family.computed(
            attribute,
            CPUINFO,
            functools.partial(first, keys, parse),
        )


def _first(
    found: Sequence[Block],
    keys: tuple[str, ...],
    parse: Callable[[str], Value],
) -> Value:
    for block in found:
        for key in keys:
            if block.get(key):
                return parse(block[key])
    raise ValueError('the kernel does not tell it on this architecture')


def _bugs(found: Sequence[Block]) -> tuple[str, ...]:
    return tuple(str(_first(found, ('bugs',), parsing.line)).split())


def _isolated(text: str) -> tuple[int, ...]:
    return () if text == '(null)' else parsing.numbers(text)


def _vulnerabilities(files: HostFiles) -> dict[str, Value]:
    return {
        name: parsing.line(files.read(f'{_WEAKNESSES}/{name}'))
        for name in files.listed(_WEAKNESSES)
    }


def _beginning(found: Mapping[str, Value], word: str) -> tuple[str, ...]:
    return tuple(
        name for name, text in found.items() if str(text).startswith(word)
    )


def _topology(family: Family) -> None:
    files = family.files
    source = f'{CPUS}/cpu*/topology'

    @functools.cache
    def read_all(name: str) -> tuple[str, ...]:
        online = parsing.numbers(files.read(ONLINE))
        return tuple(
            files.read(f'{CPUS}/cpu{number}/topology/{name}').strip()
            for number in online
        )

    def count(name: str) -> int:
        return len(set(read_all(name)))

    def threads() -> int:
        siblings = read_all('thread_siblings_list')
        return max(len(parsing.numbers(text)) for text in siblings)

    family.computed('threads', ONLINE, lambda: _size(files, ONLINE))
    family.computed('cores', source, lambda: count('thread_siblings_list'))
    family.computed('sockets', source, lambda: count('physical_package_id'))
    family.computed('threads_per_core', source, threads)
    family.computed('core_types', '/sys/devices', lambda: _core_types(files))


def _size(files: HostFiles, path: str) -> int:
    return len(parsing.numbers(files.read(path)))


def _core_types(files: HostFiles) -> tuple[str, ...]:
    """Return atom and core on a processor that has both, else nothing."""
    devices = files.listed('/sys/devices')
    prefix = 'cpu_'
    return tuple(
        name.removeprefix(prefix)
        for name in devices
        if name in (f'{prefix}atom', f'{prefix}core')
    )


def _caches(files: HostFiles) -> dict[str, Value]:
    """Return the size of each cache of the first processor, by level and kind."""
    folder = f'{CPUS}/cpu0/cache'
    found: dict[str, Value] = {}
    for name in files.listed(folder):
        if not name.startswith('index'):
            continue
        level = files.read(f'{folder}/{name}/level').strip()
        kind = files.read(f'{folder}/{name}/type').strip()
        suffix = {'Data': 'd', 'Instruction': 'i'}.get(kind, '')
        size = parsing.size(files.read(f'{folder}/{name}/size').strip())
        found[f'l{level}{suffix}'] = size
    return found


def _frequency(family: Family) -> None:
    none = Absent(value='', given=CPUS)
    policy = f'{CPUS}/cpufreq/policy0'
    family.file('frequency_driver', f'{policy}/scaling_driver', absent=none)
    family.computed(
        'frequency_governors',
        f'{CPUS}/cpufreq/policy*/scaling_governor',
        lambda: _governors(family.files),
    )
    for attribute, name in (
        ('frequency_min_khz', 'cpuinfo_min_freq'),
        ('frequency_max_khz', 'cpuinfo_max_freq'),
        ('frequency_base_khz', 'base_frequency'),
    ):
        family.file(attribute, f'{policy}/{name}', parsing.integer)
    family.file('pstate', f'{CPUS}/intel_pstate/status', absent=none)
    family.computed('turbo', CPUS, lambda: _turbo(family.files))
    family.computed(
        'idle_states',
        f'{CPUS}/cpu0/cpuidle',
        lambda: _idle_states(family.files),
    )
    family.file('idle_driver', f'{CPUS}/cpuidle/current_driver', absent=none)


def _idle_states(files: HostFiles) -> tuple[str, ...]:
    """Return the idle states of the first processor, in the kernel's order."""
    folder = f'{CPUS}/cpu0/cpuidle'
    prefix = 'state'
    try:
        names = files.listed(folder)
    except FileNotFoundError:
        files.listed(CPUS)
        return ()
    numbers = sorted(
        parsing.integer(name.removeprefix(prefix))
        for name in names
        if name.startswith(prefix)
    )
    return tuple(
        files.read(f'{folder}/{prefix}{number}/name').strip()
        for number in numbers
    )


def _governors(files: HostFiles) -> tuple[str, ...]:
    folder = f'{CPUS}/cpufreq'
    try:
        policies = files.listed(folder)
    except FileNotFoundError:
        files.listed(CPUS)
        return ()
    return tuple(
        sorted(
            {
                files.read(f'{folder}/{name}/scaling_governor').strip()
                for name in policies
                if name.startswith('policy')
            }
        )
    )


def _turbo(files: HostFiles) -> bool:
    """Return True if processors may exceed their base frequency."""
    try:
        off = files.read(f'{CPUS}/intel_pstate/no_turbo').strip()
    except FileNotFoundError:
        return parsing.switch(files.read(f'{CPUS}/cpufreq/boost').strip())
    return not parsing.switch(off)
