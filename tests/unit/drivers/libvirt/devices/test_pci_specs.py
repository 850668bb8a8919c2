# SPDX-License-Identifier: Apache-2.0
"""Entries of device_spec select as nova's do; a wrong one says what to change."""

import json

import pytest

from compute_agent import errors
from drivers.libvirt.devices import pci_specs
from drivers.libvirt.devices.node_devices import PciDevice

PF = '0000:81:00.0'
DEVICE = PciDevice(
    name='pci_0000_81_0a_3',
    address='0000:81:0a.3',
    vendor='8086',
    product='154c',
    phys_function=PF,
)

WRONG = {
    'no JSON': 'this is not JSON',
    '"text"': 'write a JSON object, or a list of objects',
    '[{"vendor_id": "8086"}, 7]': 'write a JSON object',
    '{"vendor_id": 8086}': 'vendor_id must be a text in quotes',
    '{"vendor_id": "10000"}': "vendor_id '10000' is no hexadecimal number",
    '{"product_id": "xyz"}': "product_id 'xyz' is no hexadecimal number",
    '{"address": "0:0000:81:00.0"}': 'has more parts than 0000:81:00.0',
    '{"address": "0000:81:20.0"}': "the slot in address '20' is no",
    '{"address": "0000:81:00.8"}': "the function in address '8' is no",
    '{"address": "-1:81:00.0"}': "the domain in address '-1' is no",
    '{"address": 7}': 'address must be a text or an object of patterns',
    '{"address": {"bus": "("}}': 'no regular expression',
    '{"address": {"bus": 81}}': 'no regular expression',
    '{"live_migratable": "perhaps"}': 'live_migratable must be "true" or',
    '{"managed": "perhaps"}': 'managed must be "true" or "false"',
    '{"devname": "eth0"}': 'devname is not possible',
    '{"devname": "eth0", "address": "0000:81:00.0"}': 'not both',
    '{"resource_class": "CUSTOM_A-B"}': 'resource_class',
    '{"traits": "CUSTOM_A,CUSTOM_B C"}': 'traits',
    '{"traits": ["A"]}': 'traits must be a text in quotes',
}
SELECTS = {
    '{}': True,
    '{"vendor_id": "8086", "product_id": "154C"}': True,
    '{"vendor_id": "*", "product_id": "154d"}': False,
    '{"address": "0000:81:0a.3"}': True,
    '{"address": "81:0A.3"}': True,
    '{"address": "*:81:*.*"}': True,
    '{"address": "*:82:*.*"}': False,
    '{"address": ":0a."}': True,
    '{"address": ".3"}': True,
    '{"address": ".4"}': False,
    # The address of its PF, exactly or not.
    '{"address": "0000:81:00.0"}': True,
    '{"address": "*:81:00.0"}': False,
    '{"address": {"bus": "8[12]", "function": "[0-3]"}}': True,
    '{"address": {"bus": "1"}}': False,
    '{"address": {"domain": "0000", "bus": "81", "slot": "00", "function": "0"}}': True,
    '{"remote_managed": "true"}': False,
}


@pytest.mark.parametrize(('text', 'why'), WRONG.items())
def test_a_wrong_entry_is_named_with_the_reason(text, why):
    with pytest.raises(errors.ConfigError) as caught:
        pci_specs.parse([text], reported=True)
    line = str(caught.value)
    assert line.startswith('[pci] device_spec = ')
    assert why in line
    assert '\n' not in line


@pytest.mark.parametrize(('text', 'selects'), SELECTS.items())
def test_an_entry_selects_by_ids_and_address(text, selects):
    (spec,) = pci_specs.parse([text], reported=True)
    assert spec.selects(DEVICE, serial='') is selects


def test_remote_managed_selects_a_device_with_a_serial_number():
    (spec,) = pci_specs.parse(['{"remote_managed": "yes"}'], reported=True)
    assert spec.selects(DEVICE, serial='MT2113X')


def test_devname_is_possible_without_placement():
    assert pci_specs.parse(['{"devname": "eth0"}'], reported=False)


def test_names_become_placement_s():
    entry = {
        'resource_class': 'gpu-x',
        'traits': 'fast, blue,HW_GPU_API_VULKAN',
    }
    (spec,) = pci_specs.parse([json.dumps(entry)], reported=True)
    assert spec.class_of(DEVICE) == 'CUSTOM_GPU_X'
    assert spec.traits == {'CUSTOM_FAST', 'CUSTOM__BLUE', 'HW_GPU_API_VULKAN'}
    (plain,) = pci_specs.parse(['{"resource_class": "pgpu"}'], reported=True)
    assert plain.class_of(DEVICE) == 'PGPU'
    (none,) = pci_specs.parse(['{}'], reported=True)
    assert none.class_of(DEVICE) == 'CUSTOM_PCI_8086_154C'
