# SPDX-License-Identifier: Apache-2.0
"""A flavor's and an image's wishes are read, and slips are not let pass."""

import os_traits
import pytest

from compute_agent import errors, extra_specs
from compute_agent.extra_specs import Need, Property, TraitRequest

# Keys that nova reads for purposes of its own.
OTHER_KEYS = [
    'resources:CUSTOM_GOLD',
    'resources1:VCPU',
    'group_policy',
    'same_subtree',
    'hw:cpu_policy',
    'hw:numa_nodes',
    'hw_rng:allowed',
    'hw_video:ram_max_mb',
    'os:secure_boot',
    'quota:cpu_quota',
    'accel:device_profile',
    'pci_passthrough:alias',
    'aggregate_instance_extra_specs:ssd',
    'vmware:hw_version',
    'capacity:racks',
    'train:platform',
    'training',
    'portrait:dpi',
    'transit',
]
OTHER_IMAGE_PROPERTIES = [
    'os_type',
    'architecture',
    'hw_firmware_type',
    'hypervisor_type',
    'img_hide_hypervisor_id',
    'capabilities:boot_mode',
    'resource_type',
    'trait_of_mine',
    'requirements',
]


def required(name, group=''):
    return TraitRequest(name=name, need=Need.REQUIRED, group=group)


def forbidden(name, group=''):
    return TraitRequest(name=name, need=Need.FORBIDDEN, group=group)


def flavor(*words):
    return extra_specs.parse(
        [extra_specs.pair(w, '--property') for w in words]
    )


def image(*words):
    return extra_specs.parse(
        [], [extra_specs.pair(w, '--image-property') for w in words]
    )


@pytest.mark.parametrize(
    ('word', 'request_'),
    [
        ('trait:CUSTOM_X=required', required('CUSTOM_X')),
        ('trait:CUSTOM_X=forbidden', forbidden('CUSTOM_X')),
        ('trait1:CUSTOM_X=required', required('CUSTOM_X', '1')),
        ('trait_GPU:CUSTOM_X=forbidden', forbidden('CUSTOM_X', '_GPU')),
        ('trait-gpu-2:CUSTOM_X=required', required('CUSTOM_X', '-gpu-2')),
        ('traitGPU:CUSTOM_X=required', required('CUSTOM_X', 'GPU')),
        ('traitssd:CUSTOM_X=required', required('CUSTOM_X', 'ssd')),
        (f'trait{"g" * 64}:X=required', required('X', 'g' * 64)),
    ],
)
def test_a_trait_is_asked_for_in_its_group(word, request_):
    wanted = flavor(word)
    assert wanted == extra_specs.ExtraSpecs(traits=(request_,))
    assert request_.key == word.partition('=')[0]


def test_every_standard_trait_may_be_asked_for():
    every = sorted(os_traits.get_traits())
    wanted = flavor(*(f'trait:{name}=required' for name in every))
    assert wanted.required == tuple(every)


@pytest.mark.parametrize(
    ('word', 'pair'),
    [
        ('capabilities:boot_mode=uefi', ('boot_mode', 'uefi')),
        ('capabilities:a:b=c', ('a:b', 'c')),
        ('capabilities:speed=s== 10=ten', ('speed', 's== 10=ten')),
        ('capabilities:empty=', ('empty', '')),
    ],
)
def test_a_capability_is_taken_as_it_is_written(word, pair):
    assert flavor(word) == extra_specs.ExtraSpecs(capabilities=(pair,))


@pytest.mark.parametrize('key', OTHER_KEYS)
def test_a_key_of_another_purpose_is_carried_along(key):
    other = Property(key=key, value='1')
    assert flavor(f'{key}=1') == extra_specs.ExtraSpecs(others=(other,))
    assert str(other) == f'{key}=1'


@pytest.mark.parametrize('key', OTHER_IMAGE_PROPERTIES)
def test_an_image_property_of_another_purpose_is_carried_along(key):
    other = Property(key=key, value='1', of_image=True)
    assert image(f'{key}=1') == extra_specs.ExtraSpecs(others=(other,))
    assert str(other) == f'image property {key}=1'


@pytest.mark.parametrize(
    ('word', 'traits'),
    [
        ('traits_required=CUSTOM_A', ['CUSTOM_A']),
        ('traits_required=CUSTOM_B,CUSTOM_A', ['CUSTOM_B', 'CUSTOM_A']),
        ('traits_required= CUSTOM_B , CUSTOM_A', ['CUSTOM_B', 'CUSTOM_A']),
        ('trait:CUSTOM_A=required', ['CUSTOM_A']),
    ],
)
def test_an_image_requires_traits_in_the_group_without_a_suffix(word, traits):
    assert image(word).traits == tuple(required(name) for name in traits)


def test_each_thing_is_asked_for_once_in_the_order_given():
    wanted = extra_specs.parse(
        [
            ('trait:CUSTOM_B', 'required'),
            ('resources:CUSTOM_GOLD', '1'),
            ('capabilities:z', '1'),
            ('trait1:CUSTOM_A', 'required'),
            ('trait:CUSTOM_B', 'required'),
            ('trait2:CUSTOM_A', 'required'),
            ('trait:CUSTOM_N', 'forbidden'),
            ('trait1:CUSTOM_N', 'forbidden'),
            ('capabilities:a', '1'),
            ('capabilities:z', '1'),
            ('resources:CUSTOM_GOLD', '1'),
        ],
        [
            ('traits_required', 'CUSTOM_C,CUSTOM_B,CUSTOM_C'),
            ('os_type', 'linux'),
            ('trait:CUSTOM_C', 'required'),
        ],
    )
    assert wanted.traits == (
        required('CUSTOM_B'),
        required('CUSTOM_A', '1'),
        required('CUSTOM_A', '2'),
        forbidden('CUSTOM_N'),
        forbidden('CUSTOM_N', '1'),
        required('CUSTOM_C'),
    )
    assert wanted.required == ('CUSTOM_B', 'CUSTOM_A', 'CUSTOM_C')
    assert wanted.forbidden == ('CUSTOM_N',)
    assert wanted.capabilities == (('z', '1'), ('a', '1'))
    assert [str(other) for other in wanted.others] == [
        'resources:CUSTOM_GOLD=1',
        'image property os_type=linux',
    ]


def test_nothing_asked_for_is_nothing():
    assert extra_specs.parse() == extra_specs.ExtraSpecs()


def test_a_mapping_s_items_will_do():
    flavor_specs = {'trait:CUSTOM_A': 'required', 'hw:mem_page_size': 'large'}
    wanted = extra_specs.parse(flavor_specs.items())
    assert wanted.required == ('CUSTOM_A',)


def test_one_group_may_require_what_another_forbids():
    wanted = flavor('trait1:CUSTOM_X=required', 'trait2:CUSTOM_X=forbidden')
    assert wanted.required == wanted.forbidden == ('CUSTOM_X',)


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (
            ('trait:CUSTOM_X=required', 'trait:CUSTOM_X=forbidden'),
            'trait:CUSTOM_X is asked for as required and as forbidden',
        ),
        (
            ('trait_G:CUSTOM_X=forbidden', 'trait_G:CUSTOM_X=required'),
            'trait_G:CUSTOM_X is asked for as forbidden and as required',
        ),
        (
            ('capabilities:a=1', 'capabilities:a=2'),
            'capabilities:a is asked for as 1 and as 2',
        ),
        (
            ('resources:VCPU=1', 'resources:VCPU=2'),
            'resources:VCPU is asked for as 1 and as 2',
        ),
    ],
)
def test_a_contradiction_is_refused(words, said):
    with pytest.raises(errors.ConfigError) as caught:
        flavor(*words)
    assert str(caught.value) == f'{said}: keep one'


def test_an_image_may_not_require_what_the_flavor_forbids():
    with pytest.raises(errors.ConfigError, match='^trait:CUSTOM_X is asked'):
        extra_specs.parse(
            [('trait:CUSTOM_X', 'forbidden')],
            [('traits_required', 'CUSTOM_X')],
        )


def test_flavor_and_image_may_have_properties_of_one_name():
    wanted = extra_specs.parse([('os:x', '1')], [('os:x', '2')])
    assert [str(o) for o in wanted.others] == [
        'os:x=1',
        'image property os:x=2',
    ]


@pytest.mark.parametrize('value', ['', 'Required', 'require', 'true', '1'])
def test_a_trait_is_required_or_forbidden_and_nothing_else(value):
    with pytest.raises(errors.ConfigError) as caught:
        flavor(f'trait1:CUSTOM_X={value}')
    assert str(caught.value) == (
        f'trait1:CUSTOM_X={value}: write required or forbidden after the "="'
    )


@pytest.mark.parametrize(
    'name', ['', 'custom_x', 'CUSTOM-X', 'CUSTOM_X ', '!CUSTOM_X', 'X' * 256]
)
@pytest.mark.parametrize('read', [flavor, image])
def test_a_trait_outside_the_grammar_is_refused(read, name):
    with pytest.raises(errors.InvalidName, match='^trait .* is not a name'):
        read(f'trait:{name}=required')


@pytest.mark.parametrize('value', ['', 'CUSTOM_A,', 'CUSTOM_A,,CUSTOM_B', 'a'])
def test_a_list_of_an_image_has_no_gaps(value):
    with pytest.raises(errors.InvalidName, match='^trait .* is not a name'):
        image(f'traits_required={value}')


@pytest.mark.parametrize(
    ('key', 'said'),
    [
        ('traits:CUSTOM_X', 'traits:CUSTOM_X: did you mean trait:CUSTOM_X?'),
        ('traits1:X', 'traits1:X: did you mean trait1:X?'),
        ('traits_GPU:X', 'traits_GPU:X: did you mean trait_GPU:X?'),
        ('Trait:X', 'Trait:X: did you mean trait:X?'),
        ('TRAIT_A:X', 'TRAIT_A:X: did you mean trait_A:X?'),
        ('triat:X', 'triat:X: did you mean trait:X?'),
        ('trai:X', 'trai:X: did you mean trait:X?'),
        (' trait:X', ' trait:X: did you mean trait:X?'),
        ('trait :X', 'trait :X: did you mean trait:X?'),
        ('trait.1:X', 'trait.1:X: did you mean trait:X?'),
        ('capability:k', 'capability:k: did you mean capabilities:k?'),
        ('capabilites:k', 'capabilites:k: did you mean capabilities:k?'),
        ('Capabilities:k', 'Capabilities:k: did you mean capabilities:k?'),
        ('capabilities1:k', 'capabilities1:k: did you mean capabilities:k?'),
        ('trait', 'trait names nothing: write trait:NAME'),
        ('traitX', 'traitX names nothing: write trait:NAME'),
        ('trait_X', 'trait_X names nothing: write trait:NAME'),
        (
            'capabilities',
            'capabilities names nothing: write capabilities:NAME',
        ),
        (
            'capabilities:',
            'capabilities: names nothing: write capabilities:NAME',
        ),
        (
            'traits_required',
            (
                'traits_required is a property of images: give it as one, or '
                'write trait:NAME=required for each trait'
            ),
        ),
    ],
)
def test_a_slip_in_a_flavor_s_key_is_said(key, said):
    with pytest.raises(errors.ConfigError) as caught:
        flavor(f'{key}=required')
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ('key', 'meant'),
    [
        ('traits:X', 'trait:X'),
        ('trait1:X', 'trait:X'),
        ('Trait:X', 'trait:X'),
        ('trait', 'traits_required'),
        ('traits', 'traits_required'),
        ('trait_required', 'traits_required'),
        ('traits_require', 'traits_required'),
        ('Traits_Required', 'traits_required'),
    ],
)
def test_a_slip_in_an_image_s_key_is_said(key, meant):
    with pytest.raises(errors.ConfigError) as caught:
        image(f'{key}=required')
    assert str(caught.value) == (
        f'image property {key}: did you mean {meant}?'
    )


@pytest.mark.parametrize('value', ['forbidden', 'Required', ''])
def test_an_image_can_only_require(value):
    with pytest.raises(errors.ConfigError) as caught:
        image(f'trait:CUSTOM_X={value}')
    assert str(caught.value) == (
        f'image property trait:CUSTOM_X={value}: an image can only require '
        'traits, so write required after the "="'
    )


@pytest.mark.parametrize('text', ['', '=', '=required', 'trait:CUSTOM_X'])
def test_a_property_without_key_or_value_is_refused(text):
    with pytest.raises(errors.ConfigError) as caught:
        extra_specs.pair(text, '--property')
    assert str(caught.value) == (
        f'--property {text!r}: write KEY=VALUE, for example '
        'trait:CUSTOM_GPU=required'
    )


@pytest.mark.parametrize('group', ['a b', 'g' * 65, 'ä', ':'])
def test_a_group_is_one_that_placement_takes(group):
    with pytest.raises(errors.InvalidName, match='^group .* is not one'):
        required('X', group)
