# SPDX-License-Identifier: Apache-2.0
"""Sets of processors follow nova's rules, and nothing is guessed."""

import pytest

from compute_agent import errors
from drivers.libvirt.inventory import cpus
from drivers.libvirtd import cpusets

FOUR = cpus.Host(present=frozenset(range(6)), online=frozenset(range(4)))


def sets(**texts):
    managed = texts.pop('managed', False)
    reserved = texts.pop('reserved', 0)
    parsed = {name: cpusets.parse(text, name) for name, text in texts.items()}
    return cpus.CpuSets(**parsed, managed=managed, reserved=reserved)


@pytest.mark.parametrize(
    ('texts', 'vcpus', 'pcpus'),
    [
        ({}, 4, 0),
        ({'shared': '1'}, 1, 0),
        ({'shared': '0', 'dedicated': '1-3'}, 1, 3),
        ({'dedicated': '1-3'}, 0, 3),
        ({'pin_set': '0-1'}, 2, 0),
        ({'pin_set': '0-1', 'shared': '3'}, 2, 0),
        ({'shared': '0-1', 'dedicated': '2-5', 'managed': True}, 2, 4),
        ({'managed': True}, 4, 0),
    ],
)
def test_the_sets_decide_the_counts(texts, vcpus, pcpus):
    chosen = sets(**texts)
    assert len(cpus.shared(chosen, FOUR)) == vcpus
    assert len(cpus.dedicated(chosen, FOUR)) == pcpus


@pytest.mark.parametrize(
    ('texts', 'count', 'message'),
    [
        (
            {'shared': '2-5'},
            cpus.shared,
            (
                'cpu_shared_set names processors 4-5, which are not online on '
                'this host (online: 0-3): correct the option, or turn them on'
            ),
        ),
        ({'pin_set': '9'}, cpus.shared, 'vcpu_pin_set names processors 9'),
        ({'dedicated': '4'}, cpus.dedicated, 'not online'),
        ({'dedicated': '4-6', 'managed': True}, cpus.dedicated, '6, which'),
        ({'shared': '4', 'managed': True}, cpus.shared, 'not online'),
    ],
)
def test_a_processor_that_is_not_there_is_refused(texts, count, message):
    with pytest.raises(errors.DriverError) as failed:
        count(sets(**texts), FOUR)
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ('texts', 'message'),
    [
        (
            {'shared': '0-3', 'dedicated': '2-5'},
            (
                'cpu_shared_set and [compute] cpu_dedicated_set both name '
                'processors 2-3: remove them from one of the two'
            ),
        ),
        (
            {'pin_set': '0', 'dedicated': '1'},
            'vcpu_pin_set cannot be used with [compute] cpu_dedicated_set',
        ),
        (
            {'shared': '0', 'reserved': 1},
            'reserved_host_cpus cannot be used with [compute] cpu_shared_set:',
        ),
        ({'dedicated': '0', 'reserved': 1}, 'cpu_dedicated_set: leave'),
    ],
)
def test_a_combination_that_nova_refuses_is_refused(texts, message):
    with pytest.raises(errors.ConfigError) as failed:
        sets(**texts)
    assert message in str(failed.value)


def test_processors_may_be_reserved_beside_the_oldest_option():
    assert sets(pin_set='0-3', reserved=1).reserved == 1


def test_a_set_without_effect_is_said():
    assert 'cpu_shared_set does not' in sets(pin_set='0', shared='1').warning
    assert not sets(pin_set='0').warning
    assert not sets(shared='0').warning
