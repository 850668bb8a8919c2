# SPDX-License-Identifier: Apache-2.0
"""Operators' files: what they add stays while they say so, and no longer."""

import logging

import pytest
from gauntlet import NODE, verdict

from compute_agent.cycle import resource_tracker
from compute_agent.provider_config import files

CHILD = '33333333-3333-4333-8333-333333333333'
MANY = {
    f'{n:08}-1111-4111-8111-111111111111': f'node-{n}' for n in range(1, 4)
}
Status = resource_tracker.Status
ROOT_FILE = """
meta: {schema_version: '1.0'}
providers:
  - identification: {uuid: $COMPUTE_NODE}
    traits: {additional: [%s]}
"""
CHILD_FILE = f"""
meta: {{schema_version: '1.0'}}
providers:
  - identification: {{uuid: {CHILD}}}
    inventories: {{additional: [CUSTOM_FPGA: {{total: 2}}]}}
    traits: {{additional: [CUSTOM_FPGA_CARD]}}
"""
SECOND_FILE = """
meta: {schema_version: '1.0'}
providers:
  - identification: {name: node-2}
    traits: {additional: [CUSTOM_RACK_7]}
"""


def host(tree, node):
    tree.update_inventory(node, {'VCPU': {'total': 8}})


def files_of(folder):
    return files.ProviderConfigFiles(lambda: (str(folder), True))


# --- removal, and reading again -----------------------------------------------


@pytest.mark.catches('what a file once gave is never taken back')
@pytest.mark.catches('files are read at the start alone')
def test_a_trait_that_leaves_a_file_leaves_the_provider(bench, tmp_path):
    """It must go without a restart, and nothing else with it."""
    file = tmp_path / 'rack.yaml'
    file.write_text(ROOT_FILE % 'CUSTOM_RACK_7, CUSTOM_LIQUID')
    files = files_of(tmp_path)
    files.reload()
    agent = bench.agent(host, files=files)
    agent.done()
    assert {'CUSTOM_RACK_7', 'CUSTOM_LIQUID'} <= bench.operator.traits()
    bench.operator.add_traits('CUSTOM_OPERATOR')
    file.write_text(ROOT_FILE % 'CUSTOM_RACK_7')
    files.reload()
    agent.done()
    with verdict():
        found = bench.operator.traits()
        assert 'CUSTOM_LIQUID' not in found
        assert {'CUSTOM_RACK_7', 'CUSTOM_OPERATOR'} <= found


@pytest.mark.catches('what a file once gave is never taken back')
def test_a_file_that_is_gone_leaves_nothing_behind(bench, tmp_path):
    """Also when it goes while no agent runs."""
    place, state = tmp_path / 'files', tmp_path / 'state'
    place.mkdir()
    (place / 'rack.yaml').write_text(ROOT_FILE % 'CUSTOM_RACK_7')
    files = files_of(place)
    files.reload()
    bench.agent(host, files=files, state=state).done()
    (place / 'rack.yaml').unlink()
    files = files_of(place)
    files.reload()
    bench.agent(host, files=files, state=state).done()
    with verdict():
        assert 'CUSTOM_RACK_7' not in bench.operator.traits()


# --- others' providers --------------------------------------------------------


@pytest.mark.catches("a class that is there is the driver's")
def test_a_card_that_another_agent_made_is_described_in_every_cycle(
    bench, tmp_path
):
    """What the first cycle wrote must not make the second one fail."""
    (tmp_path / 'card.yaml').write_text(CHILD_FILE)
    files = files_of(tmp_path)
    files.reload()
    agent = bench.agent(host, files=files)
    agent.done()
    bench.operator.create(CHILD, 'fpga0', NODE)
    ends = [agent.cycle() for _ in range(3)]
    with verdict():
        assert [end.status for end in ends] == [Status.DONE] * 3
        assert set(bench.operator.inventories(CHILD)) == {'CUSTOM_FPGA'}
        assert 'CUSTOM_FPGA_CARD' in bench.operator.traits(CHILD)


@pytest.mark.catches('each node warns of what is of another')
def test_an_entry_for_one_of_many_nodes_is_no_news_for_the_others(
    bench, tmp_path, caplog
):
    """Three nodes, four cycles, one right entry: no warning at all."""
    (tmp_path / 'second.yaml').write_text(SECOND_FILE)
    files = files_of(tmp_path)
    files.reload()
    agent = bench.agent(host, nodes=MANY, files=files)
    for _ in range(4):
        agent.done()
    second = next(uuid for uuid, name in MANY.items() if name == 'node-2')
    assert 'CUSTOM_RACK_7' in bench.operator.traits(second)
    with verdict():
        said = [
            record.getMessage()
            for record in caplog.records
            if record.levelno >= logging.WARNING
        ]
        assert said == []
