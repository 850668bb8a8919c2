# SPDX-License-Identifier: Apache-2.0
"""The double answers as the real placement does.

Hypothesis draws requests, good ones and bad ones; each is sent to both. The
answers and what is held afterwards must be the same.
"""

import hypothesis
import placement_double.both
import pytest
from examples import examples
from hypothesis import stateful
from hypothesis import strategies as st
from placement_double import contents, service

UUIDS = [f'{n}{n}{n}{n}0000-0000-4000-8000-00000000000{n}' for n in range(5)]
CONSUMERS = [f'c000000{n}-0000-4000-8000-000000000000' for n in range(3)]
AGGREGATES = [f'a000000{n}-0000-4000-8000-000000000000' for n in range(2)]
TRAITS = ['HW_CPU_X86_AVX', 'CUSTOM_A', 'CUSTOM_B', 'NO_SUCH', 'bad name']
CLASSES = ['VCPU', 'DISK_GB', 'CUSTOM_R', 'CUSTOM_S', 'NO_SUCH', 'bad name']
UUID = st.sampled_from(UUIDS)
CONSUMER = st.sampled_from(CONSUMERS)
NAMES = st.sampled_from(['n0', 'n1', 'n2', 'n' * 201])
# Mostly what is right; what is sent is this plus what it is.
OFF = st.sampled_from((0, 0, 0, 0, 0, 0, 1, -1))
RECORD = st.fixed_dictionaries(
    {'total': st.sampled_from((0, 1, 2, 4, 10))},
    optional={
        'reserved': st.sampled_from((0, 1, 4, 5)),
        'min_unit': st.sampled_from((1, 2)),
        'max_unit': st.sampled_from((1, 3)),
        'step_size': st.sampled_from((1, 2)),
        'allocation_ratio': st.sampled_from((0.5, 1, 1.5, 4.0)),
    },
)
RECORDS = st.dictionaries(
    st.sampled_from(CLASSES[:4] * 4 + CLASSES[4:]), RECORD, max_size=3
)
PARTS = st.sampled_from(('traits', 'aggregates', 'inventories'))
SOME = st.dictionaries(
    UUID,
    st.dictionaries(
        st.sampled_from(CLASSES[:3] * 6 + CLASSES[3:]),
        st.sampled_from((0, 1, 1, 1, 2, 3, 5)),
        min_size=1,
        max_size=2,
    ),
    min_size=1,
    max_size=2,
)


class Requests(stateful.RuleBasedStateMachine):
    """One sequence; ``placement`` is set on a subclass."""

    placement = None

    def __init__(self) -> None:
        super().__init__()
        self.both = placement_double.both.Both(self.placement)
        self.both.start(None)
        for rc in ('CUSTOM_R', 'CUSTOM_A'):
            noun = 'traits' if rc == 'CUSTOM_A' else 'resource_classes'
            self.both.call('PUT', f'/{noun}/{rc}')

    @stateful.rule(
        uuid=UUID, name=NAMES, parent=st.one_of(st.none(), st.just(''), UUID)
    )
    def create(self, uuid, name, parent):
        body = {'uuid': uuid, 'name': name}
        if parent != '':
            body['parent_provider_uuid'] = parent
        self.both.call('POST', '/resource_providers', body)

    @stateful.rule(
        uuid=UUID, name=NAMES, parent=st.one_of(st.none(), st.just(''), UUID)
    )
    def update(self, uuid, name, parent):
        body = {'name': name}
        if parent != '':
            body['parent_provider_uuid'] = parent
        self.both.call('PUT', f'/resource_providers/{uuid}', body)

    @stateful.rule(uuid=UUID)
    def delete(self, uuid):
        self.both.call('DELETE', f'/resource_providers/{uuid}')

    @stateful.rule(
        uuid=UUID,
        names=st.sets(
            st.sampled_from(TRAITS[:3] * 5 + TRAITS[3:]), max_size=3
        ),
        off=OFF,
    )
    def traits(self, uuid, names, off):
        self._set(uuid, 'traits', sorted(names), off)

    @stateful.rule(
        uuid=UUID, names=st.lists(st.sampled_from(AGGREGATES)), off=OFF
    )
    def aggregates(self, uuid, names, off):
        self._set(uuid, 'aggregates', names, off)

    @stateful.rule(uuid=UUID, records=RECORDS, off=OFF)
    def inventories(self, uuid, records, off):
        self._set(uuid, 'inventories', records, off)

    @stateful.rule(uuid=UUID, records=RECORDS, off=OFF)
    def more_inventories(self, uuid, records, off):
        self._set(uuid, 'inventories', records, off)

    @stateful.rule(consumer=CONSUMER, some=SOME, off=OFF)
    def allocate(self, consumer, some, off):
        body = {
            'allocations': {u: {'resources': r} for u, r in some.items()},
            **self._about(consumer, off),
            'consumer_type': 'INSTANCE',
        }
        self.both.call('PUT', f'/allocations/{consumer}', body)

    @stateful.rule(consumer=CONSUMER)
    def release(self, consumer):
        self.both.call('DELETE', f'/allocations/{consumer}')

    @stateful.rule(
        inventories=st.dictionaries(UUID, RECORDS, min_size=1, max_size=2),
        moved=st.dictionaries(
            CONSUMER, st.one_of(st.just({}), SOME), max_size=2
        ),
        off=OFF,
    )
    def reshape(self, inventories, moved, off):
        for records in inventories.values():
            for record in records.values():
                # Less than nothing is not what an agent sends; see Unlike.
                record.pop('reserved', None)
        body = {
            'inventories': {
                uuid: {
                    'inventories': records,
                    'resource_provider_generation': self._generation(uuid),
                }
                for uuid, records in inventories.items()
            },
            'allocations': {
                consumer: {
                    'allocations': {
                        u: {'resources': r} for u, r in some.items()
                    },
                    **self._about(consumer, off),
                }
                for consumer, some in moved.items()
            },
        }
        self.both.call('POST', '/reshaper', body, service.RESHAPE)

    @stateful.rule(name=st.sampled_from([*TRAITS, 'CUSTOM_C']))
    def put_trait(self, name):
        self.both.call('PUT', f'/traits/{name}')

    @stateful.rule(name=st.sampled_from([*TRAITS, 'CUSTOM_C']))
    def delete_trait(self, name):
        self.both.call('DELETE', f'/traits/{name}')

    @stateful.rule(name=st.sampled_from(CLASSES))
    def put_class(self, name):
        self.both.call('PUT', f'/resource_classes/{name}')

    @stateful.rule(
        uuid=UUID,
        part=st.sampled_from(
            ('traits', 'aggregates', 'inventories', 'allocations')
        ),
    )
    def read(self, uuid, part):
        self.both.call('GET', f'/resource_providers/{uuid}/{part}')

    @stateful.rule(
        query=st.sampled_from(
            [
                '',
                *(f'?in_tree={u}' for u in UUIDS),
                f'?uuid={UUIDS[0]}',
                '?name=n1',
                '?required=HW_CPU_X86_AVX',
                '?required=CUSTOM_B',
                f'?required=CUSTOM_A&member_of=in:{",".join(AGGREGATES)}',
                f'?required=CUSTOM_A&member_of=in:{AGGREGATES[0]}',
            ]
        )
    )
    def read_list(self, query):
        self.both.call('GET', f'/resource_providers{query}')

    @stateful.rule(consumer=CONSUMER)
    def read_consumer(self, consumer):
        self.both.call('GET', f'/allocations/{consumer}')

    @stateful.rule(noun=st.sampled_from(('traits', 'resource_classes')))
    def read_names(self, noun):
        self.both.call('GET', f'/{noun}')

    def teardown(self):
        for uuid in UUIDS:
            for part in ('traits', 'aggregates', 'inventories', 'allocations'):
                self.read(uuid, part)

    def _generation(self, uuid):
        held = self.both.contents().get(uuid)
        return held.generation if held else 0

    def _set(self, uuid, part, new, off):
        generation = self._generation(uuid) + off
        body = {part: new, 'resource_provider_generation': generation}
        self.both.call('PUT', f'/resource_providers/{uuid}/{part}', body)

    def _about(self, consumer, off):
        found = self.both.call('GET', f'/allocations/{consumer}').body
        generation = found.get('consumer_generation')
        if off:
            generation = None if generation else 1
        return {
            'project_id': 'project',
            'user_id': 'user',
            'consumer_generation': generation,
        }


@pytest.mark.long
def test_each_answer_is_the_real_one(placement, monkeypatch):
    monkeypatch.setattr(Requests, 'placement', placement)
    stateful.run_state_machine_as_test(
        Requests,
        settings=hypothesis.settings(
            max_examples=examples(40),
            stateful_step_count=60,
            deadline=None,
            database=None,
            phases=[hypothesis.Phase.generate],  # to shrink takes minutes
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )


@pytest.mark.parametrize(
    ('method', 'path', 'version'),
    [
        ('GET', '/usages', '1.39'),
        ('GET', '/traits?name=in:CUSTOM_A', '1.39'),
        ('GET', '/resource_providers?resources=VCPU:1', '1.39'),
        ('GET', '/traits', '1.6'),
        ('DELETE', f'/resource_providers/{UUIDS[0]}/traits', '1.39'),
    ],
)
def test_it_does_not_make_up_what_it_does_not_know(method, path, version):
    double = service.Double()
    double.call('POST', '/resource_providers', {'uuid': UUIDS[0], 'name': 'n'})
    with pytest.raises(contents.Unlike):
        double.answer(method, path, None, version)


def test_a_difference_is_noticed(placement, monkeypatch):
    both = placement_double.both.Both(placement)
    both.start(None)
    both.call('POST', '/resource_providers', {'uuid': UUIDS[0], 'name': 'n'})
    monkeypatch.setattr(
        service.Double,
        'answer',
        lambda *_: service.Answer(200, {'resource_providers': []}),
    )
    with pytest.raises(AssertionError, match='placement answers'):
        both.call('GET', '/resource_providers')
