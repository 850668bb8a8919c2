# SPDX-License-Identifier: Apache-2.0
"""A recorded host tells whose hardware it has, and not whose it is."""

import pytest

from drivers.libvirt.recording import redaction

UUID = '8c1f2b3a-1d2e-4f50-9a6b-7c8d9e0f1a2b'
MAC = '52:54:00:ab:cd:ef'
GUEST = f"""
<domain type='kvm' id='3'>
  <name>customer-database</name>
  <uuid>{UUID}</uuid>
  <metadata><owner>alice</owner></metadata>
  <vcpu placement='static' cpuset='2-3'>2</vcpu>
  <cputune><vcpupin vcpu='0' cpuset='2'/></cputune>
  <devices>
    <disk><source file='/secret/disk'/></disk>
    <graphics type='vnc' passwd='hunter2'/>
    <hostdev mode='subsystem' type='mdev' model='vfio-pci'>
      <source><address uuid='{UUID}'/></source>
    </hostdev>
  </devices>
</domain>
"""


def redacted(texts, *hostnames):
    return redaction.redacted(texts, hostnames)


def alone(text, *hostnames):
    return redacted({'sys/f': text}, *hostnames)['sys/f']


@pytest.mark.parametrize(
    'secret',
    [
        UUID,
        UUID.upper(),
        MAC,
        MAC.replace(':', '-'),
        f'<device><name>net_eth0_{MAC.replace(":", "_")}</name></device>',
        f'mdev_{UUID.replace("-", "_")}_0000_65_00_0',
        '<fields><serial_number>MT2132X01234</serial_number></fields>',
        '<disk><serial>S64GNE0R</serial></disk>',
        'Serial\t\t: 00000000deadbeef',
        'processor 0: version = FF,  identification = 0A1B2C,  machine',
    ],
)
def test_what_names_one_thing_is_replaced(secret):
    digits = alone(secret)
    assert digits != secret
    for mine in (UUID, MAC, 'MT2132', 'S64G', 'deadbeef', '0A1B2C'):
        for between in ':-_':
            assert mine.replace(':', between).lower() not in digits.lower()
            assert mine.replace('-', between).lower() not in digits.lower()


@pytest.mark.parametrize(
    'harmless',
    [
        'pci_0000_84_00_0',
        '0000:84:00.0',
        '/sys/bus/pci/devices/0000:84:00.0/aer_dev_fatal',
        "<vendor id='0x10de'>NVIDIA Corporation</vendor>",
        'flags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep',
        'facilities      : 0 1 2 3 4 6 7 8 9 10 12 14 16',
        'sev 410\nsev_es 99',
        'net_lo_00_00_00_00_00_00'[:6],
    ],
)
def test_other_words_stay(harmless):
    assert alone(harmless) == harmless


def test_one_value_has_one_replacement_everywhere():
    texts = redacted(
        {
            f'libvirt/node_devices/mdev_{UUID.replace("-", "_")}.xml': UUID,
            'libvirt/node_devices/other.xml': f'{UUID.upper()} {MAC}',
        }
    )
    (named,) = (path for path in texts if 'mdev_' in path)
    new = texts[named]
    assert named.endswith(f'mdev_{new.replace("-", "_")}.xml')
    assert texts['libvirt/node_devices/other.xml'].startswith(new)


def test_two_values_stay_two():
    first, second = alone(f'{UUID} {UUID[:-1]}c').split()
    assert first != second


def test_the_hosts_names_are_replaced_as_whole_names():
    text = 'hostname: cn1.example.net cn1.example.network cn1 cn12\n'
    names = ('cn1', 'cn1.example.net')
    new = redaction.HOSTNAME
    assert alone(text, *names) == text.replace('cn1.example.net ', f'{new} ')
    path = 'libvirt/host.yaml'
    assert redacted({path: text}, *names)[path] == (
        f'hostname: {new} cn1.example.network {new} cn12\n'
    )


def test_a_host_that_is_named_like_a_word_of_libvirts_leaves_the_word():
    text = '<domain type="kvm"/>'
    assert alone(text, 'kvm') == text


def test_a_file_with_a_serial_number_is_emptied():
    path = 'sys/class/nvme/nvme0/serial'
    assert redacted({path: 'S64GNE0R'}) == {path: 'removed\n'}


def test_only_what_the_driver_reads_of_a_guest_is_left():
    path = f'libvirt/domains/{UUID}.xml'
    ((_, text),) = redacted({path: GUEST}).items()
    for secret in ('customer', 'alice', 'secret', 'hunter2', UUID):
        assert secret not in text
    for needed in ('vcpupin', 'cpuset="2-3"', 'hostdev', 'type="mdev"'):
        assert needed in text


def test_a_guest_that_cannot_be_parsed_is_left_out():
    assert redacted({'libvirt/domains/1.xml': '<domain><name>bob'}) == {
        'libvirt/domains/1.xml': ''
    }
