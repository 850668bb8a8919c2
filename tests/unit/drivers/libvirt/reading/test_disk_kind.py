# SPDX-License-Identifier: Apache-2.0
"""The kind of disk comes from the block device below the instances' folder."""

import pytest

from compute_agent.virt.values import finding
from drivers import host_files
from drivers.libvirt.inventory import disk
from drivers.libvirt.reading import disk_kind

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 253:4 / /var/lib/nova rw,relatime shared:9 - xfs /dev/mapper/vg-nova rw
31 22 0:44 / /mnt/shared\\040disk rw - nfs4 filer:/export rw
"""
SSD, HDD = 'STORAGE_DISK_SSD', 'STORAGE_DISK_HDD'


@pytest.fixture
def root(tmp_path):
    """A root folder: a hard disk with a partition, and a volume on flash."""
    blocks = tmp_path / 'sys/dev/block'
    for name, rotational in (('sda', '1'), ('253:4', '0')):
        (blocks / name / 'queue').mkdir(parents=True)
        (blocks / name / 'queue/rotational').write_text(f'{rotational}\n')
    (blocks / 'sda/sda1').mkdir()
    (blocks / '8:1').symlink_to('sda/sda1')
    (tmp_path / 'proc/self').mkdir(parents=True)
    (tmp_path / 'proc/self/mountinfo').write_text(MOUNTS)
    return tmp_path


def found(root, path='/var/lib/nova/instances', **options):
    settings = disk.Options(instances_path=path, **options)
    findings = disk_kind.findings(host_files.HostFiles(root), settings)
    return {f.trait: f.found for f in findings}


def test_flash_below_a_mount_of_its_own(root):
    assert found(root) == {
        SSD: finding.Found.PRESENT,
        HDD: finding.Found.ABSENT,
    }


def test_a_partition_has_the_kind_of_its_disk(root):
    assert found(root, '/var/lib/novae') == {
        SSD: finding.Found.ABSENT,
        HDD: finding.Found.PRESENT,
    }


def test_a_symbolic_link_leads_to_the_disk(root):
    (root / 'srv').mkdir()
    (root / 'var/lib/nova').mkdir(parents=True)
    (root / 'srv/instances').symlink_to('../var/lib/nova')
    assert found(root, '/srv/instances')[SSD] is finding.Found.PRESENT


@pytest.mark.parametrize(
    ('path', 'options'),
    [
        ('/mnt/shared disk/instances', {}),
        ('/var/lib/nova', {'images_type': 'rbd'}),
        ('/var/lib/nova', {'images_type': 'lvm', 'volume_group': 'vg'}),
    ],
)
def test_other_storage_is_unknown(root, path, options):
    assert set(found(root, path, **options).values()) == {
        finding.Found.UNKNOWN
    }


def test_a_virtual_disk_does_not_tell_its_kind(root):
    device = root / 'sys/devices/pci0000:00/virtio1/block/vda'
    (device / 'queue').mkdir(parents=True)
    (device / 'queue/rotational').write_text('1\n')
    link = root / 'sys/dev/block/8:1'
    link.unlink()
    link.symlink_to('../../devices/pci0000:00/virtio1/block/vda')
    assert set(found(root, '/srv').values()) == {finding.Found.UNKNOWN}


@pytest.mark.parametrize(
    'gone', ['proc/self/mountinfo', 'sys/dev/block/253:4/queue/rotational']
)
def test_a_file_that_cannot_be_read_leaves_it_unknown(root, gone):
    (root / gone).unlink()
    assert set(found(root).values()) == {finding.Found.UNKNOWN}
