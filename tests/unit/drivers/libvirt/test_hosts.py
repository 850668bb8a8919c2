# SPDX-License-Identifier: Apache-2.0
"""Every fake host has the HW_* traits that its ``expected.yaml`` says.

libvirt-python is not installed there. Hosts without ``present`` are for
``test_host_inventories.py``. Keys: ``present`` and ``unknown`` are all HW_*
traits found so, ``vetoed`` those that py-cpuinfo reports against the kernel, ``without_trait`` some of the words that
have none; ``pycpuinfo`` is its answer, ``machine`` what ``uname -m`` says.
Hosts with ``configurations`` are for ``reading/test_recorded_children.py``.
"""

import pathlib

import pytest
import yaml

from compute_agent.virt.values import finding

HOSTS = pathlib.Path(__file__).parents[3] / 'hosts'
CASES = sorted(
    path.parent.name
    for path in HOSTS.glob('*/expected.yaml')
    if 'present' in yaml.safe_load(path.read_text('utf-8'))
)


@pytest.fixture(params=CASES)
def case(request):
    root = HOSTS / request.param
    return root, yaml.safe_load((root / 'expected.yaml').read_text('utf-8'))


@pytest.fixture
def libvirt(case, make_driver):
    root, expected = case
    return make_driver(
        root, expected.get('pycpuinfo'), expected.get('machine')
    )


def found(libvirt, answer):
    return sorted(
        f.trait
        for f in libvirt.evidence('compute1')
        if f.trait and f.found is answer and not f.provider
        if f.trait.startswith('HW_')
    )


def test_the_expected_traits_are_present(case, libvirt):
    assert found(libvirt, finding.Found.PRESENT) == case[1]['present']


def test_the_expected_traits_are_unknown(case, libvirt):
    assert found(libvirt, finding.Found.UNKNOWN) == case[1]['unknown']


def test_the_claims_of_py_cpuinfo_alone_are_vetoed(case, libvirt):
    vetoed = [
        f.trait
        for f in libvirt.evidence('compute1')
        if f.reason.endswith('but the kernel does not')
    ]
    assert vetoed == case[1].get('vetoed', [])


def test_words_without_a_trait_are_shown(case, libvirt):
    words = {f.fact for f in libvirt.evidence('compute1') if f.trait is None}
    assert words >= set(case[1]['without_trait'])


def test_every_trait_is_decided_once(libvirt):
    found = libvirt.evidence('compute1')
    traits = [(f.provider, f.trait) for f in found if f.trait]
    assert len(traits) == len(set(traits))


def test_whatever_is_not_present_has_a_word_or_a_reason(libvirt):
    for one in libvirt.evidence('compute1'):
        assert one.fact or one.reason


def test_the_expected_inventory_is_described(case, libvirt, tree):
    libvirt.update_provider_tree(tree, 'compute1')
    totals = {
        name: record['total']
        for name, record in tree.data('compute1').inventory.items()
    }
    assert totals['VCPU'] == case[1]['vcpus']
    assert totals['MEMORY_MB'] == case[1]['memory_mb']


def test_the_tree_gets_the_present_traits(case, libvirt, tree):
    libvirt.update_provider_tree(tree, 'compute1')
    traits = sorted(tree.data('compute1').traits)
    assert [t for t in traits if t.startswith('HW_')] == case[1]['present']


def test_no_unknown_trait_is_in_the_authority(case, libvirt, tree):
    libvirt.update_provider_tree(tree, 'compute1')
    assert not set(libvirt.authority) & set(case[1]['unknown'])
