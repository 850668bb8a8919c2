# SPDX-License-Identifier: Apache-2.0
"""Options of ``[libvirt]``: the libvirt to ask, and where guests have disks.

The drivers of hosts register them; those of the libvirt driver are in the
sample file.
"""

from oslo_config import cfg

GROUP = 'libvirt'

_IN_FILES = 'The file system of instances_path.'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'connection_uri',
        default='',
        help='The URI of the libvirt that the driver asks. If it is empty, '
        'the driver asks lxc:///system for the virt_type lxc, '
        'parallels:///system for parallels and qemu:///system otherwise. '
        'Where no libvirt answers, the driver reads the files of the '
        'kernel.',
    ),
    cfg.StrOpt(
        'virt_type',
        default='kvm',
        choices=['kvm', 'lxc', 'qemu', 'parallels'],
        help='The kind of guests, as in nova.conf. The features that '
        'their processors get depend on it. The driver knows them for kvm '
        'and qemu; for other kinds, the CPU traits stay as placement has '
        'them.',
    ),
    cfg.StrOpt(
        'images_type',
        default='default',
        choices=[
            *((name, _IN_FILES) for name in ('default', 'raw', 'flat')),
            *((name, _IN_FILES) for name in ('qcow2', 'ploop')),
            ('lvm', 'The volume group images_volume_group.'),
            ('rbd', 'The share of images_rbd_pool in its Ceph cluster.'),
        ],
        help='The storage of guests that is reported as DISK_GB. With lvm and '
        'rbd, no trait tells the kind of the local disks.',
    ),
]

_URIS = {'lxc': 'lxc:///system', 'parallels': 'parallels:///system'}


def connection_uri(conf: cfg.ConfigOpts) -> str:
    """Return the URI of libvirt: the option's, or the one for the virt_type."""
    chosen: str = conf.libvirt.connection_uri
    return chosen or _URIS.get(conf.libvirt.virt_type, 'qemu:///system')


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``; another driver may have done so."""
    conf.register_opts(OPTS, group=GROUP)
