# SPDX-License-Identifier: Apache-2.0
"""DISK_GB: a file system, a volume group, a Ceph pool, or a sharing provider.

Pure: no I/O, configuration, logging or clock. It has the commands that tell
the sizes, and reads their answers strictly: an unexpected answer is an error,
never 0. ``reading/root_inventory.py`` runs the commands.
"""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from compute_agent import errors
from compute_agent.tree import inventory, names, provider_tree

RC = 'DISK_GB'
BYTES_PER_GIB = 1024**3

LVM = 'lvm'
RBD = 'rbd'

# The share of a pool changes a little with each write to the cluster.
_STEADY_PERCENT = 1
_VGS_SIZE = re.compile(r'\s*(\d{1,20})\s*', re.ASCII)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that decide DISK_GB.

    :ivar images_type: ``lvm``, ``rbd``, or a format of files
    :ivar instances_path: the folder of the files
    :ivar image_cache: the folder of cached images, whose size is reserved;
        empty to reserve nothing for them
    :ivar ceph_user: empty for the default of ``ceph``, as ``ceph_conf``
    """

    images_type: str = 'default'
    instances_path: str = ''
    image_cache: str = ''
    reserved_mib: int = 0
    volume_group: str = ''
    pool: str = 'rbd'
    ceph_user: str = ''
    ceph_conf: str = ''

    def __post_init__(self) -> None:
        if self.images_type == LVM and not self.volume_group:
            raise errors.ConfigError(
                '[libvirt] images_type = lvm needs [libvirt] '
                'images_volume_group: set it to the name of the volume group'
            )
        for option, value in (
            ('images_volume_group', self.volume_group),
            ('images_rbd_pool', self.pool),
        ):
            if value.startswith('-'):
                raise errors.ConfigError(
                    f'[libvirt] {option} = {value} begins with a dash: set it '
                    'to a name'
                )


def vgs_command(options: Options) -> tuple[str, ...]:
    """Return the command that tells the size of the volume group."""
    output = ('--noheadings', '--nosuffix', '--units', 'b', '-o', 'vg_size')
    return ('vgs', *output, options.volume_group)


def ceph_command(options: Options) -> tuple[str, ...]:
    """Return the command that tells the size of the pool."""
    user = ('--id', options.ceph_user) if options.ceph_user else ()
    conf = ('--conf', options.ceph_conf) if options.ceph_conf else ()
    return ('ceph', 'df', '--format', 'json', *user, *conf)


def group_gib(answer: str, group: str) -> int:
    """Return the GiB of a volume group from the answer of ``vgs``.

    :raises errors.DriverError: the answer is not one number
    """
    match = _VGS_SIZE.fullmatch(answer)
    if match is None:
        raise errors.DriverError(
            f'vgs did not tell the size of volume group {group}'
        )
    return int(match[1]) // BYTES_PER_GIB


def pool_gib(answer: str, pool: str) -> int:
    """Return the GiB that can be stored in a pool, from ``ceph df``.

    The sum of the data that the pool has already and of the data that still
    fits; replicas do not count.

    :raises errors.DriverError: the answer does not tell it
    """
    stats = _pool_stats(answer, pool)
    sizes = [stats.get(key) for key in ('stored', 'max_avail')]
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise errors.DriverError(
            f'ceph df does not tell "stored" and "max_avail" of pool {pool}; '
            'Ceph 14 and newer do'
        )
    return sum(int(str(size)) for size in sizes) // BYTES_PER_GIB


def _pool_stats(answer: str, pool: str) -> Mapping[str, Any]:
    try:
        found = json.loads(answer)
        pools = {one['name']: one['stats'] for one in found['pools']}
    # Deeply nested brackets exhaust the parser's stack.
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise errors.DriverError(
            'ceph df gave an answer that cannot be read'
        ) from exc
    stats = pools.get(pool)
    if not isinstance(stats, dict):
        raise errors.DriverError(
            f'ceph df lists no pool {pool}: correct [libvirt] '
            'images_rbd_pool, or let [libvirt] rbd_user see the pool'
        )
    return stats


def steady(gib: int, current: inventory.Record | None) -> int:
    """Return the total to report; the old one while it is nearly right.

    Otherwise each host would write to placement in each cycle, because each
    write to the cluster changes what fits into a pool.
    """
    before = int(current['total']) if current is not None else 0
    near = abs(gib - before) * 100 <= gib * _STEADY_PERCENT
    return before if before and near else gib


def is_shared(tree: provider_tree.ProviderTree, nodename: str) -> bool:
    """Return True if a provider shares DISK_GB with the host.

    It has the trait MISC_SHARES_VIA_AGGREGATE and is in an aggregate of the
    host's own provider.
    """
    node = tree.data(nodename)
    return any(
        one.uuid != node.uuid
        and RC in one.inventory
        and names.MISC_SHARES_VIA_AGGREGATE in one.traits
        and bool(one.aggregates & node.aggregates)
        for one in tree.roots
    )
