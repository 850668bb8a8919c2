# SPDX-License-Identifier: Apache-2.0
"""What judges a run: it sees a loss, what came back, and what is dear."""

import agents_at_work as agents
import churn_outcome as outcome
import journal
import losses
import people
import pytest

AT = f'/resource_providers/{agents.NODE}'
OPERATOR = 'operator-01'
HIS = people.trait(OPERATOR, 0)
OWNERS = losses.owners([OPERATOR])


def request(who, method, path, status=200, body=None, query=''):
    return journal.Request(
        at=0.0,
        who=who,
        method=method,
        path=path,
        query=query,
        status=status,
        body=body,
    )


def traits(who, *names, status=200):
    return request(who, 'PUT', f'{AT}/traits', status, {'traits': [*names]})


def inventories(who, **record):
    body = {'inventories': {'VCPU': {'total': 8, **record}}}
    return request(who, 'PUT', f'{AT}/inventories', body=body)


def of_one_class(who, **record):
    body = {'total': 8, **record, 'resource_provider_generation': 3}
    return request(who, 'PUT', f'{AT}/inventories/VCPU', body=body)


def faults(*requests):
    replay = losses.Replay(OWNERS)
    replay.all(requests)
    return [fault.partition(f'{AT}/')[2] for fault in replay.faults]


def test_each_may_add_and_remove_what_is_his():
    mine = people.trait('agent-a', 1)
    assert not faults(
        traits('agent-a', mine, 'COMPUTE_NODE'),
        traits('agent-b', mine, 'COMPUTE_NODE', 'HW_NIC_SRIOV'),
        traits(OPERATOR, mine, 'COMPUTE_NODE', 'HW_NIC_SRIOV', HIS),
        traits(OPERATOR, mine, 'COMPUTE_NODE', 'HW_NIC_SRIOV'),
        traits('agent-a', 'COMPUTE_NODE', 'HW_NIC_SRIOV'),
    )


@pytest.mark.parametrize(
    ('requests', 'fault'),
    [
        (
            [traits(OPERATOR, HIS), traits('agent-a')],
            f'traits: took {HIS}',
        ),
        (
            [traits(OPERATOR), traits('agent-a', HIS)],
            f'traits: put {HIS} there',
        ),
        (
            [traits('agent-b', 'HW_NIC_SRIOV'), traits('agent-a')],
            'traits: took HW_NIC_SRIOV',
        ),
        (
            [traits('agent-b', 'COMPUTE_NODE'), traits('agent-a')],
            'traits: took COMPUTE_NODE',
        ),
        (
            [
                inventories('agent-a'),
                of_one_class(OPERATOR, allocation_ratio=2.0),
                inventories('agent-a'),
            ],
            'inventories: changed the ratio of VCPU',
        ),
        (
            [
                inventories('agent-a'),
                request(
                    'agent-b',
                    'PUT',
                    f'{AT}/inventories',
                    body={'inventories': {}},
                ),
            ],
            'inventories: took VCPU',
        ),
    ],
)
def test_what_is_another_s_is_seen(requests, fault):
    assert faults(*requests) == [fault]


def test_a_total_is_the_business_of_one_agent_alone():
    (fault,) = faults(inventories('agent-a'), of_one_class(OPERATOR, total=9))
    assert 'changed VCPU' in fault


def test_a_deletion_is_nobody_s_business():
    replay = losses.Replay(OWNERS)
    replay.all([request('agent-a', 'DELETE', AT)])
    assert len(replay.faults) == 1


def test_what_was_refused_changed_nothing():
    assert not faults(
        traits(OPERATOR, HIS), traits('agent-a', status=409), traits(OPERATOR)
    )


def test_a_conflict_costs_what_follows_it_until_the_next_or_the_end():
    look = [
        request('a', 'GET', '/resource_providers', query='in_tree=1'),
        *(request('a', 'GET', f'{AT}/{kind}') for kind in ('traits', 'x')),
        request('a', 'GET', '/resource_providers', query='required=2'),
    ]
    refused, done = traits('a', status=409), traits('a')
    turn = [*look, refused, *look, refused, *look, *look[1:], done, done]
    first, second = journal.costs(turn)
    assert (first.requests, first.of_its_own) == (5, 5)
    assert (second.requests, second.of_its_own) == (9, 5)
    assert journal.costs([*look, done]) == []


def test_a_difference_is_told_either_way():
    wanted = {'traits': {'A', 'B'}, 'ratios': {'VCPU': 2.0, 'DISK_GB': 1.0}}
    found = {'traits': {'B', 'C'}, 'ratios': {'VCPU': 1.0, 'DISK_GB': 1.0}}
    assert outcome.differences(wanted, found) == [
        'traits: A is missing',
        'traits: C is left over',
        'ratios: VCPU is 1.0, not 2.0',
    ]
