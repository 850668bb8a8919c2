# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/from-nova-driver.md do what the page says.

nova is not installed here: its ComputeDriver is replaced by the two things
that the example uses.
"""

import pathlib
import re
import sys
import types

import agents
import pytest

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.tree import inventory

PAGE = pathlib.Path(__file__).parents[3] / 'docs' / 'from-nova-driver.md'
PYTHON = re.compile(r'^```python\n(.*?)^```$', re.DOTALL | re.MULTILINE)
BEFORE, AFTER, MOVING = PYTHON.findall(PAGE.read_text(encoding='utf-8'))
HOST = 'gpu-host'
GPUS = 'gpu-host_gpus'
CAPABILITY = 'COMPUTE_NET_ATTACH_INTERFACE'
RATIO = 4.0


class Controller:
    """The source of both drivers; a test may change or break it."""

    def __init__(self):
        self.answer = {'cpus': 8, 'avx2': True, 'gpus': ['A100', 'A100']}

    def __call__(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def says(self, **parts):
        self.answer = {**self.answer, **parts}


class NovaDriver:
    """The part of nova's ComputeDriver that the example uses."""

    def __init__(self, virtapi):
        self.virtapi = virtapi

    @staticmethod
    def _get_allocation_ratios(inventory):
        return {
            'VCPU': inventory.get('VCPU', {}).get('allocation_ratio', RATIO)
        }


@pytest.fixture
def controller():
    return Controller()


@pytest.fixture
def before(agent_factory, controller, monkeypatch):
    """An agent with the body of the nova driver."""
    nova = types.ModuleType('nova.virt.driver')
    nova.ComputeDriver = NovaDriver
    for name in ('nova', 'nova.virt'):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules['nova.virt'].driver = nova
    driver = _defined(BEFORE, controller)['GpuHost'](virtapi=None)
    driver.init_host(HOST)
    assert driver.get_available_nodes() == [HOST]
    return agent_factory(
        driver.update_provider_tree, nodes={agents.NODE: HOST}
    )


@pytest.fixture
def after(agent_factory, controller):
    """An agent with our driver."""
    driver = _defined(AFTER, controller)['GpuHost'](HOST)
    driver.get_nodenames_by_uuid = lambda: {agents.NODE: HOST}
    initial = inventory.Ratios(initial={'VCPU': RATIO})
    return agent_factory(driver, ratios=initial)


def _body_in_our_driver():
    """Return the nova driver's text with our class."""
    return BEFORE.replace('from nova.virt', 'from compute_agent.virt')


def _defined(text, controller):
    found = {'ask_controller': controller}
    exec(compile(text, PAGE.name, 'exec'), found)
    return found


def test_both_describe_the_same(before, after, operator, controller):
    before.done()
    held = operator.holdings()
    assert set(held) == {HOST, GPUS}
    assert held[GPUS]['inventories']['PGPU']['total'] == 2
    assert held[HOST]['inventories']['VCPU']['allocation_ratio'] == RATIO
    operator.delete(held[GPUS]['uuid'])
    operator.delete(held[HOST]['uuid'])
    after.done()
    with_capability = operator.holdings()
    with_capability[HOST]['traits'].remove(CAPABILITY)
    assert with_capability == held


def test_the_body_works_in_our_driver_as_it_is(
    agent_factory, operator, controller
):
    moved = _defined(_body_in_our_driver(), controller)['GpuHost']

    class OfOurs(moved):
        @classmethod
        def from_conf(cls, conf):
            return cls()

    driver = OfOurs()
    driver.init_host(HOST)
    driver.get_nodenames_by_uuid = lambda: {agents.NODE: HOST}
    ratios = inventory.Ratios(initial={'VCPU': RATIO})
    agent_factory(driver, ratios=ratios).done()
    held = operator.holdings()
    assert held[HOST]['inventories']['VCPU']['allocation_ratio'] == RATIO
    assert held[GPUS]['inventories']['PGPU']['total'] == 2


@pytest.mark.parametrize('which', ['before', 'after'])
def test_a_host_whose_gpus_are_gone_has_none(
    request, which, operator, controller
):
    agent = request.getfixturevalue(which)
    agent.done()
    controller.says(gpus=[])
    agent.done()
    assert operator.holdings()[GPUS]['inventories'] == {}


def test_the_complete_list_of_the_nova_driver_takes_a_trait_of_another(
    before, operator
):
    before.done()
    gpus = operator.holdings()[GPUS]['uuid']
    operator.add_traits('CUSTOM_SEEN', uuid=gpus)
    before.done()
    assert 'CUSTOM_SEEN' not in operator.traits(gpus)


def test_a_trait_of_another_stays_on_the_gpus(after, operator):
    after.done()
    gpus = operator.holdings()[GPUS]['uuid']
    operator.add_traits('CUSTOM_SEEN', uuid=gpus)
    after.done()
    assert 'CUSTOM_SEEN' in operator.traits(gpus)


def test_a_trait_goes_that_nobody_removes_by_name(after, operator, controller):
    after.done()
    controller.says(avx2=False, gpus=['H100'])
    after.done()
    held = operator.holdings()
    assert 'HW_CPU_X86_AVX2' not in held[HOST]['traits']
    assert {t for t in held[GPUS]['traits'] if t.startswith('CUSTOM')} == {
        'CUSTOM_GPU_H100'
    }


def test_the_drivers_own_trait_goes_even_if_another_added_it(
    after, operator, controller
):
    controller.says(avx2=False)
    operator.create(agents.NODE, HOST)
    operator.add_traits('HW_CPU_X86_AVX2')
    after.done()
    assert 'HW_CPU_X86_AVX2' not in operator.traits()


def test_gpus_that_are_unknown_stay(after, operator, controller):
    after.done()
    held = operator.holdings()
    controller.says(gpus=None)
    result = after.cycle()
    assert result.status is not resource_tracker.Status.DONE
    assert 'the controller does not tell the GPUs' in str(result)
    assert operator.holdings() == held


def test_no_answer_changes_nothing(after, operator, controller):
    after.done()
    held = operator.holdings()
    controller.answer = ConnectionRefusedError('refused')
    with pytest.raises(errors.DriverError, match='no answer: refused'):
        after.sync()
    assert operator.holdings() == held


def test_equal_facts_save_the_description(after, controller, monkeypatch):
    after.done()
    after.done()  # with what the first cycle wrote
    monkeypatch.setattr(
        after.driver, 'update_provider_tree', lambda *_: pytest.fail('asked')
    )
    after.done()


def test_the_moved_gpus_keep_their_consumer(
    agent_factory, operator, placement
):
    def as_it_was(tree, name):
        tree.update_inventory(
            name, {'VCPU': {'total': 8}, 'VGPU': {'total': 4}}
        )

    nodes = {agents.NODE: HOST}
    agent = agent_factory(as_it_was, nodes=nodes)
    agent.done()
    consumer = '77777777-7777-4777-8777-777777777777'
    operator.allocate(consumer, 'VGPU')
    moving = _defined(MOVING, None)['SplitGpus']()
    moving.get_nodenames_by_uuid = lambda: nodes
    agent_factory(moving, state=agent.state).done()
    card = operator.holdings()[f'{HOST}_card']['uuid']
    held = placement.get(f'/allocations/{consumer}')['allocations']
    assert {uuid: a['resources'] for uuid, a in held.items()} == {
        card: {'VGPU': 1}
    }
