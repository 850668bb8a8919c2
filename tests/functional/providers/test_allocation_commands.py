# SPDX-License-Identifier: Apache-2.0
"""``resource provider allocation`` and ``resource usage``: claims by hand.

``test_osc_words.py`` has what they print where all goes well.
"""

import pytest

from report_client import errors
from report_client.api import allocations

NODE = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'
USER = 'cccccccc-cccc-4ccc-8ccc-cccccccccccc'
ALLOCATION = ('resource', 'provider', 'allocation')
WHOSE = ('--project-id', 'p1', '--user-id', 'u1')


@pytest.fixture
def known(cli):
    """Two providers with 8 VCPU."""
    for uuid, name in ((NODE, 'cn1'), (OTHER, 'cn2')):
        cli.others.create(uuid, name)
        cli.others.set_inventories(uuid, {'VCPU': {'total': 8}})
    return cli


def held(cli):
    """Return provider → amounts of the consumer."""
    found = cli.placement(f'/allocations/{USER}')['allocations']
    return {uuid: part['resources'] for uuid, part in found.items()}


def test_a_provider_may_be_named(known):
    words = (*ALLOCATION, 'set', USER, '--allocation', 'rp=cn1,VCPU=2')
    result = known.run(*words, *WHOSE)
    assert result.code == 0, result.err
    assert held(known) == {NODE: {'VCPU': 2}}
    # The second time, the consumer says whose it is.
    again = (*ALLOCATION, 'set', USER, '--allocation', 'rp=cn2,VCPU=1')
    assert known.run(*again).code == 0
    assert held(known) == {OTHER: {'VCPU': 1}}


def test_the_history_has_the_person(cli):
    cli.run('sync')
    words = (*ALLOCATION, 'set', USER, '--allocation', 'rp=cn1,VCPU=2')
    assert cli.run(*words, *WHOSE).code == 0
    assert cli.run(*ALLOCATION, 'delete', USER).code == 0
    told = {
        row['What']: row['Who'].partition(' by ')[0]
        for row in cli.run('history', '-f', 'json').data
    }
    assert told['allocations set'] == 'resource provider allocation set'
    assert told['allocations deleted'] == (
        'resource provider allocation delete'
    )


def test_a_change_between_read_and_write_is_not_lost(known, monkeypatch):
    """Another writer moves the consumer while one class is taken off."""
    known.others.allocate(NODE, USER, {'VCPU': 2})
    less = allocations._less
    moved = []

    def late(before, gone):
        if not moved:
            moved.append(1)
            words = (*ALLOCATION, 'set', USER, '--allocation')
            assert known.run(*words, 'rp=cn2,VCPU=3').code == 0
        return less(before, gone)

    monkeypatch.setattr(allocations, '_less', late)
    words = (*ALLOCATION, 'unset', USER, '--provider', 'cn1')
    assert known.run(*words).code == 0
    assert held(known) == {OTHER: {'VCPU': 3}}


@pytest.mark.catches(
    'allocations are replaced under a generation that nobody saw'
)
def test_a_whole_set_is_not_written_over_another_writers(known, monkeypatch):
    replace = allocations.Allocations.replace

    def late(self, wanted, before):
        known.others.allocate(OTHER, USER, {'VCPU': 1})
        return replace(self, wanted, before)

    monkeypatch.setattr(allocations.Allocations, 'replace', late)
    words = (*ALLOCATION, 'set', USER, '--allocation', 'rp=cn1,VCPU=2')
    result = known.run(*words, *WHOSE)
    assert (result.code, result.out) == (1, '')
    assert 'HTTP 409' in result.line
    assert held(known) == {OTHER: {'VCPU': 1}}


def test_a_consumer_that_always_changes_is_one_line(known, monkeypatch):
    known.others.allocate(NODE, USER, {'VCPU': 2})

    def busy(self, request, needed=None):
        raise errors.Conflict('busy')

    service = allocations.placement.Placement
    monkeypatch.setattr(service, 'send', busy)
    result = known.run(*ALLOCATION, 'unset', USER, '--provider', NODE)
    assert (result.code, result.line) == (1, 'compute-agent: busy')


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ([], 'there is nothing to set: add --allocation'),
        (['VCPU=2'], 'needs a provider and amounts'),
        (['rp=cn1'], 'needs a provider and amounts'),
        (['rp=cn1,VCPU'], "'VCPU' in --allocation"),
        (['rp=cn1,VCPU=x'], "'x' in --allocation"),
        (['rp=cn1,VCPU=0'], 'VCPU: 0 is not a valid amount'),
        (['rp=cn9,VCPU=1'], 'no provider is called cn9'),
        (['rp=cn1,VCPU=1', 'rp=cn1,VCPU=2'], 'is asked for as 1 and as 2'),
        (['rp=cn1,VCPU=1', f'rp={NODE},VCPU=1'], 'by name and by uuid'),
        (['rp=cn1,DISK=1'], 'knows no resource class DISK'),
        (['rp=cn1,VCPU=9'], 'HTTP 409'),
    ],
)
def test_what_cannot_be_allocated_is_one_line(known, words, said):
    given = [f'--allocation={word}' for word in words]
    result = known.run(*ALLOCATION, 'set', USER, *given, *WHOSE)
    assert (result.code, result.out) == (1, '')
    assert said in result.err
    assert held(known) == {}


def test_a_new_consumer_needs_an_owner(known):
    words = (*ALLOCATION, 'set', USER, '--allocation', 'rp=cn1,VCPU=1')
    result = known.run(*words)
    assert result.code == 1
    assert 'is new: add --project-id and --user-id' in result.line


def test_a_consumer_without_allocations_is_said(known):
    shown = known.run(*ALLOCATION, 'show', USER, '-f', 'json')
    assert (shown.code, shown.data) == (0, [])
    assert shown.line.endswith(f'consumer {USER} has no allocations')
    gone = known.run(*ALLOCATION, 'delete', USER)
    assert (gone.code, gone.out) == (1, '')
    assert gone.line.endswith(f'consumer {USER} has no allocations')
    wrong = known.run(*ALLOCATION, 'show', 'server1')
    assert "consumer 'server1' is not a uuid" in wrong.line
