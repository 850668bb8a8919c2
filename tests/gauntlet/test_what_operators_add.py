# SPDX-License-Identifier: Apache-2.0
"""Operators' files: what they add stays while they say so, and no longer."""

import logging

import agents
from gauntlet import Plant, Variant, against, verdict

from compute_agent import errors
from compute_agent.cycle import resource_tracker
from compute_agent.provider_config import files, merge
from compute_agent.tree import assertion

NODE, NAME = agents.NODE, agents.NAME
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


def _lets_nothing_go(tree, node_uuid, record, *args, **how):
    """Merge, and keep what any file ever gave."""
    found = _merge(tree, node_uuid, record, *args, **how)
    for (uuid, kind), held in record.claims.items():
        for source in held:
            here = source.startswith('file:') and tree.exists(uuid)
            if here and kind is assertion.Kind.TRAIT:
                with tree.asserting(source):
                    tree.keep_traits(uuid)
    return found


def _reads_once(self, *args):
    """Read the files, unless that was done before."""
    if not self._tried:
        _reload(self, *args)


_merge = merge.merge
_reload = files.ProviderConfigFiles.reload
NOTHING_GOES = Variant(
    'what a file once gave is never taken back',
    Plant(merge.merge, _lets_nothing_go),
)
READS_ONCE = Variant(
    'files are read at the start alone',
    Plant(files.ProviderConfigFiles.reload, _reads_once),
)


@against(NOTHING_GOES, READS_ONCE)
def test_a_trait_that_leaves_a_file_leaves_the_provider(bench):
    """It must go without a restart, and nothing else with it."""
    folder = bench.fixture('tmp_path')
    file = folder / 'rack.yaml'
    file.write_text(ROOT_FILE % 'CUSTOM_RACK_7, CUSTOM_LIQUID')
    files = files_of(folder)
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


@against(NOTHING_GOES)
def test_a_file_that_is_gone_leaves_nothing_behind(bench):
    """Also when it goes while no agent runs."""
    folder = bench.fixture('tmp_path')
    place, state = folder / 'files', folder / 'state'
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


def _owned_if_there(tree, *args, **how):
    """Take a class that is there for the driver's, whoever put it there."""
    if tree.exists(CHILD) and 'CUSTOM_FPGA' in tree.data(CHILD).inventory:
        raise errors.DriverError('CUSTOM_FPGA is owned by the driver')
    return _merge(tree, *args, **how)


@against(
    Variant(
        "a class that is there is the driver's",
        Plant(merge.merge, _owned_if_there),
    )
)
def test_a_card_that_another_agent_made_is_described_in_every_cycle(
    bench,
):
    """What the first cycle wrote must not make the second one fail."""
    folder = bench.fixture('tmp_path')
    (folder / 'card.yaml').write_text(CHILD_FILE)
    files = files_of(folder)
    files.reload()
    agent = bench.agent(host, files=files)
    agent.done()
    bench.operator.create(CHILD, 'fpga0', NODE)
    ends = [agent.cycle() for _ in range(3)]
    with verdict():
        assert [end.status for end in ends] == [Status.DONE] * 3
        assert set(bench.operator.inventories(CHILD)) == {'CUSTOM_FPGA'}
        assert 'CUSTOM_FPGA_CARD' in bench.operator.traits(CHILD)


def _warns_per_node(tree, *args, **how):
    """Warn of each entry that is not of this very node."""
    if not tree.exists('node-2'):
        LOG.warning('there is no provider node-2')
    return _merge(tree, *args, **how)


LOG = logging.getLogger('compute_agent.variant')


@against(
    Variant(
        'each node warns of what is of another',
        Plant(merge.merge, _warns_per_node),
    )
)
def test_an_entry_for_one_of_many_nodes_is_no_news_for_the_others(
    bench,
):
    """Three nodes, four cycles, one right entry: no warning at all."""
    folder = bench.fixture('tmp_path')
    (folder / 'second.yaml').write_text(SECOND_FILE)
    files = files_of(folder)
    files.reload()
    agent = bench.agent(host, nodes=MANY, files=files)
    for _ in range(4):
        agent.done()
    second = next(uuid for uuid, name in MANY.items() if name == 'node-2')
    assert 'CUSTOM_RACK_7' in bench.operator.traits(second)
    with verdict():
        said = [
            record.getMessage()
            for record in bench.fixture('caplog').records
            if record.levelno >= logging.WARNING
        ]
        assert said == []
