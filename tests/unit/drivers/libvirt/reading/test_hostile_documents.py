# SPDX-License-Identifier: Apache-2.0
"""A damaged document of a device costs no traceback and no other device.

Each example damages one document of a recorded host in one place, and lets the
driver edit a tree that has all children of the host.
"""

import copy

import recorded_hosts
import recorded_libvirt
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.tree import provider_tree
from drivers import host_files
from drivers.libvirt.cpu import guest_cpu
from drivers.libvirt.devices import mdev, pci_specs, placing
from drivers.libvirt.options import devices
from drivers.libvirt.reading import children, guests

ROOT = 'compute1'
UUID = '5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
SPECS = pci_specs.parse(
    ['{"product_id": "154c"}', '{"product_id": "101e"}'], reported=True
)
CONFIGURED = {
    'gpu-three-cards': devices.Settings(
        types=mdev.EnabledTypes.by_parents([mdev.EnabledType(id='nvidia-230')])
    ),
    'gpu-sriov-mdev': devices.Settings(
        types=mdev.EnabledTypes.by_parents(
            [mdev.EnabledType(id='nvidia-591', max_instances=3)]
        )
    ),
    'nic-virtual-functions': devices.Settings(specs=SPECS),
}
PIECES = [
    '',
    '<',
    '>',
    "'",
    '"',
    '&',
    '-1',
    '0x',
    '99999999999999999999',
    '-',
    'x',
    '\ud800',
    '\x00',
    '<type/>',
    '</capability>',
    '<capability type="mdev_types"/>',
    '<!ENTITY a "b">',
    ' ',
]


class Changed:
    """The answers of a recorded host, with other node devices."""

    def __init__(self, answers, documents):
        self._answers = answers
        self.documents = documents

    def node_devices(self):
        return self.documents

    def __getattr__(self, name):
        return getattr(self._answers, name)


def host_of(name):
    folder = recorded_hosts.HOSTS / name
    answers = recorded_libvirt.Recorded(folder / 'libvirt')
    changed = Changed(answers, dict(answers.node_devices()))
    return changed, children.ChildProviders(
        changed, host_files.HostFiles(folder), CONFIGURED[name]
    )


def below(tree):
    found = map(tree.data, tree.get_provider_uuids(UUID)[1:])
    return {data.name: data for data in found}


def place(providers, tree):
    nothing = guests.Guests(cpu=guest_cpu.GuestCpu())
    found = providers.describe(ROOT, nothing, below(tree).values())
    placing.place(tree, ROOT, found)


def described(name):
    """Return a tree that has all children of a recorded host."""
    tree = provider_tree.ProviderTree()
    tree.new_root(ROOT, UUID)
    place(host_of(name)[1], tree)
    return tree


TREES = {name: described(name) for name in CONFIGURED}


@st.composite
def damaged(draw):
    name = draw(st.sampled_from(sorted(CONFIGURED)))
    changed, providers = host_of(name)
    device = draw(st.sampled_from(sorted(changed.documents)))
    text = changed.documents[device]
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, min(len(text), start + 40)))
    piece = draw(st.sampled_from(PIECES))
    changed.documents[device] = text[:start] + piece + text[end:]
    return name, device, providers


@settings(max_examples=examples(1000), deadline=None)
@given(damaged())
def test_any_damage_is_survived(case):
    name, _, providers = case
    tree = copy.deepcopy(TREES[name])
    place(providers, tree)
    assert tree.exists(UUID)


@settings(max_examples=examples(200), deadline=None)
@given(damaged(), st.sampled_from(['<device', '<device/>', '<domain/>', '']))
def test_a_document_of_no_device_removes_nothing(case, text):
    name, device, providers = case
    providers._libvirt.documents[device] = text
    tree = copy.deepcopy(TREES[name])
    before = below(tree)
    place(providers, tree)
    assert below(tree) == before
