# SPDX-License-Identifier: Apache-2.0
"""Seed 004's picture: what CN1's driver is given, out of a real placement.

CN1 and CN2 have NUMA nodes and network functions; SHR_ROOT holds a storage
pool and two bandwidth providers, which they share through aggregates.
"""

import textwrap
import uuid

import pytest

from compute_agent.tree import provider_tree
from drivers.fake import driver

AGGREGATES = {n: str(uuid.UUID(int=n)) for n in (1, 2, 3)}
UUIDS = {
    name: str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
    for name in ('CN1', 'CN2', 'SHR_ROOT')
}


def cn(name: str, bandwidth: int) -> str:
    """A compute node of the picture; its last PF is in a bandwidth group."""
    pf = 'inventories: {SRIOV_NET_VF: 8}'
    return textwrap.dedent(f"""
        nodes:
          - name: {name}
            uuid: {UUIDS[name]}
            children:
              - name: {name}_NUMA1
                inventories: {{VCPU: 8, MEMORY_MB: 4096}}
                children:
                  - {{name: {name}_PF1, {pf}}}
                  - {{name: {name}_PF2, {pf}}}
              - name: {name}_NUMA2
                inventories: {{VCPU: 8, MEMORY_MB: 4096}}
                aggregates: [{AGGREGATES[1]}]
                children:
                  - {{name: {name}_PF3, {pf}}}
                  - name: {name}_PF4
                    {pf}
                    aggregates: [{AGGREGATES[bandwidth]}]
        """)


def shared(name: str, rc: str, aggregate: int) -> str:
    return (
        f'{{name: {name}, traits: [MISC_SHARES_VIA_AGGREGATE], '
        f'inventories: {{{rc}: 1000}}, '
        f'aggregates: [{AGGREGATES[aggregate]}]}}'
    )


SHR_ROOT = textwrap.dedent(f"""
    nodes:
      - name: SHR_ROOT
        uuid: {UUIDS['SHR_ROOT']}
        children:
          - {shared('SSP', 'DISK_GB', 1)}
          - {shared('BW1', 'NET_BW_EGR_KILOBIT_PER_SEC', 2)}
          - {shared('BW2', 'NET_BW_EGR_KILOBIT_PER_SEC', 3)}
    """)

FILES = {'CN1': cn('CN1', 2), 'CN2': cn('CN2', 3), 'SHR_ROOT': SHR_ROOT}


@pytest.fixture
def agents(placement, agent_factory, tmp_path):
    """One agent for each root of the picture, each with its own state."""
    made = {}
    for name, text in FILES.items():
        path = tmp_path / f'{name}.yaml'
        path.write_text(text)
        made[name] = agent_factory(driver.FakeDriver(path))
    for agent in (made['SHR_ROOT'], made['CN2'], made['CN1']):
        (result,) = agent.sync()
        assert result.status.value == 'done', result.reason
    placement.clear()
    return made


def given_to(agent, name: str) -> provider_tree.ProviderTree:
    """The tree that the node's driver is handed."""
    return agent.client.observe([UUIDS[name]])[UUIDS[name]].tree()


def drawn(tree: provider_tree.ProviderTree) -> dict[str, str | None]:
    """Name → parent's name, for every provider of the tree."""
    parents = {}
    for each in tree.get_provider_uuids():
        one = tree.data(each)
        above = one.parent_uuid
        parents[one.name] = tree.data(above).name if above else None
    return parents


def test_cn1_s_driver_is_given_the_tree_of_the_picture(agents):
    assert drawn(given_to(agents['CN1'], 'CN1')) == {
        'CN1': None,
        'CN1_NUMA1': 'CN1',
        'CN1_PF1': 'CN1_NUMA1',
        'CN1_PF2': 'CN1_NUMA1',
        'CN1_NUMA2': 'CN1',
        'CN1_PF3': 'CN1_NUMA2',
        'CN1_PF4': 'CN1_NUMA2',
        'SSP': None,
        'BW1': None,
    }


def test_the_shared_ones_come_with_what_they_share(agents):
    tree = given_to(agents['CN1'], 'CN1')
    assert tree.has_sharing_provider('DISK_GB')
    assert tree.data('SSP').inventory['DISK_GB']['total'] == 1000


def test_cn2_s_driver_is_given_the_other_bandwidth(agents):
    names = set(drawn(given_to(agents['CN2'], 'CN2')))
    assert {'SSP', 'BW2'} <= names
    assert 'BW1' not in names
    assert not any(name.startswith('CN1') for name in names)


def test_the_next_cycle_is_one_request_and_no_write(agents, placement):
    agents['CN1'].sync()  # the shared ones are read once
    placement.clear()
    agents['CN1'].sync()
    assert [r.method for r in placement.requests] == ['GET']


def test_what_others_share_is_written_where_it_stands(agents):
    tree = given_to(agents['CN1'], 'CN1')
    tree.update_inventory('SSP', {'DISK_GB': {'total': 1}})
    agent = agents['CN1']
    seen = agent.client.observe([UUIDS['CN1']])[UUIDS['CN1']]
    plan = agent.plan_for(tree, seen)
    (operation,) = plan.operations
    assert operation.uuid == tree.data('SSP').uuid
    assert operation.changed == {'DISK_GB'}
