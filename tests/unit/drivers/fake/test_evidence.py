# SPDX-License-Identifier: Apache-2.0
"""Every trait the driver asserts can be traced to its line in the file."""

import pytest

from compute_agent.tree import assertion
from compute_agent.virt.values import finding as contract

TEXT = """\
nodes:
- name: CN1
  traits: [CUSTOM_A]
  children:
  - name: A
    traits:
    - CUSTOM_B
    - CUSTOM_A
    children:
    - name: B
      traits: keep
- name: CN2
  traits: [CUSTOM_C]
sharing_providers:
- name: SSP
- name: BW
  traits: [MISC_SHARES_VIA_AGGREGATE, CUSTOM_D]
"""


@pytest.fixture
def it(fake):
    return fake(TEXT)


def found(it, nodename, told):
    return [
        (f.trait, f.fact, *map(told, f.sources)) for f in it.evidence(nodename)
    ]


def test_the_driver_offers_evidence(it):
    assert isinstance(it, contract.Evidence)


def test_each_trait_comes_with_its_provider_and_its_line(it, told):
    assert found(it, 'CN1', told) == [
        ('CUSTOM_A', 'CN1', 'f.yaml:3'),
        ('CUSTOM_B', 'A', 'f.yaml:7'),
        ('CUSTOM_A', 'A', 'f.yaml:8'),
        ('MISC_SHARES_VIA_AGGREGATE', 'BW', 'f.yaml:17'),
        ('CUSTOM_D', 'BW', 'f.yaml:17'),
        ('MISC_SHARES_VIA_AGGREGATE', 'SSP', 'f.yaml:15'),
    ]


def test_what_is_shared_is_told_with_the_first_node_only(it, told):
    assert found(it, 'CN2', told) == [('CUSTOM_C', 'CN2', 'f.yaml:13')]


def test_a_finding_of_another_provider_than_the_root_names_it(it):
    providers = [f.provider for f in it.evidence('CN1')]
    assert providers == ['', 'A', 'A', 'BW', 'BW', 'SSP']


def test_all_it_says_is_present(it):
    states = {finding.found for finding in it.evidence('CN1')}
    assert states == {contract.Found.PRESENT}


def test_the_evidence_is_what_the_driver_asserts(it, rooted):
    tree = rooted()
    it.update_provider_tree(tree, 'CN1')
    asserted = {
        (trait, tree.data(uuid).name)
        for (uuid, kind), said in tree.assertions.items()
        if kind is assertion.Kind.TRAIT
        for trait in said[assertion.DRIVER].names
    }
    assert asserted == {(f.trait, f.fact) for f in it.evidence('CN1')}
