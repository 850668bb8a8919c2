# SPDX-License-Identifier: Apache-2.0
"""Laws of staging: nothing is lost, nothing is sent twice, all comes back."""

import copy
import json

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent import extra_specs
from drivers.ironic.nodes import staging

ROW = {
    'uuid': '1be26c0b-03f2-4d2e-ae87-c02d7f33c123',
    'name': 'node1',
    'resource_class': None,
    'traits': ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C', 'CUSTOM_OTHERS'],
    'instance_uuid': None,
    'provision_state': 'available',
    'power_state': 'power on',
    'maintenance': False,
}
FIELDS = ('traits', 'capabilities')
# Few of each, so that requests and nodes have much in common.
NAMES = ('boot_mode', 'disk_label', 'ä')
VALUES = ('uefi', 'gpt', '')
TRAITS = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C', 'CUSTOM_ELSEWHERE')
# Others request only what the node has: all else is refused.
OTHERS = ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C', 'CUSTOM_OTHERS')

objects = st.dictionaries(
    st.sampled_from(NAMES),
    st.sampled_from(VALUES) | st.sampled_from((1, True, None, [1])),
)
capabilities = (
    objects
    | objects.map(json.dumps)
    | objects.map(lambda o: json.dumps(o, indent=1, ensure_ascii=False))
)
traits = st.none() | st.lists(st.sampled_from(OTHERS))
infos = st.fixed_dictionaries(
    {},
    optional={
        'traits': traits,
        'capabilities': capabilities,
        'image_source': st.just('glance://image'),
    },
)
requests = st.builds(
    lambda required, capabilities: extra_specs.ExtraSpecs(
        traits=tuple(
            extra_specs.TraitRequest(name=name, need=extra_specs.Need.REQUIRED)
            for name in required
        ),
        capabilities=tuple(capabilities.items()),
    ),
    st.lists(st.sampled_from(TRAITS), unique=True),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES)),
)
# What someone else writes while something is staged.
meddlings = st.fixed_dictionaries(
    {}, optional={'traits': traits, 'capabilities': capabilities}
)
laws = settings(max_examples=examples(60))


def target(info):
    return staging.Target.from_row({**ROW, 'instance_info': info})


def applied(info, patch):
    """Apply a JSON patch as Ironic does, which refuses what does not fit."""
    node = {'instance_info': copy.deepcopy(info)}
    for operation in json.loads(json.dumps(patch)):
        _, field, key = operation['path'].split('/')
        if operation['op'] != 'add':
            assert key in node[field]
        if operation['op'] == 'remove':
            del node[field][key]
        else:
            node[field][key] = operation['value']
    return node['instance_info']


def staged(info, request):
    return applied(info, staging.stage(target(info), request).patch)


def unstaged(info):
    return applied(info, staging.unstage(target(info)).patch)


def told(info):
    """Return traits and capabilities as Ironic understands them."""
    raw = info.get('capabilities', {})
    read = json.loads(raw) if isinstance(raw, str) else raw
    return set(info.get('traits') or ()), read


def exactly(thing):
    return json.dumps(thing, sort_keys=True)


@laws
@given(infos, requests)
def test_what_is_staged_and_taken_back_leaves_no_trace(info, request):
    assert exactly(unstaged(staged(info, request))) == exactly(info)


@laws
@given(infos, st.lists(requests, min_size=2, max_size=3))
def test_one_request_after_another_leaves_no_trace(info, several):
    now = info
    for request in several:
        now = staged(now, request)
    assert exactly(unstaged(now)) == exactly(info)
    assert told(now) == told(staged(info, several[-1]))


@laws
@given(infos, requests)
def test_the_node_is_told_all_and_keeps_all(info, request):
    after = staged(info, request)
    traits_before, capabilities_before = told(info)
    sent = {t for t in request.required if t in ROW['traits']}
    assert told(after) == (
        traits_before | sent,
        {**capabilities_before, **dict(request.capabilities)},
    )
    rest = {k: v for k, v in info.items() if k not in FIELDS}
    assert rest.items() <= after.items()


@laws
@given(infos, requests)
def test_what_is_staged_twice_is_sent_once(info, request):
    assert staging.stage(target(staged(info, request)), request).patch == ()


@laws
@given(infos, requests, meddlings)
def test_what_is_taken_back_twice_is_sent_once(info, request, meddling):
    bare = unstaged({**staged(info, request), **meddling})
    assert staging.unstage(target(bare)).patch == ()
    assert 'compute_agent_staged' not in bare


@laws
@given(infos, requests, meddlings, requests)
def test_what_others_do_meanwhile_is_sent_once_too(
    info, request, meddling, other
):
    now = staged({**staged(info, request), **meddling}, other)
    assert staging.stage(target(now), other).patch == ()


@laws
@given(infos, requests, meddlings)
def test_what_others_changed_meanwhile_stays(info, request, meddling):
    before = staged(info, request)
    now = {**before, **meddling}
    traits_now, capabilities_now = told(now)
    traits_left, capabilities_left = told(unstaged(now))
    record = before.get('compute_agent_staged', {})
    ours = set(record.get('traits', ()))
    assert traits_left == traits_now - ours
    for name, value in capabilities_now.items():
        if record.get('capabilities', {}).get(name) != value:
            assert exactly(capabilities_left[name]) == exactly(value)


@laws
@given(infos, requests, meddlings)
def test_ours_is_never_left_behind(info, request, meddling):
    before = staged(info, request)
    _, left = told(unstaged({**before, **meddling}))
    _, old = told(info)
    record = before.get('compute_agent_staged', {})
    for name, value in record.get('capabilities', {}).items():
        assert left.get(name) != value or old.get(name) == value
