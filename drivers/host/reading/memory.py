# SPDX-License-Identifier: Apache-2.0
"""The memory: amount, NUMA nodes, huge pages, error correction.

It does I/O through ``HostFiles``. A missing file means something in these
cases: a kernel without NUMA has no ``node`` folder (one node, unknown to the
kernel), and without ``ksm`` or transparent huge pages it has no folder for
them. A missing EDAC driver means nothing: the memory may correct errors all
the same.
"""

import functools
from collections.abc import Callable

from ...host_files import HostFiles
from ..facts import parsing
from ..facts.fact import Fact, Value
from .family import Absent, Family

MEMINFO = '/proc/meminfo'
_MM = '/sys/kernel/mm'
_HUGE = f'{_MM}/hugepages'
_NODES = '/sys/devices/system/node'
_EDAC = '/sys/devices/system/edac/mc'
_NONE = ('None', 'Unknown')


def read(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the memory."""
    family = Family('memory', files)
    _amounts(family)
    _huge_pages(family)
    _nodes(family)
    _edac(family)
    devices = Absent(value=0, given='/sys/bus')
    for attribute, bus, prefix in (
        ('nvdimms', 'nd', 'nmem'),
        ('nvdimm_regions', 'nd', 'region'),
        ('cxl_devices', 'cxl', 'mem'),
    ):
        folder = f'/sys/bus/{bus}/devices'
        family.computed(
            attribute,
            folder,
            functools.partial(_count, files, folder, prefix, devices),
        )
    return family.facts


def _amounts(family: Family) -> None:
    @functools.cache
    def found() -> dict[str, str]:
        return parsing.table(family.files.read(MEMINFO))

    def amount(key: str) -> int:
        return _amount(found(), key)

    for attribute, key in (
        ('bytes', 'MemTotal'),
        ('swap_bytes', 'SwapTotal'),
        ('huge_page_bytes', 'Hugepagesize'),
    ):
        family.computed(attribute, MEMINFO, functools.partial(amount, key))


def _amount(found: dict[str, str], key: str) -> int:
    if key not in found:
        raise ValueError(f'it has no {key}')
    return parsing.kibibytes(found[key])


def _huge_pages(family: Family) -> None:
    files = family.files
    family.computed('huge_pages', _HUGE, lambda: _pages(files, _HUGE))
    family.file(
        'transparent_huge_pages',
        f'{_MM}/transparent_hugepage/enabled',
        parsing.chosen,
        Absent(value='never', given=_MM),
    )
    family.file(
        'ksm',
        f'{_MM}/ksm/run',
        lambda text: text == '1',
        Absent(value=False, given=_MM),
    )


def _pages(files: HostFiles, folder: str) -> dict[str, Value]:
    """Return the size of a page in KiB, as text → the pages of this size."""
    prefix, suffix = 'hugepages-', 'kB'
    try:
        names = files.listed(folder)
    except FileNotFoundError:
        files.listed(folder.rpartition('/')[0])
        return {}
    return {
        name.removeprefix(prefix).removesuffix(suffix): parsing.integer(
            files.read(f'{folder}/{name}/nr_hugepages').strip()
        )
        for name in names
        if name.startswith(prefix)
    }


def _nodes(family: Family) -> None:
    files = family.files
    family.file('numa_nodes', f'{_NODES}/online', parsing.numbers)

    def of_nodes(
        attribute: str, name: str, of: Callable[[str], Value]
    ) -> None:
        family.computed(
            attribute,
            f'{_NODES}/node*/{name}',
            lambda: {
                str(number): of(f'{_NODES}/node{number}')
                for number in parsing.numbers(files.read(f'{_NODES}/online'))
            },
        )

    of_nodes('numa_bytes', 'meminfo', lambda node: _of_node(files, node))
    of_nodes(
        'numa_cpus',
        'cpulist',
        lambda node: parsing.numbers(files.read(f'{node}/cpulist')),
    )
    of_nodes(
        'numa_distances',
        'distance',
        lambda node: tuple(
            int(word) for word in files.read(f'{node}/distance').split()
        ),
    )
    of_nodes(
        'numa_huge_pages',
        'hugepages',
        lambda node: _pages(files, f'{node}/hugepages'),
    )
    family.file(
        'numa_balancing',
        '/proc/sys/kernel/numa_balancing',
        lambda text: text != '0',
        Absent(value=False, given='/proc/sys/kernel'),
    )


def _of_node(files: HostFiles, node: str) -> int:
    for line in files.read(f'{node}/meminfo').splitlines():
        key, _, value = line.partition(':')
        if key.endswith(' MemTotal'):
            return parsing.kibibytes(value)
    raise ValueError('it has no MemTotal')


def _edac(family: Family) -> None:
    files = family.files
    for attribute, name in (
        ('ecc_modes', 'dimm_edac_mode'),
        ('types', 'dimm_mem_type'),
    ):
        family.computed(
            attribute,
            f'{_EDAC}/mc*/dimm*/{name}',
            functools.partial(_of_modules, files, name),
        )
    family.computed(
        'ecc',
        f'{_EDAC}/mc*/dimm*/dimm_edac_mode',
        lambda: any(
            mode not in _NONE for mode in _of_modules(files, 'dimm_edac_mode')
        ),
    )
    for attribute, name in (
        ('corrected_errors', 'ce_count'),
        ('uncorrected_errors', 'ue_count'),
    ):
        family.computed(
            attribute,
            f'{_EDAC}/mc*/{name}',
            functools.partial(_errors, files, name),
        )


def _controllers(files: HostFiles) -> list[str]:
    """Return the folders of the memory controllers.

    :raises ValueError: no EDAC driver knows one
    """
    found = [
        f'{_EDAC}/{name}'
        for name in files.names(_EDAC) or ()
        if name.startswith('mc')
    ]
    if not found:
        raise ValueError('no EDAC driver tells of a memory controller')
    return found


def _of_modules(files: HostFiles, name: str) -> tuple[str, ...]:
    found = {
        files.read(f'{controller}/{module}/{name}').strip()
        for controller in _controllers(files)
        for module in files.listed(controller)
        if module.startswith(('dimm', 'rank'))
    }
    if not found:
        raise ValueError('the EDAC driver tells of no memory modules')
    return tuple(sorted(found))


def _errors(files: HostFiles, name: str) -> int:
    return sum(
        parsing.integer(files.read(f'{controller}/{name}').strip())
        for controller in _controllers(files)
    )


def _count(files: HostFiles, folder: str, prefix: str, none: Absent) -> int:
    try:
        names = files.listed(folder)
    except FileNotFoundError:
        if not files.exists(none.given):
            raise
        return 0
    return sum(
        name.startswith(prefix) and name.removeprefix(prefix).isdigit()
        for name in names
    )
