# SPDX-License-Identifier: Apache-2.0
"""The commands beside two agents for the same nodes: who reports, and how.

Each agent has a state directory; the options and the placement are the same.
"""

import pytest
import yaml

NODES = {
    '11111111-1111-4111-8111-111111111111': 'bm1',
    '22222222-2222-4222-8222-222222222222': 'bm2',
}
FIRST, SECOND = NODES
FAKE = {
    'node_filter': {'shard': 'rack1'},
    'nodes': [
        {'name': name, 'uuid': uuid, 'inventories': {'CUSTOM_GOLD': 1}}
        for uuid, name in NODES.items()
    ],
}
PREFIX = 'CUSTOM_COMPUTE_AGENT_FAKE_SHARD_RACK1_'


class Agents:
    """Two agents; commands are of the one that was chosen last."""

    def __init__(self, cli):
        self.cli = cli
        cli.fake_file.write_text(yaml.safe_dump(FAKE))
        self.choose('one')

    def choose(self, name, **options):
        state = self.cli.folder / name
        self.cli.configure(agent={'state_path': state, **options})
        self.cli.config.chmod(0o600)
        return self

    def run(self, *words):
        return self.cli.run(*words)

    def marks(self, uuid=FIRST):
        return {
            trait
            for trait in self.cli.others.traits(uuid)
            if trait.startswith(PREFIX)
        }

    def doctor(self):
        rows = self.run('doctor', '-f', 'json').data
        return next(row for row in rows if row['check'] == 'marks')


@pytest.fixture
def both(cli):
    """The first agent reported the nodes."""
    made = Agents(cli)
    assert made.run('sync').code == 0
    return made


def test_a_fail_over_without_the_state_is_one_command(both):
    (mark,) = both.marks()
    refused = both.choose('two').run('sync')
    assert refused.code == 1
    assert 'another compute-agent (share FAKE_SHARD_RACK1' in refused.out
    assert 'nova' not in refused.out + refused.err
    assert both.marks() == {mark}

    assert both.run('sync', '--yes').code == 0
    (new,) = both.marks()
    assert new != mark
    assert both.run('plan').code == 0

    stands_down = both.choose('one').run('sync')
    assert stands_down.code == 1
    assert 'took the node over from this agent' in stands_down.out
    assert new.removeprefix(PREFIX) in stands_down.out
    assert both.marks() == {new}


def test_plan_tells_why_the_other_mark_goes(both):
    (mark,) = both.marks()
    planned = both.choose('two').run('plan')

    assert planned.code == 1
    assert f'-{mark} (this agent takes the node over' in planned.out
    assert 'nodes that another compute-agent reports' in planned.out


def test_doctor_and_audit_find_a_share_of_two_agents(both):
    assert both.doctor()['outcome'] == 'ok'
    assert 'of share fake:shard=rack1' in both.doctor()['said']
    both.choose('two')
    assert both.doctor()['outcome'] == 'warning'

    listed = both.run('approve', 'bm1', '-f', 'json').data
    both.run('approve', listed['nodes'][0]['digest'])
    assert both.marks(FIRST) != both.marks(SECOND)
    found = both.run('audit', '-f', 'json').data['results']
    (divided,) = [f for f in found if f['kind'] == 'divided-share']
    assert divided['subject'] == 'FAKE_SHARD_RACK1'


@pytest.mark.catches('the doctor takes marks that are replaced for a rival')
def test_a_record_that_was_imported_makes_no_rival_of_its_agent(both):
    """Its mark stays until the next cycle, which has no question."""
    exported = both.cli.folder / 'records.json'
    exported.write_text(both.run('state', 'export', 'bm1', '--forget').out)
    both.choose('two').run('plan')
    assert both.run('state', 'import', str(exported), '--yes').code == 0
    assert both.doctor()['outcome'] == 'warning'  # bm2 is that agent's
    both.choose('one')
    exported.write_text(both.run('state', 'export', 'bm2', '--forget').out)
    both.choose('two')
    assert both.run('state', 'import', str(exported), '--yes').code == 0
    before = both.marks()
    assert 'no other agent has marked' in both.doctor()['said']
    assert both.run('sync').code == 0
    assert both.marks().isdisjoint(before)


def test_leaving_the_last_node_deletes_the_trait(both):
    (mark,) = both.marks()
    assert both.run('leave', 'bm1', '--yes').code == 0
    assert mark in both.run('trait', 'list').out
    left = both.run('leave', 'bm2', '--yes')

    assert f'trait {mark} deleted' in left.out
    assert mark not in both.run('trait', 'list').out


def test_without_the_option_there_is_no_mark(both):
    assert both.choose('one', mark_nodes='false').run('sync').code == 0

    assert both.marks() == set()


def test_a_renamed_share_replaces_the_mark_without_a_question(both):
    (mark,) = both.marks()
    assert both.choose('one', share='rack-1').run('sync').code == 0

    found = both.cli.others.traits(FIRST)
    _, agent = mark.rsplit('_', 1)
    assert f'CUSTOM_COMPUTE_AGENT_RACK_1_{agent}' in found
    assert mark not in found


@pytest.mark.parametrize('share', ['rack 1', 'rack/1', '-rack'])
def test_a_share_with_other_characters_is_refused(both, share):
    refused = both.choose('one', share=share).run('sync')

    assert refused.code == 1
    assert 'cannot be the name of a share' in refused.line


def test_status_names_the_agent_and_its_share(both, daemon):
    running = daemon(both.cli.config)
    running.wait_for('cycle: ')
    said = both.run('status').out
    agent = next(iter(both.marks())).removeprefix(PREFIX)
    running.end()

    assert f'agent {agent} of share fake:shard=rack1, process' in said
