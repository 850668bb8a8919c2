# SPDX-License-Identifier: Apache-2.0
"""The verdicts on generated clouds agree with a simple model of the rules.

The model knows how each host was made: it asks no names, trees or values.
"""

import itertools

from audited_cloud import Cloud, Kind, Level, uuid_of
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compute_agent.audit import cloud

SERVICE = st.sampled_from(['answers', 'silent'])


@st.composite
def hosts(draw):
    """Return the descriptions of some hosts."""
    host = st.fixed_dictionaries(
        {
            'bare_metal': st.booleans(),
            'known_by': st.sampled_from(['nobody', 'uuid', 'name', 'fqdn']),
            'in_ironic': st.booleans(),
            'marked': st.booleans(),
            'ours': st.booleans(),
            'age': st.sampled_from([10, 10_000]),
            'consumers': st.lists(
                st.sampled_from(['server', 'deleted']), max_size=2
            ),
            'children': st.lists(
                st.sampled_from(['empty', 'full', 'cyborg']), max_size=3
            ),
        }
    )
    return draw(st.lists(host, max_size=5))


def built(described, nova, ironic):
    """Return the cloud of these hosts."""
    made = Cloud()
    made.node(uuid_of('another'))  # an Ironic without any is unknown
    known, ours = set(), set()
    for number, one in enumerate(described):
        name = f'h{number}x'
        uuid = uuid_of(name)
        shown = uuid if one['bare_metal'] else name
        consumers = {
            uuid_of(f'{name} {kind} {n}'): kind
            for n, kind in enumerate(one['consumers'])
        }
        made.root(
            shown,
            uuid,
            marked=one['marked'],
            age=one['age'],
            traits=['CUSTOM_SOME'],
            inventories={'VCPU': {'total': 8}},
            allocations={consumer: {'VCPU': 1} for consumer in consumers},
        )
        for n, kind in enumerate(one['children']):
            traits = {'cyborg': ['OWNER_CYBORG']}.get(kind, ())
            full = {'VGPU': {'total': 1}} if kind == 'full' else {}
            made.child(
                f'{name} child {n}', uuid, traits=traits, inventories=full
            )
        known |= {c for c, kind in consumers.items() if kind == 'server'}
        if nova == 'answers' and one['known_by'] != 'nobody':
            suffix = '.example.org' if one['known_by'] == 'fqdn' else ''
            by_uuid = one['known_by'] == 'uuid'
            made.hypervisor(
                shown if one['bare_metal'] else f'{name}{suffix}',
                uuid if by_uuid else uuid_of(f'{name} anew'),
            )
        if ironic == 'answers' and one['bare_metal'] and one['in_ironic']:
            made.node(uuid)
        if one['ours']:
            ours.add(uuid)
    if nova == 'answers':
        made.nova = {'known_consumers': frozenset(known)}
    else:
        made.nova = {'problem': 'silent'}
    if ironic == 'silent':
        made.ironic = {'problem': 'silent'}
    made.agent = cloud.Agent(roots=frozenset(ours))
    return made


def model_of_life(one, nova, ironic):
    """Return the verdict on one host, as a table has it."""
    in_nova = nova == 'answers' and one['known_by'] != 'nobody'
    asked_ironic = one['bare_metal'] and ironic == 'answers'
    if one['ours'] or in_nova or (asked_ironic and one['in_ironic']):
        return 'alive'
    # A marked root of a bare-metal node needs no nova.
    is_sure = asked_ironic and one['marked']
    if nova == 'silent' and not is_sure:
        return 'unknown'
    if one['bare_metal'] and ironic == 'silent':
        return 'unknown'
    if not one['marked']:
        return 'no host'
    return 'unknown' if one['age'] < 3600 else 'gone'


def lives(made):
    """Return each root's verdict, as the audit gives it."""
    words = {
        (Kind.DEAD_HOST, Level.FINDING): 'gone',
        (Kind.DEAD_HOST, Level.UNKNOWN): 'unknown',
        (Kind.NO_HOST, Level.NOTE): 'no host',
    }
    return {
        one.subject: words[one.kind, one.level]
        for one in made.found()
        if (one.kind, one.level) in words
    }


@settings(max_examples=examples(300))
@given(described=hosts(), nova=SERVICE, ironic=SERVICE)
def test_each_host_is_judged_as_the_model_says(described, nova, ironic):
    made = built(described, nova, ironic)
    said = lives(made)
    for number, one in enumerate(described):
        root = made.providers[uuid_of(f'h{number}x')]
        expected = model_of_life(one, nova, ironic)
        assert said.get(str(root), 'alive') == expected


@settings(max_examples=examples(300))
@given(described=hosts(), nova=SERVICE, ironic=SERVICE)
def test_only_what_the_model_says_is_repaired(described, nova, ironic):
    made = built(described, nova, ironic)
    expected = set()
    for number, one in enumerate(described):
        name = f'h{number}x'
        life = model_of_life(one, nova, ironic)
        sure = nova == 'answers' and (
            not one['bare_metal'] or ironic == 'answers'
        )
        expected |= {
            ('consumer', uuid_of(f'{name} deleted {n}'))
            for n, kind in enumerate(one['consumers'])
            if kind == 'deleted' and sure
        }
        if life == 'gone':
            if (
                sure
                and not one['consumers']
                and 'cyborg' not in one['children']
            ):
                expected.add(('provider', uuid_of(name)))
                expected |= {
                    ('provider', uuid_of(f'{name} child {n}'))
                    for n in range(len(one['children']))
                }
        else:
            expected |= {
                ('provider', uuid_of(f'{name} child {n}'))
                for n, kind in enumerate(one['children'])
                if kind == 'empty'
            }
    planned = [f.repair for f in made.found() if f.repair is not None]
    done = {
        ('consumer', r.consumer) for r in planned if hasattr(r, 'consumer')
    }
    deleted = [
        p.uuid
        for r in planned
        for p in getattr(r, 'providers', ())
        if not hasattr(r, 'consumer')
    ]
    assert len(deleted) == len(set(deleted))
    assert done | {('provider', uuid) for uuid in deleted} == expected


@settings(max_examples=examples(100))
@given(described=hosts(), nova=SERVICE, ironic=SERVICE)
def test_a_service_that_is_silent_never_adds_a_repair(described, nova, ironic):
    with_it = set(built(described, 'answers', 'answers').repairs)
    less = built(described, nova, ironic)
    for repair in less.repairs:
        # A host that is unknown is not gone: its empty children are judged.
        assert repair in with_it or any(
            one.repair and str(one.repair) == repair
            for one in less.found(Kind.ORPHANED_CHILD)
        )
    assert len(set(less.repairs)) == len(less.repairs)


@given(
    names=st.lists(
        st.sampled_from(['cn1', 'CN1', 'cn1.a', 'cn1.b', 'cn2', 'Cn2.A']),
        unique=True,
    )
)
def test_each_pair_of_similar_names_is_shown_once(names):
    made = Cloud()
    made.nova = {'problem': 'silent'}
    for name in names:
        made.root(name)

    def same(one, other):
        one, other = one.lower(), other.lower()
        return (
            one == other
            or one.split('.')[0] == other
            or (other.split('.')[0] == one)
        )

    pairs = [p for p in itertools.combinations(names, 2) if same(*p)]
    assert len(made.found(Kind.SIMILAR_NAMES)) == len(pairs)
