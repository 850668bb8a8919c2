# SPDX-License-Identifier: Apache-2.0
"""What ``probe --raw`` prints of a host is a case that gives the same tree."""

import dataclasses
import json

import pytest
import recorded_hosts

from compute_agent import errors
from drivers.libvirt import driver
from drivers.libvirt.recording import redaction


def described(libvirt):
    """Return the tree, or the error of a host that cannot be described."""
    tree = recorded_hosts.empty_tree(libvirt)
    try:
        recorded_hosts.describe(libvirt, tree)
    except errors.DriverError as exc:
        return str(exc)
    return recorded_hosts.plain(tree)


def renamed(tree, old):
    if isinstance(tree, str):
        return tree
    new = redaction.HOSTNAME
    return {name.replace(old, new): found for name, found in tree.items()}


def recorded(libvirt, folder):
    """Write the raw evidence of a driver as a case; return its path → text."""
    (name,) = libvirt.get_available_nodes()
    texts = libvirt.raw_evidence(name)
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return texts


@pytest.fixture(params=recorded_hosts.cases('tree'))
def case(request):
    return recorded_hosts.HOSTS / request.param


@pytest.mark.parametrize(
    'folder',
    [path for path in sorted(recorded_hosts.HOSTS.iterdir()) if path.is_dir()],
    ids=lambda path: path.name,
)
def test_the_recording_of_a_host_gives_the_same_tree(folder, tmp_path):
    for options in recorded_hosts.nova_confs(folder, tmp_path):
        first = recorded_hosts.driver_on(folder, options)
        before = described(first)
        (old,) = first.get_hypervisor_hostnames().values()
        copy = tmp_path / f'case of {options.stem}'
        recorded(first, copy)
        after = described(recorded_hosts.driver_on(copy))
        assert after == renamed(before, old)


def test_a_recording_of_a_recording_is_the_same(case, tmp_path):
    once, twice = tmp_path / 'once', tmp_path / 'twice'
    texts = recorded(recorded_hosts.driver_on(case), once)
    assert recorded(recorded_hosts.driver_on(once), twice) == texts


def test_it_names_no_host_and_is_json(case, tmp_path):
    libvirt = recorded_hosts.driver_on(case)
    texts = recorded(libvirt, tmp_path)
    (name,) = libvirt.get_hypervisor_hostnames().values()
    assert name not in json.dumps(texts)
    assert any(path.startswith('libvirt/') for path in texts)
    assert 'proc/cpuinfo' in texts


def test_the_options_are_kept_except_those_that_name_a_host(case, tmp_path):
    conf = tmp_path / 'nova.conf'
    conf.write_text(
        '[DEFAULT]\nhost = mine\n'
        '[libvirt]\nconnection_uri = qemu+ssh://me@mine/system\n'
        'cpu_mode = custom\ncpu_model_extra_flags = +pcid, -aes\n'
        '[libvirt]\nswtpm_enabled = true\n'
    )
    libvirt = recorded_hosts.driver_on(case, conf)
    kept = tmp_path / 'kept'
    text = recorded(libvirt, kept)['nova.conf']
    assert 'mine' not in text
    found = recorded_hosts.configuration(kept / 'nova.conf')
    assert found.libvirt.cpu_mode == 'custom'
    assert found.libvirt.cpu_model_extra_flags == ['+pcid', '-aes']
    assert found.libvirt.swtpm_enabled is True


def test_a_host_that_cannot_be_described_is_recorded_as_far_as_possible(
    case, tmp_path
):
    class Unreadable(recorded_hosts.SomeFiles):
        def file_system_bytes(self, path):
            raise errors.DriverError(f'{path} cannot be read')

    of = dataclasses.replace(
        recorded_hosts.sources_of(case), files=Unreadable(case)
    )
    libvirt = driver.LibvirtDriver.on_host(recorded_hosts.configuration(), of)
    assert 'proc/cpuinfo' in recorded(libvirt, tmp_path)


def test_the_driver_of_another_host_records_nothing(case):
    with pytest.raises(errors.DriverError, match='this host is'):
        recorded_hosts.driver_on(case).raw_evidence('another')


@pytest.mark.parametrize(
    'name', ['disk-in-ceph', 'disk-with-image-cache', 'pmem']
)
def test_programs_and_the_sizes_of_folders_are_recorded(name, tmp_path):
    first = recorded_hosts.driver_on(recorded_hosts.HOSTS / name)
    (before,) = described(first).values()
    recorded(first, tmp_path)
    (after,) = described(recorded_hosts.driver_on(tmp_path)).values()
    assert after['inventory'] == before['inventory']


@pytest.mark.parametrize(
    ('name', 'conf'),
    [
        (
            'gpu-three-cards',
            (
                '[devices]\nenabled_mdev_types = nvidia-230\n'
                '[mdev_nvidia-230]\nmax_instances = 20\n'
                'device_addresses = 0000:3b:00.0,0000:5e:00.0\n'
            ),
        ),
        (
            'nic-virtual-functions',
            (
                '[pci]\nreport_in_placement = true\n'
                'device_spec = {"product_id": "154c"}\n'
                'device_spec = {"product_id": "101e", "remote_managed": "true"}\n'
            ),
        ),
        (
            'nvme-eight',
            (
                '[pci]\nreport_in_placement = true\n'
                'device_spec = {"vendor_id": "144d", "one_time_use": "true"}\n'
            ),
        ),
        ('encryption-sev-es', ''),
    ],
)
def test_devices_are_recorded_with_their_options(name, conf, tmp_path):
    path = tmp_path / 'given.conf'
    path.write_text(conf)
    first = recorded_hosts.driver_on(recorded_hosts.HOSTS / name, path)
    before = described(first)
    assert len(before) > 1
    recorded(first, tmp_path / 'kept')
    (old,) = first.get_hypervisor_hostnames().values()
    after = described(recorded_hosts.driver_on(tmp_path / 'kept'))
    assert after == renamed(before, old)
