# SPDX-License-Identifier: Apache-2.0
"""A recorded host answers from its files, and from nothing else."""

import pytest
import recorded_libvirt

from drivers.libvirtd import hypervisor

HOST = """
hostname: cn1.example
versions: {libvirt: 9.0.0, hypervisor: 7.2.0, kind: QEMU}
memory_mib: 24105
processors: {present: 0-3, online: '0-1,3'}
"""
REQUEST = hypervisor.DomainCapabilitiesRequest(
    emulator='/usr/bin/qemu', arch='x86_64', machine='q35', virt_type='kvm'
)
MODEL = '<cpu><arch>x86_64</arch><model>EPYC</model></cpu>'


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return write


@pytest.fixture
def libvirt(tmp_path, write):
    write('host.yaml', HOST)
    return recorded_libvirt.Recorded(tmp_path)


def test_the_host_is_a_yaml_file(libvirt):
    assert libvirt.hostname() == 'cn1.example'
    assert libvirt.memory_mib() == 24105
    assert libvirt.versions() == hypervisor.Versions(
        libvirt=(9, 0, 0), hypervisor=(7, 2, 0), kind='QEMU'
    )
    assert libvirt.processors() == hypervisor.Processors(
        present=frozenset({0, 1, 2, 3}), online=frozenset({0, 1, 3})
    )


def test_capabilities_are_files_by_the_words_of_the_question(libvirt, write):
    write('capabilities.xml', '<capabilities/>')
    write('domain_capabilities/x86_64-q35-kvm.xml', '<plain/>')
    write('domain_capabilities/x86_64-q35-kvm-expanded.xml', '<expanded/>')
    assert libvirt.capabilities() == '<capabilities/>'
    assert libvirt.domain_capabilities(REQUEST) == '<plain/>'
    flags = hypervisor.EXPAND_CPU_FEATURES
    assert libvirt.domain_capabilities(REQUEST, flags) == '<expanded/>'


def test_baselines_are_files_by_the_model(libvirt, write):
    write('baseline_hypervisor_cpu/EPYC-expanded.xml', '<guest/>')
    write('baseline_cpu/EPYC.xml', '<host/>')
    assert (
        libvirt.baseline_hypervisor_cpu(REQUEST, MODEL, expand=True)
        == '<guest/>'
    )
    assert libvirt.baseline_cpu([MODEL], expand=False) == '<host/>'


def test_devices_and_guests_are_folders(libvirt, write):
    write('node_devices/pci_0000_81_00_0.xml', '<device/>')
    write('domains/one.xml', '<domain><uuid>u1</uuid></domain>')
    assert libvirt.node_devices() == {'pci_0000_81_00_0': '<device/>'}
    assert list(libvirt.domains()) == ['u1']


@pytest.mark.parametrize(
    'question',
    [
        lambda libvirt: libvirt.hostname(),
        lambda libvirt: libvirt.capabilities(),
        lambda libvirt: libvirt.domain_capabilities(REQUEST),
        lambda libvirt: libvirt.baseline_cpu([MODEL], expand=True),
        lambda libvirt: libvirt.node_devices(),
        lambda libvirt: libvirt.domains(),
    ],
)
def test_what_is_not_recorded_is_unsupported(tmp_path, question):
    with pytest.raises(hypervisor.Unsupported, match='not recorded'):
        question(recorded_libvirt.Recorded(tmp_path))
