# SPDX-License-Identifier: Apache-2.0
"""Custom traits and classes that nobody uses, and the limits on deleting them."""

import pytest
from audited_cloud import Cloud, Kind, Level

from compute_agent.audit import cloud, finding


@pytest.fixture
def some():
    made = Cloud()
    made.root('cn1', inventories={'CUSTOM_GOLD': {'total': 1}})
    made.hypervisor('cn1')
    return made


def test_a_trait_of_no_provider_and_no_flavor_is_unused(some):
    some.placement = {'unused_traits': frozenset({'CUSTOM_OLD'})}
    only = some.one(Kind.UNUSED_TRAIT)
    assert only.why == 'no provider has it, and no flavor requires it'
    assert some.repairs == ['delete trait CUSTOM_OLD']


def test_without_nova_s_flavors_an_unused_trait_is_unknown_and_stays(some):
    some.placement = {'unused_traits': frozenset({'CUSTOM_OLD'})}
    some.nova = {'problem': 'nova was not asked'}
    (only,) = some.found(Kind.UNUSED_TRAIT)
    assert only.level is Level.UNKNOWN
    assert only.why.startswith('no provider has it, but a flavor may need it')
    assert not some.repairs


def test_a_trait_that_a_flavor_requires_is_wanted_in_vain(some):
    some.placement = {'unused_traits': frozenset({'CUSTOM_GPU'})}
    some.nova = {'flavors': {'CUSTOM_GPU': ('big', 'gpu')}}
    only = some.one(Kind.WANTED_TRAIT)
    assert only.why.endswith('a flavor requires it: big, gpu')
    assert not some.repairs


def test_a_trait_that_a_flavor_forbids_is_in_use(some):
    some.placement = {'unused_traits': frozenset({'CUSTOM_BAD'})}
    some.nova = {'forbidden': frozenset({'CUSTOM_BAD'})}
    assert not some.found()


def test_an_unused_class_is_found_if_every_provider_was_read(some):
    classes = frozenset({'CUSTOM_GOLD', 'CUSTOM_OLD'})
    some.placement = {'custom_classes': classes, 'is_complete': True}
    assert some.one(Kind.UNUSED_CLASS).subject == 'CUSTOM_OLD'
    some.placement = {'custom_classes': classes}
    assert not some.found()


def test_a_class_is_unknown_if_one_provider_could_not_be_read(some):
    some.placement = {
        'custom_classes': frozenset({'CUSTOM_OLD'}),
        'is_complete': True,
        'changing': frozenset(some.providers),
    }
    assert not some.found(Kind.UNUSED_CLASS)


def test_a_class_goes_only_if_nova_says_that_no_flavor_asks_for_it(some):
    some.placement = {
        'custom_classes': frozenset({'CUSTOM_OLD'}),
        'is_complete': True,
    }
    assert some.one(Kind.UNUSED_CLASS).repair == finding.DeleteClass(
        name='CUSTOM_OLD'
    )
    some.nova = {'wanted_classes': {'CUSTOM_OLD': ('m1.gold',)}}
    wanted = some.one(Kind.WANTED_CLASS)
    assert (wanted.repair, 'm1.gold' in wanted.why) == (None, True)
    some.nova = {'problem': 'nova was not asked'}
    assert some.one(Kind.UNUSED_CLASS).repair is None


def test_a_standard_trait_that_placement_lacks_is_a_note(some):
    some.placement = {'missing_traits': frozenset({'HW_NEW'})}
    assert some.one(Kind.MISSING_TRAIT).level is Level.NOTE


# --- limits -------------------------------------------------------------------


def providers(count):
    one = cloud.ListedProvider(
        uuid='u', name='n', generation=0, parent_uuid=None, root_uuid='u'
    )
    return finding.DeleteProviders(providers=(one,) * count)


def consumers(count):
    return [
        finding.DeleteAllocations(consumer=str(n), providers=())
        for n in range(count)
    ]


def classes(count):
    return [finding.DeleteClass(name=str(n)) for n in range(count)]


def traits(count):
    return [finding.DeleteTrait(name=str(n)) for n in range(count)]


@pytest.mark.parametrize(
    ('planned', 'custom', 'lines'),
    [
        ([providers(10), *consumers(10), *traits(49)], 49, 0),
        ([providers(11)], 0, 1),
        ([providers(1), providers(10)], 0, 1),
        (consumers(11), 0, 1),
        (classes(10), 0, 0),
        (classes(11), 0, 1),
        (traits(50), 250, 0),
        (traits(50), 249, 1),
        ([providers(11), *consumers(11), *traits(60)], 60, 3),
    ],
)
def test_large_removals_exceed_the_limits(planned, custom, lines):
    assert len(finding.too_much(planned, 20, custom)) == lines


def test_a_limit_of_zero_leaves_every_repair_to_a_person():
    assert len(finding.too_much([providers(1)], 0, 0)) == 1
