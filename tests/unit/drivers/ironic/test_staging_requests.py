# SPDX-License-Identifier: Apache-2.0
"""A node is read once and patched at most once, through its own uuid.

It is read again only if the patch is refused.
"""

import json

import pytest

from compute_agent import errors, extra_specs
from compute_agent.virt.values import requested as virt
from drivers.ironic import requested
from drivers.ironic.nodes import staging

UUID = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'
INSTANCE = '0f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
WANTED = extra_specs.parse([('trait:CUSTOM_A', 'required')])


class FakeIronic:
    """Ironic's nodes by what they may be asked for, and what was asked."""

    def __init__(self) -> None:
        self.row = {
            'uuid': UUID,
            'name': 'node1',
            'resource_class': 'gold',
            'traits': ['CUSTOM_A'],
            'instance_info': {},
            'instance_uuid': None,
            'provision_state': 'available',
            'power_state': 'power on',
            'maintenance': False,
        }
        self.asked = []

    def node(self, ident, fields):
        self.asked.append(('GET', ident))
        if ident not in (self.row['uuid'], self.row['name']):
            return None
        return {field: self.row[field] for field in fields}

    def patch(self, uuid, patch):
        self.asked.append(('PATCH', uuid))
        for one in patch:
            key = one['path'].removeprefix('/instance_info/')
            if one['op'] == 'remove':
                del self.row['instance_info'][key]
            else:
                self.row['instance_info'][key] = one['value']


@pytest.fixture
def ironic():
    return FakeIronic()


@pytest.mark.parametrize('node', [UUID, 'node1'])
def test_one_read_one_patch_and_back_again(ironic, node):
    done = requested.stage(ironic, node, WANTED)
    assert (done.uuid, done.traits) == (UUID, ('CUSTOM_A',))
    assert ironic.row['instance_info']['traits'] == ['CUSTOM_A']
    assert ironic.asked == [('GET', node), ('PATCH', UUID)]
    assert requested.unstage(ironic, node).summary == 'taken back'
    assert ironic.row['instance_info'] == {}
    assert ironic.asked[2:] == [('GET', node), ('PATCH', UUID)]


def test_nothing_to_do_is_one_read(ironic):
    requested.stage(ironic, UUID, WANTED)
    ironic.asked.clear()
    assert not requested.stage(ironic, UUID, WANTED).changed
    assert ironic.asked == [('GET', UUID)]
    requested.unstage(ironic, UUID)
    ironic.asked.clear()
    assert not requested.unstage(ironic, UUID).changed
    assert ironic.asked == [('GET', UUID)]


def test_a_dry_run_reads_and_tells(ironic):
    done = requested.stage(ironic, UUID, WANTED, dry_run=True)
    assert done.changed
    assert ironic.asked == [('GET', UUID)]


def test_a_dry_run_of_taking_back_reads_and_tells(ironic):
    requested.stage(ironic, UUID, WANTED)
    ironic.asked.clear()
    assert requested.unstage(ironic, UUID, dry_run=True).changed
    assert not [verb for verb, _ in ironic.asked if verb == 'PATCH']
    assert requested.unstage(ironic, UUID).changed


@pytest.mark.parametrize('node', [UUID, UUID.upper(), f'{{{UUID}}}', 'node1'])
@pytest.mark.parametrize('has', [UUID, UUID.upper(), UUID.replace('-', '')])
def test_a_uuid_is_found_and_patched_as_ironic_spells_it(ironic, node, has):
    ironic.row['uuid'] = has
    assert requested.stage(ironic, node, WANTED).uuid == UUID
    assert ironic.asked[-2:] in (
        [('GET', has), ('PATCH', has)],
        [('GET', 'node1'), ('PATCH', has)],
    )


def test_an_odd_spelling_is_asked_for_as_it_is_said(ironic):
    odd = ironic.row['uuid'] = f'urn:uuid:{UUID}'
    assert requested.stage(ironic, odd, WANTED).uuid == UUID
    assert ironic.asked == [('GET', odd), ('PATCH', odd)]


def test_a_database_may_not_tell_capitals_from_small_letters(ironic):
    row = ironic.row
    ironic.node = lambda _, fields: {field: row[field] for field in fields}
    assert requested.stage(ironic, 'NODE1', WANTED).changed


def test_only_the_fields_needed_are_read(ironic):
    ironic.node = lambda _, fields: pytest.fail(f'{sorted(fields)}')
    with pytest.raises(pytest.fail.Exception) as caught:
        requested.stage(ironic, UUID, WANTED)
    assert str(caught.value) == str(sorted(staging.FIELDS))
    assert 'driver_info' not in staging.FIELDS


@pytest.mark.parametrize('call', ['stage', 'unstage'])
@pytest.mark.parametrize('node', ['node2', INSTANCE, ''])
def test_a_node_that_is_not_there_is_said(ironic, node, call):
    arguments = (WANTED,) if call == 'stage' else ()
    with pytest.raises(errors.DriverError) as caught:
        getattr(requested, call)(ironic, node, *arguments)
    assert str(caught.value) == (
        f'Ironic has no node {node!r}, or hides it: give a name or a '
        'uuid from "baremetal node list"'
    )
    assert ('GET', '') not in ironic.asked


def test_another_node_than_the_one_asked_for_is_not_patched(ironic):
    row = ironic.row
    ironic.node = lambda _, fields: {field: row[field] for field in fields}
    with pytest.raises(errors.UnknownState) as caught:
        requested.stage(ironic, 'node2', WANTED)
    assert str(caught.value) == (
        f'Ironic was asked for node node2 and answered node1 ({UUID})'
    )
    assert ironic.asked == []


def test_a_malformed_row_is_not_patched(ironic):
    ironic.row['traits'] = None
    with pytest.raises(errors.UnknownState, match='^Ironic answered .*trait'):
        requested.stage(ironic, UUID, WANTED)
    assert ironic.asked == [('GET', UUID)]


def test_the_instance_may_be_named_in_any_case(ironic):
    ironic.row['instance_uuid'] = INSTANCE
    assert requested.stage(ironic, UUID, WANTED, INSTANCE.upper()).changed
    assert requested.unstage(ironic, UUID, INSTANCE.upper()).changed


def test_an_instance_that_is_no_uuid_is_refused(ironic):
    for call in (
        lambda: requested.stage(ironic, UUID, WANTED, 'vm1'),
        lambda: requested.unstage(ironic, UUID, ''),
    ):
        with pytest.raises(errors.InvalidName, match='^instance .* no'):
            call()
    assert ('PATCH', UUID) not in ironic.asked


def test_what_ironic_refuses_is_passed_on(ironic):
    def locked(uuid, patch):
        raise errors.Refused('node1 is locked by conductor1, try again')

    ironic.patch = locked
    with pytest.raises(errors.Refused, match='locked by conductor1'):
        requested.stage(ironic, UUID, WANTED)


class Repeated(FakeIronic):
    """An Ironic whose answer to a patch is lost, so that it comes again."""

    def patch(self, uuid, patch):
        super().patch(uuid, patch)
        try:
            super().patch(uuid, patch)
        except KeyError as exc:
            raise errors.Refused(f'no {exc} to remove (HTTP 400)') from exc


def test_a_patch_whose_answer_was_lost_is_done():
    ironic = Repeated()
    assert requested.stage(ironic, UUID, WANTED).summary == 'staged'
    done = requested.unstage(ironic, 'node1')
    assert (done.summary, done.changed) == ('taken back', True)
    assert done.traits == ('CUSTOM_A',)
    assert ironic.row['instance_info'] == {}
    assert ironic.asked[-4:] == [
        ('GET', 'node1'),
        ('PATCH', UUID),
        ('PATCH', UUID),
        ('GET', UUID),
    ]


def test_a_request_staged_over_another_may_lose_its_answer_too():
    ironic = Repeated()
    requested.stage(ironic, UUID, WANTED)
    other = extra_specs.parse([('capabilities:a', 'b')])
    done = requested.stage(ironic, UUID, other)
    assert (done.summary, done.changed) == ('staged', True)
    assert 'traits' not in ironic.row['instance_info']
    assert ironic.row['instance_info']['capabilities'] == '{"a": "b"}'


def test_a_patch_refused_for_its_own_sake_changed_nothing(ironic):
    def refuse(uuid, patch):
        ironic.asked.append(('PATCH', uuid))
        raise errors.Refused('no such field (HTTP 400)')

    ironic.patch = refuse
    with pytest.raises(errors.Refused, match='no such field'):
        requested.stage(ironic, UUID, WANTED)
    assert ironic.asked == [('GET', UUID), ('PATCH', UUID), ('GET', UUID)]


@pytest.mark.parametrize(
    'trouble', [errors.Unavailable('away'), errors.Refused('in maintenance')]
)
def test_a_refusal_is_what_is_said_if_the_second_look_fails(ironic, trouble):
    read = ironic.node

    def refuse(uuid, patch):
        ironic.node = fail
        raise errors.Refused('no (HTTP 400)')

    def fail(ident, fields):
        raise trouble

    ironic.patch = refuse
    with pytest.raises(errors.Refused, match=r'^no \(HTTP 400\)$'):
        requested.stage(ironic, UUID, WANTED)
    assert read(UUID, ('instance_info',)) == {'instance_info': {}}


@pytest.mark.parametrize('kind', [errors.Unavailable, errors.UnknownState])
def test_what_is_not_known_is_not_looked_at_again(ironic, kind):
    def lose(uuid, patch):
        raise kind('who knows')

    ironic.patch = lose
    with pytest.raises(virt.Unconfirmed, match='who knows'):
        requested.stage(ironic, UUID, WANTED)
    assert ironic.asked == [('GET', UUID)]


def test_what_is_reported_cannot_move_the_cursor(ironic):
    odd = '\x1b[2J\n'
    ironic.row['name'] = f'node1{odd}'
    staged = {'traits': [odd], 'capabilities': {odd: odd, 'b': 'c'}}
    capabilities = json.dumps({odd: odd, 'b': odd})
    ironic.row['instance_info'] = {
        'traits': [odd],
        'capabilities': capabilities,
        'compute_agent_staged': staged,
    }
    done = requested.unstage(ironic, UUID)
    assert done.changed
    assert done.traits == (r'\x1b[2J\n',)
    assert done.notes
    assert all(line.isprintable() for line in done.lines)
    ironic.row['instance_uuid'] = f'vm{odd}'
    with pytest.raises(errors.Refused, match='has the instance vm') as raised:
        requested.stage(ironic, UUID, WANTED)
    assert str(raised.value).isprintable()


def test_a_driver_with_both_methods_can_be_told_of_requests():
    class Able:
        def stage(
            self,
            node,
            wanted,
            instance_uuid=None,
            *,
            elsewhere=(),
            dry_run=False,
        ):
            """Not called."""

        def unstage(self, node, instance_uuid=None, *, dry_run=False):
            """Not called."""

    assert isinstance(Able(), virt.RequestedTraits)
    assert not isinstance(object(), virt.RequestedTraits)
