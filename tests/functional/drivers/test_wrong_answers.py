# SPDX-License-Identifier: Apache-2.0
"""A wrong answer of a driver is refused in a line with a remedy.

Each public method of ``ComputeDriver`` has rows, or a reason to have none. A
driver of the test gives the answer, and an agent on a real placement asks.
"""

import inspect
import itertools
import re
import typing

import pytest
from oslo_config import cfg

from compute_agent import errors, testing
from compute_agent.cycle.node import node_result
from compute_agent.virt import driver, drivers, loader
from compute_agent.virt.values.changes import Changes

RACK = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'


class Rack(driver.ComputeDriver):
    """A driver of two nodes that has no method of its own for them."""

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return ['rack1', 'rack2']

    def get_nodenames_by_uuid(self):
        return {RACK: 'rack1', OTHER: 'rack2'}

    def get_available_resource(self, nodename):
        return {'vcpus': 8, 'memory_mb': 1024, 'local_gb': 10}


class Row(typing.NamedTuple):
    """A wrong answer, and a part of the advice that its refusal gives."""

    answer: typing.Any
    advice: str


_LIST = 'give a list of names'
_BY_UUID = 'give uuid → node name'
_TITLES = 'give node name → text|give a mapping, node name → text'
_EXISTENCE = 'or Existence.UNKNOWN if the driver cannot tell'
_AMOUNTS = 'give vcpus, memory_mb and local_gb as whole numbers'
WRONG = {
    'get_available_nodes': [
        Row('rack1', r"give a list of names, \['rack1'\]"),
        Row(None, r'give a list of names, \[\] for no node'),
        Row(7, _LIST),
        Row([7], 'give the name of each node as a text'),
        Row(['rack1', None], 'give the name of each node as a text'),
        Row([''], 'give the name of each node as a text'),
    ],
    'get_nodenames_by_uuid': [
        Row({'rack1': RACK}, rf"{_BY_UUID}: {{'{RACK}': 'rack1'}}"),
        Row(None, 'give a mapping, uuid → node name'),
        Row([RACK], 'give a mapping, uuid → node name'),
        Row('rack1', 'give a mapping, uuid → node name'),
        Row({7: 'rack1'}, _BY_UUID),
        Row({RACK: 7}, _BY_UUID),
        Row({RACK: ''}, _BY_UUID),
        Row({RACK: ['rack1']}, _BY_UUID),
    ],
    'get_titles': [
        Row(None, _TITLES),
        Row(['rack1'], _TITLES),
        Row({'rack1': 7}, _TITLES),
        Row({7: 'Rack'}, _TITLES),
    ],
    'get_hypervisor_hostnames': [
        Row(None, _TITLES),
        Row('rack1', _TITLES),
        Row({'rack1': None}, _TITLES),
    ],
    'node_exists': [
        Row(True, f'give Existence.YES, {_EXISTENCE}'),
        Row(False, f'give Existence.NO, {_EXISTENCE}'),
        Row(None, f'give an Existence, {_EXISTENCE}'),
        Row('no', f'give an Existence, {_EXISTENCE}'),
    ],
    'authority': [
        Row('HW_CPU_*', 'give a sequence of those'),
        Row(None, 'give a sequence of those'),
        Row(['hw_cpu'], 'give a sequence of those'),
        Row([7], 'give a sequence of those'),
    ],
    'node_filter': [
        Row('rack1', 'give option → value'),
        Row(['shard'], 'give option → value'),
        Row(7, 'give option → value'),
    ],
    'changes': [
        Row(['rack1'], r'give Changes\(names='),
        Row('rack1', r'give Changes\(names='),
        Row(Changes(names='rack1', since=1), 'give a list'),
        Row(Changes(names=[7], since=1), r'give str\(\) of it'),
    ],
    'metrics': [
        Row(None, 'give a mapping, name → number'),
        Row([1], 'give a mapping, name → number'),
        Row({'Fan': 1}, 'give at most 100 numbers by names of small'),
        Row({'fan': '1'}, 'give at most 100 numbers'),
        Row({'fan': True}, 'give at most 100 numbers'),
        Row({f'fan{n}': n for n in range(101)}, 'give at most 100 numbers'),
    ],
    'get_inventory': [
        Row(None, 'give resource class → record'),
        Row([], 'give resource class → record'),
        Row({'VCPU': 8}, 'give a mapping with a total'),
        Row({'VCPU': {'total': 0}}, 'leave out a class whose total is 0'),
        Row({'vcpu': {'total': 8}}, 'use 1 to 255 of the characters'),
    ],
    'get_traits': [
        Row('CUSTOM_A', 'give a list or a set of them'),
        Row(None, 'give a list or a set of them'),
        Row(['custom_a'], 'use 1 to 255 of the characters'),
        Row([None], 'use 1 to 255 of the characters'),
        Row({'CUSTOM_A': True}, 'give a list or a set of them'),
    ],
    'get_available_resource': [
        Row(None, _AMOUNTS),
        Row([8], _AMOUNTS),
        Row({'vcpus': '8'}, _AMOUNTS),
        Row({'vcpus': 8, 'memory_mb': 1.5}, _AMOUNTS),
        Row({'vcpus': 8, 'local_gb': None}, _AMOUNTS),
    ],
    'from_conf': [
        Row(None, 'it must return the driver'),
        Row('rack', 'it must return the driver'),
        Row(Rack, 'it must return the driver'),
    ],
}
WITHOUT = {
    'contract_version': 'tests/unit/compute_agent/virt/test_loader.py has it',
    'host_options': 'the agent sets it',
    'register_opts': 'the agent uses no answer',
    'subscribe': 'the agent uses no answer',
    'reload': 'the agent uses no answer',
    'close': 'the agent uses no answer',
    'facts': 'any value is right',
    'for_target': 'tests/unit/compute_agent/virt/test_loader.py has them',
    'update_provider_tree': 'the edits count: test_wrong_calls.py',
}
ROWS = [(method, row) for method, rows in WRONG.items() for row in rows]
IDS = [
    f'{method}-{n}'
    for method, group in itertools.groupby(ROWS, key=lambda pair: pair[0])
    for n, _ in enumerate(group)
]
_PROPERTIES = {'authority', 'node_filter'}


def answering(method, answer):
    """A class whose method gives this answer."""

    def answers(_self, *_arguments):
        return answer

    if method == 'from_conf':
        member = classmethod(answers)
    else:
        member = property(answers) if method in _PROPERTIES else answers
    return type('Rack', (Rack,), {method: member})


def lines(method, made, placement):
    """The lines that an agent has for this driver, one for each node."""
    if method == 'node_filter':
        with pytest.raises(errors.DriverError) as caught:
            _ = drivers.Drivers.only(made).filters
        return [str(caught.value)]
    if method in {'changes', 'metrics'}:
        (one,) = drivers.Drivers.only(made)
        ask = {'changes': lambda: one.changes(None), 'metrics': one.metrics}
        with pytest.raises(errors.DriverError) as caught:
            ask[method]()
        return [str(caught.value)]
    if method == 'node_exists':
        testing.sync(made, placement)
        made.get_available_nodes = lambda: ['rack1']
        missing = testing.sync(made, placement)[-1]
        return [node_result.line(missing)]
    try:
        return [
            node_result.line(found) for found in testing.sync(made, placement)
        ]
    except errors.DriverError as exc:
        return [str(exc)]


def public():
    return {
        name
        for name, found in inspect.getmembers(driver.ComputeDriver)
        if not name.startswith('_')
    }


def test_each_public_method_has_rows_or_a_reason():
    assert public() == WRONG.keys() | WITHOUT.keys()


@pytest.mark.parametrize(('method', 'row'), ROWS, ids=IDS)
def test_a_wrong_answer_is_one_line_with_a_remedy(placement, method, row):
    rack = answering(method, row.answer)
    if method == 'from_conf':
        with pytest.raises(errors.ConfigError) as caught:
            loader.load_class(rack, cfg.ConfigOpts())
        found = [str(caught.value)]
    else:
        found = lines(method, rack(), placement)
    assert found
    for line in found:
        assert re.search(row.advice, line), line
        assert line.isprintable()
        assert len(line) < 400


def test_the_right_answers_are_accepted(placement):
    testing.assert_synced(Rack(), placement)


@pytest.mark.catches('a wrong answer of a driver is taken silently')
def test_a_truth_is_no_answer_to_a_question_of_three(placement):
    (line,) = lines(
        'node_exists', answering('node_exists', False)(), placement
    )
    assert 'give Existence.NO' in line
