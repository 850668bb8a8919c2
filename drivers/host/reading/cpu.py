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
from .family import Family, listed

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
        'cache_bytes', f'{CPUS}/cpu0/cache', lambda: _caches(family)
    )
    return family.facts


def read_state(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts that an administrator changes on a running host."""
    family = Family('cpu', files, CPUS)
    for attribute in ('present', 'online', 'offline'):
        family.file(attribute, parse=parsing.numbers)
    family.file('isolated', parse=_isolated, absent=())
    family.file('tickless', 'nohz_full', _isolated, absent=())
    family.file('smt', 'smt/active', parsing.switch, absent=False)
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
            attribute, CPUINFO, functools.partial(first, keys, parse)
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
        return tuple(
            family.text(f'{CPUS}/cpu{number}/topology/{name}')
            for number in parsing.numbers(files.read(ONLINE))
        )

    def different(name: str) -> int:
        return len(set(read_all(name)))

    def threads_per_core() -> int:
        siblings = read_all('thread_siblings_list')
        return max(len(parsing.numbers(text)) for text in siblings)

    family.file('threads', ONLINE, lambda text: len(parsing.numbers(text)))
    for attribute, name in (
        ('cores', 'thread_siblings_list'),
        ('sockets', 'physical_package_id'),
    ):
        family.computed(attribute, source, functools.partial(different, name))
    family.computed('threads_per_core', source, threads_per_core)
    family.computed('core_types', '/sys/devices', lambda: _core_types(files))


def _core_types(files: HostFiles) -> tuple[str, ...]:
    """Return ``atom`` and ``core`` if the processor has both, else nothing."""
    devices = files.listed('/sys/devices')
    prefix = 'cpu_'
    return tuple(
        name.removeprefix(prefix)
        for name in devices
        if name in (f'{prefix}atom', f'{prefix}core')
    )


def _caches(family: Family) -> dict[str, Value]:
    """Return the size of each cache of the first processor, by level and kind."""
    folder = f'{CPUS}/cpu0/cache'
    found: dict[str, Value] = {}
    for name in family.files.listed(folder):
        if name.startswith('index'):
            level, kind, size = (
                family.text(f'{folder}/{name}/{file}')
                for file in ('level', 'type', 'size')
            )
            suffix = {'Data': 'd', 'Instruction': 'i'}.get(kind, '')
            found[f'l{level}{suffix}'] = parsing.size(size)
    return found


def _frequency(family: Family) -> None:
    files = family.files
    policies = f'{CPUS}/cpufreq'
    policy = 'cpufreq/policy0'
    family.file('frequency_driver', f'{policy}/scaling_driver', absent='')
    family.computed(
        'frequency_governors',
        f'{policies}/policy*/scaling_governor',
        lambda: family.texts(
            f'{policies}/{name}/scaling_governor'
            for name in listed(files, policies, CPUS)
            if name.startswith('policy')
        ),
    )
    for attribute, name in (
        ('frequency_min_khz', 'cpuinfo_min_freq'),
        ('frequency_max_khz', 'cpuinfo_max_freq'),
        ('frequency_base_khz', 'base_frequency'),
    ):
        family.file(attribute, f'{policy}/{name}', parsing.integer)
    family.file('pstate', 'intel_pstate/status', absent='')
    family.computed('turbo', CPUS, lambda: _turbo(family))
    family.computed(
        'idle_states', f'{CPUS}/cpu0/cpuidle', lambda: _idle_states(family)
    )
    family.file('idle_driver', 'cpuidle/current_driver', absent='')


def _idle_states(family: Family) -> tuple[str, ...]:
    """Return the idle states of the first processor, in the kernel's order."""
    folder = f'{CPUS}/cpu0/cpuidle'
    prefix = 'state'
    numbers = sorted(
        parsing.integer(name.removeprefix(prefix))
        for name in listed(family.files, folder, CPUS)
        if name.startswith(prefix)
    )
    return tuple(
        family.text(f'{folder}/{prefix}{number}/name') for number in numbers
    )


def _turbo(family: Family) -> bool:
    """Return True if processors may exceed their base frequency."""
    try:
        off = family.text(f'{CPUS}/intel_pstate/no_turbo')
    except FileNotFoundError:
        return parsing.switch(family.text(f'{CPUS}/cpufreq/boost'))
    return not parsing.switch(off)
