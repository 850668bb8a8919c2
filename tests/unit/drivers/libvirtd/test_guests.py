# SPDX-License-Identifier: Apache-2.0
"""A guest's XML tells which of the host's things it has."""

import pytest

from drivers.libvirtd import guests, hypervisor

UUID = '7c1d2f60-5b3a-4e8f-9a01-0d2c4b6e8f11'
NOVA = 'http://openstack.org/xmlns/libvirt/nova/1.1'


def read(content):
    text = f'<domain type="kvm"><uuid>{UUID}</uuid>{content}</domain>'
    return guests.read({UUID: text})[UUID]


def pinned(*cpusets, policy=None):
    pins = ''.join(
        f'<vcpupin vcpu="{n}" cpuset="{on}"/>' for n, on in enumerate(cpusets)
    )
    spec = f'<n:extraSpec name="hw:cpu_policy">{policy}</n:extraSpec>'
    flavor = f'<n:flavor><n:extraSpecs>{spec}</n:extraSpecs></n:flavor>'
    owned = f'<n:instance xmlns:n="{NOVA}">{flavor}</n:instance>'
    metadata = f'<metadata>{owned}</metadata>' if policy else ''
    return read(f'{metadata}<cputune>{pins}</cputune>').pinned()


def test_a_guest_without_anything_has_nothing():
    guest = read('<vcpu>2</vcpu>')
    assert guest.pinned() == guest.mdevs == guest.pci == frozenset()
    assert not guest.encryption


@pytest.mark.parametrize(
    ('cpusets', 'policy', 'processors'),
    [
        (['4', '36'], None, {4, 36}),
        (['4', '36'], 'dedicated', {4, 36}),
        (['0-3', '4'], 'mixed', {4}),
        (['0-3', '0-3'], None, set()),
        (['0-3,^1-3'], None, {0}),
        # A NUMA cell of one processor, which other guests may use, too.
        (['4'], 'shared', set()),
    ],
)
def test_a_processor_of_one_guest_is_pinned(cpusets, policy, processors):
    assert pinned(*cpusets, policy=policy) == processors


def test_devices_of_the_host_are_listed():
    guest = read(
        '<devices>'
        '<hostdev type="pci"><source><address domain="0x0000" bus="0x81"'
        ' slot="0x1f" function="0x1"/></source>'
        '<address type="pci" domain="0" bus="1" slot="0" function="0"/>'
        '</hostdev>'
        f'<hostdev type="mdev"><source><address uuid="{UUID}"/></source>'
        '</hostdev>'
        '<hostdev type="usb"><source><address bus="1" device="2"/></source>'
        '</hostdev>'
        '</devices>'
    )
    assert guest.pci == {'0000:81:1f.1'}
    assert guest.mdevs == {UUID}


@pytest.mark.parametrize(
    ('element', 'kind'),
    [
        ('<launchSecurity type="sev"><policy>0x0003</policy>', guests.SEV),
        (
            '<launchSecurity type="sev"><policy>0x0007</policy>',
            guests.SEV_ES,
        ),
        ('<launchSecurity type="sev">', guests.SEV),
        (
            '<launchSecurity type="sev-snp"><policy>0x00030000</policy>',
            guests.SEV_SNP,
        ),
        ('<launchSecurity type="tdx">', guests.TDX),
        ('<launchSecurity type="s390-pv">', ''),
    ],
)
def test_the_kind_of_encryption_is_told(element, kind):
    assert read(f'{element}</launchSecurity>').encryption == kind


@pytest.mark.parametrize(
    'content',
    [
        '<cputune><vcpupin vcpu="0" cpuset="x"/></cputune>',
        '<cputune><vcpupin vcpu="a" cpuset="1"/></cputune>',
        '<cputune><vcpupin vcpu="0"/></cputune>',
        (
            '<devices><hostdev type="pci"><source><address bus="0x81"/></source>'
            '</hostdev></devices>'
        ),
        '<launchSecurity type="sev"><policy>x</policy></launchSecurity>',
        '<cputune>',
        '<!DOCTYPE a>',
    ],
)
def test_a_guest_that_cannot_be_read_is_unknown(content):
    with pytest.raises(hypervisor.Unanswered, match=UUID):
        read(content)
