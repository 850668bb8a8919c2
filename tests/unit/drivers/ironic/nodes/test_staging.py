# SPDX-License-Identifier: Apache-2.0
"""One patch tells a node what a request requires of it, or takes it back."""

import json

import pytest

from compute_agent import errors, extra_specs
from drivers.ironic.nodes import staging

UUID = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'
INSTANCE = '0f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
OTHER = '11111111-1111-4111-8111-111111111111'
NAME = f'rack1-node01 ({UUID})'

ROW = {
    'uuid': UUID,
    'name': 'rack1-node01',
    'resource_class': 'gold',
    'traits': ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_OLD', 'HW_CPU_X86_VMX'],
    'instance_info': {},
    'instance_uuid': None,
    'provision_state': 'available',
    'power_state': 'power off',
    'maintenance': False,
}
UEFI = '{"boot_mode": "uefi"}'


def target(instance_info=None, **row):
    row = {**ROW, 'instance_info': instance_info or {}, **row}
    return staging.Target.from_row(row)


def wanted(*words, image=()):
    pairs = [extra_specs.pair(word, '--property') for word in words]
    of_image = [extra_specs.pair(word, '--image-property') for word in image]
    return extra_specs.parse(pairs, of_image)


def record(traits=(), capabilities=None, replaced=None):
    made = {'traits': list(traits), 'capabilities': capabilities or {}}
    return {**made, 'replaced': replaced} if replaced else made


def operation(op, field, *value):
    made = {'op': op, 'path': f'/instance_info/{field}'}
    return {**made, 'value': value[0]} if value else made


def remembered(op, *traits, **made):
    return operation(op, 'compute_agent_staged', record(traits, **made))


A_AND_UEFI = ('trait:CUSTOM_A=required', 'capabilities:boot_mode=uefi')

STAGED = {
    'a trait': (
        {},
        ['trait:CUSTOM_A=required'],
        [
            operation('add', 'traits', ['CUSTOM_A']),
            remembered('add', 'CUSTOM_A'),
        ],
    ),
    'a capability, which is written as a string': (
        {},
        ['capabilities:boot_mode=uefi'],
        [
            operation('add', 'capabilities', UEFI),
            remembered('add', capabilities={'boot_mode': 'uefi'}),
        ],
    ),
    'both in one patch': (
        {},
        A_AND_UEFI,
        [
            operation('add', 'traits', ['CUSTOM_A']),
            operation('add', 'capabilities', UEFI),
            remembered('add', 'CUSTOM_A', capabilities={'boot_mode': 'uefi'}),
        ],
    ),
    'no group': (
        {},
        ['trait1:CUSTOM_B=required', 'trait_X:CUSTOM_A=required'],
        [
            operation('add', 'traits', ['CUSTOM_B', 'CUSTOM_A']),
            remembered('add', 'CUSTOM_B', 'CUSTOM_A'),
        ],
    ),
    'beside what is there': (
        {
            'traits': ['CUSTOM_B', 'CUSTOM_OLD'],
            'capabilities': '{"disk_label":"gpt"}',
            'image_source': 'x',
        },
        A_AND_UEFI,
        [
            operation(
                'replace', 'traits', ['CUSTOM_B', 'CUSTOM_OLD', 'CUSTOM_A']
            ),
            operation(
                'replace',
                'capabilities',
                '{"disk_label": "gpt", "boot_mode": "uefi"}',
            ),
            operation(
                'add',
                'compute_agent_staged',
                record(
                    ['CUSTOM_A'],
                    {'boot_mode': 'uefi'},
                    {
                        'traits': ['CUSTOM_B', 'CUSTOM_OLD'],
                        'capabilities': '{"disk_label":"gpt"}',
                    },
                ),
            ),
        ],
    ),
    'capabilities beside those in an object': (
        {'capabilities': {'disk_label': 'gpt', 'boot_mode': 'bios'}},
        ['capabilities:boot_mode=uefi'],
        [
            operation(
                'replace',
                'capabilities',
                '{"disk_label": "gpt", "boot_mode": "uefi"}',
            ),
            operation(
                'add',
                'compute_agent_staged',
                record(
                    (),
                    {'boot_mode': 'uefi'},
                    {
                        'capabilities': {
                            'disk_label': 'gpt',
                            'boot_mode': 'bios',
                        }
                    },
                ),
            ),
        ],
    ),
    'traits where there is a null': (
        {'traits': None},
        ['trait:CUSTOM_A=required'],
        [
            operation('replace', 'traits', ['CUSTOM_A']),
            operation(
                'add',
                'compute_agent_staged',
                record(['CUSTOM_A'], replaced={'traits': None}),
            ),
        ],
    ),
    'only what is not there by another hand': (
        {'traits': ['CUSTOM_A'], 'capabilities': UEFI},
        [*A_AND_UEFI, 'trait:CUSTOM_B=required'],
        [
            operation('replace', 'traits', ['CUSTOM_A', 'CUSTOM_B']),
            operation(
                'add',
                'compute_agent_staged',
                record(['CUSTOM_B'], replaced={'traits': ['CUSTOM_A']}),
            ),
        ],
    ),
    'nothing that is garbage elsewhere is touched': (
        {'capabilities': 'boot_mode:uefi'},
        ['trait:CUSTOM_A=required'],
        [
            operation('add', 'traits', ['CUSTOM_A']),
            remembered('add', 'CUSTOM_A'),
        ],
    ),
    'another request in place of the staged one': (
        {
            'traits': ['CUSTOM_A'],
            'capabilities': UEFI,
            'compute_agent_staged': record(
                ['CUSTOM_A'], {'boot_mode': 'uefi'}
            ),
        },
        ['trait:CUSTOM_B=required'],
        [
            operation('replace', 'traits', ['CUSTOM_B']),
            operation('remove', 'capabilities'),
            remembered('replace', 'CUSTOM_B'),
        ],
    ),
    'less than was staged': (
        {
            'traits': ['CUSTOM_A', 'CUSTOM_B'],
            'compute_agent_staged': record(['CUSTOM_A', 'CUSTOM_B']),
        },
        ['trait:CUSTOM_A=required'],
        [
            operation('replace', 'traits', ['CUSTOM_A']),
            remembered('replace', 'CUSTOM_A'),
        ],
    ),
    'nothing in place of what was staged': (
        {'traits': ['CUSTOM_A'], 'compute_agent_staged': record(['CUSTOM_A'])},
        ['resources:CUSTOM_GOLD=1'],
        [
            operation('remove', 'traits'),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
    'again what someone took away': (
        {'compute_agent_staged': record(['CUSTOM_A'])},
        ['trait:CUSTOM_A=required'],
        [operation('add', 'traits', ['CUSTOM_A'])],
    ),
    'again what someone changed, over the change': (
        {
            'capabilities': '{"boot_mode": "bios"}',
            'compute_agent_staged': record((), {'boot_mode': 'uefi'}),
        },
        ['capabilities:boot_mode=uefi'],
        [
            operation('replace', 'capabilities', UEFI),
            operation(
                'replace',
                'compute_agent_staged',
                record(
                    (),
                    {'boot_mode': 'uefi'},
                    {'capabilities': '{"boot_mode": "bios"}'},
                ),
            ),
        ],
    ),
}

UNSTAGED = {
    'a trait and its field': (
        {'traits': ['CUSTOM_A'], 'compute_agent_staged': record(['CUSTOM_A'])},
        [
            operation('remove', 'traits'),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
    'a trait, but not one that someone added': (
        {
            'traits': ['CUSTOM_A', 'CUSTOM_X'],
            'compute_agent_staged': record(['CUSTOM_A']),
        },
        [
            operation('replace', 'traits', ['CUSTOM_X']),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
    'a trait that someone took away already': (
        {'compute_agent_staged': record(['CUSTOM_A'])},
        [operation('remove', 'compute_agent_staged')],
    ),
    'a trait that stood alone when others were taken away': (
        {
            'traits': ['CUSTOM_A'],
            'compute_agent_staged': record(
                ['CUSTOM_A'], replaced={'traits': ['CUSTOM_B']}
            ),
        },
        [
            operation('remove', 'traits'),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
    'capabilities, which get their form back': (
        {
            'capabilities': '{"a": "1", "boot_mode": "uefi"}',
            'compute_agent_staged': record(
                (), {'boot_mode': 'uefi'}, {'capabilities': '{ "a":"1" }'}
            ),
        },
        [
            operation('replace', 'capabilities', '{ "a":"1" }'),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
    'a capability, for the value that it had': (
        {
            'capabilities': '{"boot_mode": "uefi", "new": "1"}',
            'compute_agent_staged': record(
                (),
                {'boot_mode': 'uefi'},
                {'capabilities': {'boot_mode': 'bios'}},
            ),
        },
        [
            operation(
                'replace',
                'capabilities',
                '{"boot_mode": "bios", "new": "1"}',
            ),
            operation('remove', 'compute_agent_staged'),
        ],
    ),
}


@pytest.mark.parametrize(
    ('info', 'words', 'patch'), STAGED.values(), ids=STAGED
)
def test_what_is_staged(info, words, patch):
    change = staging.stage(target(info), wanted(*words))
    assert list(change.patch) == patch
    assert change.staging.changed


@pytest.mark.parametrize(('info', 'patch'), UNSTAGED.values(), ids=UNSTAGED)
def test_what_is_taken_back(info, patch):
    change = staging.unstage(target(info))
    assert list(change.patch) == patch
    assert change.staging.changed
    assert change.staging.summary == 'taken back'
    assert change.staging.notes == ()


def test_a_patch_is_json():
    change = staging.stage(target(), wanted(*A_AND_UEFI))
    assert json.loads(json.dumps(change.patch)) == list(change.patch)


def test_what_was_staged_is_not_staged_again():
    info = {
        'traits': ['CUSTOM_B', 'CUSTOM_A', 'CUSTOM_OLD'],
        'capabilities': '{"x": 1, "boot_mode": "uefi"}',
        'compute_agent_staged': record(['CUSTOM_A'], {'boot_mode': 'uefi'}),
    }
    change = staging.stage(target(info), wanted(*A_AND_UEFI))
    assert change.patch == ()
    assert not change.staging.changed
    assert change.staging.summary == 'already staged'
    assert change.staging.traits == ('CUSTOM_A',)
    assert change.staging.kept == ('CUSTOM_B', 'CUSTOM_OLD')


def test_what_others_put_there_is_not_made_ours():
    info = {'traits': ['CUSTOM_A'], 'capabilities': UEFI}
    change = staging.stage(target(info), wanted(*A_AND_UEFI))
    assert change.patch == ()
    assert change.staging.summary == (
        'already there, and not staged by this agent'
    )


@pytest.mark.parametrize(
    'info',
    [
        {},
        {'traits': ['CUSTOM_A'], 'capabilities': UEFI},
        {'traits': 7, 'capabilities': 'garbage'},
        {'compute_agent_staged': None},
    ],
)
def test_where_nothing_was_staged_nothing_is_taken_back(info):
    row = {'instance_uuid': OTHER, 'provision_state': 'active'}
    change = staging.unstage(target(info, **row))
    assert change.patch == ()
    assert not change.staging.changed
    assert change.staging.lines == (f'{NAME}: nothing was staged',)


def test_a_trait_that_anybody_may_set_is_left_to_placement():
    """With trait_ownership = merge, operators set traits in placement."""
    change = staging.stage(
        target(),
        wanted(
            'trait:COMPUTE_NODE=required',
            'trait:CUSTOM_A=required',
            'trait:HW_CPU_X86_AVX2=required',
        ),
        elsewhere=None,
    )
    assert change.patch[0]['value'] == ['CUSTOM_A']
    assert change.staging.placement_only == ('COMPUTE_NODE', 'HW_CPU_X86_AVX2')


def test_a_trait_of_the_driver_the_agent_or_a_file_is_left_to_placement():
    names = (
        'COMPUTE_IMAGE_TYPE_RAW',
        'COMPUTE_NODE',
        'CUSTOM_OF_A_FILE',
        'OWNER_CYBORG',
    )
    change = staging.stage(
        target(),
        wanted(*(f'trait:{name}=required' for name in names)),
        elsewhere={'CUSTOM_OF_A_FILE'},
    )
    assert change.patch == ()
    assert change.staging.placement_only == names


@pytest.mark.catches('a trait that no source gives is staged')
def test_a_trait_that_no_source_gives_is_refused_and_nothing_taken_back():
    info = {
        'traits': ['CUSTOM_A'],
        'compute_agent_staged': record(['CUSTOM_A']),
    }
    with pytest.raises(errors.Refused) as caught:
        staging.stage(
            target(info),
            wanted(
                'trait:CUSTOM_B=required',
                'trait:CUSTOM_TYPO=required',
                'trait:HW_CPU_X86_AVX2=required',
            ),
            elsewhere=(),
        )
    assert str(caught.value) == (
        f'node {NAME} does not satisfy the request, which requires '
        'CUSTOM_TYPO, HW_CPU_X86_AVX2: neither Ironic nor the driver has this '
        'of the node, and nothing was changed; add it in Ironic ("baremetal '
        f'node add trait {UUID} CUSTOM_TYPO HW_CPU_X86_AVX2"), or correct '
        'the request'
    )


def test_a_request_without_anything_for_ironic_sends_nothing():
    change = staging.stage(
        target(),
        wanted('trait:COMPUTE_NODE=required', 'trait:CUSTOM_N=forbidden'),
    )
    assert change.patch == ()
    assert change.staging.lines == (
        f'{NAME}: nothing to stage',
        '  checked by placement only: COMPUTE_NODE',
    )


def test_all_of_it_is_told_in_lines():
    change = staging.stage(
        target(),
        wanted(
            *A_AND_UEFI,
            'trait:CUSTOM_B=required',
            'trait:COMPUTE_NODE=required',
            'resources:CUSTOM_GOLD=1',
            'capabilities:disk_label=gpt',
            image=['os_type=x'],
        ),
    )
    assert change.staging.lines == (
        f'{NAME}: staged',
        '  traits: CUSTOM_A, CUSTOM_B',
        '  capabilities: boot_mode=uefi, disk_label=gpt',
        '  checked by placement only: COMPUTE_NODE',
        '  not for Ironic: resources:CUSTOM_GOLD=1, image property os_type=x',
    )


def test_a_node_without_a_name_is_told_of_by_its_uuid():
    change = staging.unstage(target(name=None))
    assert change.staging.lines == (f'{UUID}: nothing was staged',)


def test_nothing_to_stage_says_that_the_old_is_taken_back():
    info = {
        'traits': ['CUSTOM_A'],
        'compute_agent_staged': record(['CUSTOM_A']),
    }
    change = staging.stage(target(info), wanted('resources:CUSTOM_GOLD=1'))
    assert change.staging.summary == (
        'nothing to stage; what was staged before is taken back'
    )


def test_a_changed_capability_is_left_and_said():
    info = {
        'capabilities': '{"boot_mode": "bios", "disk_label": "gpt"}',
        'compute_agent_staged': record(
            (), {'boot_mode': 'uefi', 'disk_label': 'gpt', 'gone': '1'}
        ),
    }
    change = staging.unstage(target(info))
    assert list(change.patch) == [
        operation('replace', 'capabilities', '{"boot_mode": "bios"}'),
        operation('remove', 'compute_agent_staged'),
    ]
    assert change.staging.capabilities == (('disk_label', 'gpt'),)
    assert change.staging.lines[2:] == (
        '  capability boot_mode was staged as uefi and is now bios: it stays',
    )


def test_staging_over_a_change_says_what_stays():
    info = {
        'capabilities': '{"boot_mode": "bios"}',
        'compute_agent_staged': record((), {'boot_mode': 'uefi'}),
    }
    change = staging.stage(target(info), wanted('trait:CUSTOM_A=required'))
    assert change.staging.notes == (
        'capability boot_mode was staged as uefi and is now bios: it stays',
    )
    assert change.patch[-1] == remembered('replace', 'CUSTOM_A')


def test_true_is_not_one():
    info = {
        'capabilities': '{"x": true, "boot_mode": "uefi"}',
        'compute_agent_staged': record(
            (), {'boot_mode': 'uefi'}, {'capabilities': '{"x": 1}'}
        ),
    }
    change = staging.unstage(target(info))
    assert change.patch[0]['value'] == '{"x": true}'


@pytest.mark.parametrize(
    ('row', 'why'),
    [
        ({'maintenance': True}, 'it is in maintenance'),
        ({'power_state': None}, 'its power state is unknown'),
        ({'power_state': 'error'}, 'its power state is error'),
        ({'provision_state': 'active'}, 'its provision state is active'),
        ({'provision_state': 'cleaning'}, 'its provision state is cleaning'),
    ],
)
def test_a_node_that_is_not_available_is_refused(row, why):
    with pytest.raises(errors.Refused) as caught:
        staging.stage(target(**row), wanted(*A_AND_UEFI))
    assert str(caught.value) == f'node {NAME} is not available: {why}'
    its = {**row, 'instance_uuid': INSTANCE.upper()}
    assert staging.stage(target(**its), wanted(*A_AND_UEFI), INSTANCE).patch


def test_a_node_of_a_very_old_ironic_is_available():
    old = target(provision_state=None)
    assert staging.stage(old, wanted(*A_AND_UEFI)).patch


@pytest.mark.parametrize(
    ('has', 'named', 'said'),
    [
        (
            INSTANCE,
            None,
            (
                f'has the instance {INSTANCE}: add --instance {INSTANCE} if '
                'you mean it'
            ),
        ),
        (INSTANCE, OTHER, f'has the instance {INSTANCE}, not {OTHER}'),
        (None, OTHER, f'has no instance, so it does not have {OTHER}'),
    ],
)
def test_a_node_of_another_instance_is_refused(has, named, said):
    info = {
        'traits': ['CUSTOM_A'],
        'compute_agent_staged': record(['CUSTOM_A']),
    }
    held = target(info, instance_uuid=has)
    with pytest.raises(errors.Refused) as caught:
        staging.stage(held, wanted('trait:CUSTOM_B=required'), named)
    assert str(caught.value) == f'node {NAME} {said}'
    with pytest.raises(errors.Refused) as caught:
        staging.unstage(held, named)
    assert str(caught.value) == f'node {NAME} {said}'


@pytest.mark.parametrize(
    'row', [{'maintenance': True}, {'provision_state': 'active'}]
)
def test_a_node_in_any_state_gives_back(row):
    info = {
        'traits': ['CUSTOM_A'],
        'compute_agent_staged': record(['CUSTOM_A']),
    }
    assert staging.unstage(target(info, **row)).patch
    its = {**row, 'instance_uuid': INSTANCE}
    assert staging.unstage(target(info, **its), INSTANCE).patch


@pytest.mark.parametrize('group', ['', '1', '_X'])
def test_a_node_with_a_forbidden_trait_is_refused(group):
    request = wanted(
        f'trait{group}:CUSTOM_A=forbidden',
        'trait2:CUSTOM_A=required',
        'trait:CUSTOM_N=forbidden',
        'trait:CUSTOM_B=forbidden',
    )
    with pytest.raises(errors.Refused) as caught:
        staging.stage(target(), request)
    assert str(caught.value) == (
        f'node {NAME} does not satisfy the request, which forbids CUSTOM_A, '
        'CUSTOM_B'
    )


def test_a_trait_that_others_requested_is_kept_and_told():
    info = {'traits': ['CUSTOM_B', 'CUSTOM_A']}
    change = staging.stage(target(info), wanted('trait:CUSTOM_A=required'))
    assert change.staging.lines == (
        f'{NAME}: already there, and not staged by this agent',
        '  traits: CUSTOM_A',
        '  requested by others: CUSTOM_B',
    )


@pytest.mark.catches('others may have requested traits that the node lacks')
@pytest.mark.parametrize('words', [A_AND_UEFI, ['resources:CUSTOM_GOLD=1']])
@pytest.mark.parametrize('state', ['available', 'active'])
def test_a_node_that_ironic_would_not_deploy_is_refused(words, state):
    instance = INSTANCE if state == 'active' else None
    info = {'traits': ['CUSTOM_A', 'CUSTOM_X', 'CUSTOM\nY']}
    row = {'provision_state': state, 'instance_uuid': instance}
    with pytest.raises(errors.Refused) as caught:
        staging.stage(target(info, **row), wanted(*words), instance)
    assert str(caught.value) == (
        f'node {NAME}: instance_info/traits has CUSTOM_X, CUSTOM\\nY, set by '
        'another program and no trait of the node in Ironic, so Ironic would '
        'refuse to deploy the node, and nothing was changed; correct the list '
        f'("baremetal node set {UUID} --instance-info traits=..."), or add '
        f'the trait ("baremetal node add trait {UUID} ...")'
    )


def test_a_requested_trait_that_went_from_the_node_is_restaged_without_it():
    info = {
        'traits': ['CUSTOM_X'],
        'compute_agent_staged': record(['CUSTOM_X']),
    }
    change = staging.stage(target(info), wanted('trait:CUSTOM_A=required'))
    assert change.staging.kept == ()
    assert change.patch[0] == operation('replace', 'traits', ['CUSTOM_A'])


@pytest.mark.parametrize(
    ('info', 'field', 'why'),
    [
        ({'traits': 'CUSTOM_A'}, 'traits', 'is not a list of names'),
        ({'traits': ['CUSTOM_A', 7]}, 'traits', 'is not a list of names'),
        ({'capabilities': 'a:b'}, 'capabilities', 'is not a JSON object'),
        ({'capabilities': ''}, 'capabilities', 'is not a JSON object'),
        ({'capabilities': '[1]'}, 'capabilities', 'is not a JSON object'),
        ({'capabilities': None}, 'capabilities', 'is not a JSON object'),
        (
            {'capabilities': '[' * 99999},
            'capabilities',
            'is not a JSON object',
        ),
        (
            {'capabilities': '{"x": "1", "auth_token": "******": 1}'},
            'capabilities',
            'has a part that Ironic hides (******)',
        ),
        (
            {'capabilities': {'auth_token': '******'}},
            'capabilities',
            'has a part that Ironic hides (******)',
        ),
    ],
)
def test_what_could_not_be_kept_is_refused(info, field, why):
    with pytest.raises(errors.Refused) as caught:
        staging.stage(target(info), wanted(*A_AND_UEFI))
    assert str(caught.value) == (
        f'node {NAME}: instance_info/{field} {why}, so it cannot be kept; '
        f'correct it, or remove it with "baremetal node unset {UUID} '
        f'--instance-info {field}"'
    )


@pytest.mark.parametrize(
    'garbage',
    [
        'staged',
        [],
        {},
        {'traits': []},
        {'traits': None, 'capabilities': {}},
        {'traits': [1], 'capabilities': {}},
        {'traits': [], 'capabilities': '{}'},
        {'traits': [], 'capabilities': {'a': 1}},
        {'traits': [], 'capabilities': {}, 'replaced': []},
    ],
)
def test_a_record_that_is_not_ours_is_refused(garbage):
    broken = target({'compute_agent_staged': garbage})
    said = 'compute_agent_staged was not written by this agent'
    with pytest.raises(errors.Refused, match=said):
        staging.stage(broken, wanted(*A_AND_UEFI))
    with pytest.raises(errors.Refused, match=said):
        staging.unstage(broken)


def test_what_ironic_hides_is_not_written_back_by_unstage():
    info = {
        'capabilities': '{"boot_mode": "uefi", "my_secret": "******"}',
        'compute_agent_staged': record((), {'boot_mode': 'uefi'}),
    }
    with pytest.raises(errors.Refused, match='a part that Ironic hides'):
        staging.unstage(target(info))


def test_stars_are_not_staged():
    with pytest.raises(errors.Refused, match='would contain ......'):
        staging.stage(target(), wanted('capabilities:x=******'))


@pytest.mark.parametrize(
    'word',
    ['my_token=abc', 'password=x', 'note=secret = abc', 'note=token=1'],
)
def test_a_capability_that_ironic_would_hide_is_refused(word):
    name = word.partition('=')[0]
    with pytest.raises(errors.Refused) as caught:
        staging.stage(target(), wanted(f'capabilities:{word}'))
    assert str(caught.value) == (
        f'capability {name} looks like a secret to Ironic, which shows ****** '
        'in its place: it could not be taken back; set it with Ironic itself'
    )


@pytest.mark.parametrize('info', [None, 'x', [], 7])
def test_a_row_whose_instance_info_is_none_is_unknown(info):
    with pytest.raises(
        errors.UnknownState, match='with invalid instance_info'
    ):
        staging.Target.from_row({**ROW, 'instance_info': info})


def test_a_row_without_a_field_is_unknown():
    for field in staging.FIELDS:
        row = {k: v for k, v in ROW.items() if k != field}
        with pytest.raises(errors.UnknownState):
            staging.Target.from_row(row)
