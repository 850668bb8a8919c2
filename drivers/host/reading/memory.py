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
from .family import Family, listed

MEMINFO = '/proc/meminfo'
_MM = '/sys/kernel/mm'
_HUGE = f'{_MM}/hugepages'
_NODES = '/sys/devices/system/node'
_EDAC = '/sys/devices/system/edac/mc'
_NONE = ('None', 'Unknown')


def read(files: HostFiles) -> tuple[Fact, ...]:
    """Return the facts of the memory."""
    family = Family('memory', files, _MM)
    _amounts(family)
    _huge_pages(family)
    _nodes(family)
    _edac(family)
    for attribute, bus, prefix in (
        ('nvdimms', 'nd', 'nmem'),
        ('nvdimm_regions', 'nd', 'region'),
        ('cxl_devices', 'cxl', 'mem'),
    ):
        family.counted(
            attribute,
            f'/sys/bus/{bus}/devices',
            functools.partial(_is_numbered, prefix),
            absent=0,
            given='/sys/bus',
        )
    return family.facts


def _is_numbered(prefix: str, name: str) -> bool:
    return name.startswith(prefix) and name.removeprefix(prefix).isdigit()


def _amounts(family: Family) -> None:
    @functools.cache
    def found() -> dict[str, str]:
        return parsing.table(family.files.read(MEMINFO))

    def amount(key: str) -> int:
        if key not in found():
            raise ValueError(f'it has no {key}')
        return parsing.kibibytes(found()[key])

    for attribute, key in (
        ('bytes', 'MemTotal'),
        ('swap_bytes', 'SwapTotal'),
        ('huge_page_bytes', 'Hugepagesize'),
    ):
        family.computed(attribute, MEMINFO, functools.partial(amount, key))


def _huge_pages(family: Family) -> None:
    family.computed('huge_pages', _HUGE, lambda: _pages(family, _HUGE))
    family.file(
        'transparent_huge_pages',
        'transparent_hugepage/enabled',
        parsing.chosen,
        absent='never',
    )
    family.file('ksm', 'ksm/run', lambda text: text == '1', absent=False)


def _pages(family: Family, folder: str) -> dict[str, Value]:
    """Return the size of a page in KiB, as text → the pages of this size."""
    prefix, suffix = 'hugepages-', 'kB'
    return {
        name.removeprefix(prefix).removesuffix(suffix): parsing.integer(
            family.text(f'{folder}/{name}/nr_hugepages')
        )
        for name in listed(family.files, folder, folder.rpartition('/')[0])
        if name.startswith(prefix)
    }


def _nodes(family: Family) -> None:
    files = family.files
    family.file('numa_nodes', f'{_NODES}/online', parsing.numbers)

    def of_nodes(
        attribute: str, name: str, value: Callable[[str], Value]
    ) -> None:
        family.computed(
            attribute,
            f'{_NODES}/node*/{name}',
            lambda: {
                str(number): value(f'{_NODES}/node{number}/{name}')
                for number in parsing.numbers(files.read(f'{_NODES}/online'))
            },
        )

    of_nodes('numa_bytes', 'meminfo', lambda p: _of_node(files.read(p)))
    of_nodes('numa_cpus', 'cpulist', lambda p: parsing.numbers(files.read(p)))
    of_nodes(
        'numa_distances',
        'distance',
        lambda p: tuple(int(word) for word in files.read(p).split()),
    )
    of_nodes('numa_huge_pages', 'hugepages', lambda p: _pages(family, p))
    family.file(
        'numa_balancing',
        '/proc/sys/kernel/numa_balancing',
        lambda text: text != '0',
        False,
        '/proc/sys/kernel',
    )


def _of_node(text: str) -> int:
    """Return the bytes of a node's memory."""
    for line in text.splitlines():
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
            functools.partial(_of_modules, family, name),
        )
    family.computed(
        'ecc',
        f'{_EDAC}/mc*/dimm*/dimm_edac_mode',
        lambda: any(
            mode not in _NONE for mode in _of_modules(family, 'dimm_edac_mode')
        ),
    )

    def errors(name: str) -> int:
        return sum(
            parsing.integer(family.text(f'{controller}/{name}'))
            for controller in _controllers(files)
        )

    for attribute, name in (
        ('corrected_errors', 'ce_count'),
        ('uncorrected_errors', 'ue_count'),
    ):
        family.computed(
            attribute,
            f'{_EDAC}/mc*/{name}',
            functools.partial(errors, name),
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


def _of_modules(family: Family, name: str) -> tuple[str, ...]:
    found = family.texts(
        f'{controller}/{module}/{name}'
        for controller in _controllers(family.files)
        for module in family.files.listed(controller)
        if module.startswith(('dimm', 'rank'))
    )
    if not found:
        raise ValueError('the EDAC driver tells of no memory modules')
    return found
