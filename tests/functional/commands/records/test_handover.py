# SPDX-License-Identifier: Apache-2.0
"""A node that moves to another agent: its record is handed over."""

import contextlib
import errno
import io
import json
import os
import subprocess
import sys

import pytest
from agents import NAME, NODE, Driver
from command_line import Result
from keystoneauth1 import adapter, session, token_endpoint

from compute_agent.cmd.app import main
from compute_agent.cmd.wiring import named_providers
from compute_agent.cycle.resource_tracker import Status
from compute_agent.plan import intents
from compute_agent.state import state
from compute_agent.state.database import lock, schema
from compute_agent.tree.assertion import Kind
from compute_agent.virt import driver as virt
from report_client.api import providers
from report_client.http import placement as http

CHILD = 'node-1-nic'


class Commands:
    """The command line of two agents, ``a`` and ``b``.

    They have no [placement] options and no driver that could be loaded; an
    import asks the placement of the test.
    """

    def __init__(self, folder, capsys, monkeypatch, placement):
        made = session.Session(
            auth=token_endpoint.Token(placement.url, 'admin'),
            session=placement.session,
        )
        through = adapter.Adapter(made, service_type='placement')
        service = http.Placement(through, 'placement')
        monkeypatch.setattr(
            named_providers,
            'providers_of',
            lambda _conf: providers.Providers(service),
        )
        self._folder = folder
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def directory(self, agent):
        return self._folder / agent

    def config(self, agent):
        path = self._folder / f'{agent}.conf'
        path.write_text(
            '[DEFAULT]\ncompute_driver = none-such\n'
            f'state_path = {self.directory(agent)}\n'
        )
        return path

    def run(self, agent, *words, stdin=b''):
        self._capsys.readouterr()
        text = io.TextIOWrapper(io.BytesIO(stdin))
        self._monkeypatch.setattr(sys, 'stdin', text)
        config = self.config(agent)
        code = main.main(['--config-file', str(config), 'state', *words])
        out, err = self._capsys.readouterr()
        return Result(code=code, out=out, err=err)

    def exported(self, *words, agent='a'):
        result = self.run(agent, 'export', *words)
        assert (result.code, result.err) == (0, '')
        return result.out

    def imported(self, text, *words, agent='b'):
        result = self.run(
            agent, 'import', '--yes', *words, stdin=text.encode()
        )
        assert (result.code, result.err) == (0, '')
        return result.out

    def content(self, agent):
        """All that is recorded by an agent, without the count of its writes."""
        with contextlib.closing(
            schema.connect(str(self.directory(agent) / schema.FILE_NAME))
        ) as db:
            return [x for x in db.iterdump() if '"written"' not in x]


@pytest.fixture
def commands(tmp_path, capsys, monkeypatch, placement):
    return Commands(tmp_path, capsys, monkeypatch, placement)


class Shard(Driver):
    """Describes the nodes of one shard; traits are added beside others'."""

    def __init__(self, *nodes):
        super().__init__(
            self._edit, nodes=dict(nodes), missing=virt.Existence.YES
        )
        self.nodes = dict(nodes)
        self.traits = {'CUSTOM_X'}
        self.nics = [CHILD]

    def _edit(self, tree, node):
        tree.update_inventory(node, {'CUSTOM_GOLD': {'total': 1}})
        tree.declare_traits(node, *self.traits)
        for nic in self.nics:
            if not tree.exists(nic):
                tree.new_child(nic, node)
        if not self.nics and tree.exists(CHILD):
            tree.remove(CHILD)


@pytest.fixture
def agents(agent_factory, commands, operator):
    """A has the node that an operator made; B has the shard beside it."""
    operator.create(NODE, NAME)
    a, b = (
        agent_factory(Shard(*nodes), state=commands.directory(name))
        for name, nodes in (('a', [(NODE, NAME)]), ('b', []))
    )
    a.done()
    return a, b


def hand_over(a, b):
    """The operator changes the node's shard."""
    b.driver.nodes.update(a.driver.nodes)
    a.driver.nodes.clear()


def move(a, b):
    """The operator changes the node's shard; each agent does a cycle."""
    hand_over(a, b)
    return [*a.done(), *b.done()]


# --- what it is for ----------------------------------------------------------


def test_with_the_record_the_next_agent_removes_what_the_first_added(
    agents, commands, operator
):
    a, b = agents
    move(a, b)
    commands.imported(commands.exported(NAME))
    b.done()
    assert 'CUSTOM_X' in operator.traits()
    b.driver.traits = {'CUSTOM_Y'}
    b.done()
    assert {'CUSTOM_X', 'CUSTOM_Y'} & operator.traits() == {'CUSTOM_Y'}


def test_without_it_the_next_agent_leaves_it_and_says_so(agents, operator):
    a, b = agents
    a.driver.traits = b.driver.traits = {'CUSTOM_X', 'CUSTOM_Z'}
    a.done()
    b.driver.traits = {'CUSTOM_Y'}
    note = move(a, b)[-1].notes[0]
    assert 'keeps CUSTOM_X, CUSTOM_Z' in note
    assert 'state import' in note
    b.done()
    assert operator.traits() >= {'CUSTOM_X', 'CUSTOM_Y', 'CUSTOM_Z'}


def test_a_record_that_comes_before_the_first_cycle_serves_as_well(
    agents, commands, operator
):
    a, b = agents
    commands.imported(commands.exported(NAME))
    b.driver.traits = {'CUSTOM_Y'}
    assert move(a, b)[-1].notes == ()
    assert 'CUSTOM_X' not in operator.traits()


def test_an_operator_s_trait_survives_the_hand_over(
    agents, commands, operator
):
    a, b = agents
    operator.add_traits('CUSTOM_BY_HAND')
    a.done()
    commands.imported(commands.exported(NAME))
    b.driver.traits = set()
    move(a, b)
    b.done()
    assert 'CUSTOM_BY_HAND' in operator.traits()
    assert 'CUSTOM_X' not in operator.traits()


@pytest.mark.parametrize('imported', [True, False])
def test_a_child_is_deleted_by_whoever_has_its_record(
    agents, commands, operator, imported
):
    a, b = agents
    if imported:
        commands.imported(commands.exported(NAME))
    b.driver.nics = []
    hand_over(a, b)
    a.done()
    (result,) = b.sync()
    assert (CHILD in operator.holdings()) != imported
    # Without the record, b may not delete the child, and says so.
    assert (result.status is Status.DONE) == imported
    assert imported or 'resource provider adopt' in result.reason


def test_a_trait_that_another_put_back_meanwhile_is_not_taken_for_ours(
    agents, commands, operator
):
    a, b = agents
    record = commands.exported(NAME)
    move(a, b)
    operator.remove_traits('CUSTOM_X')
    b.driver.traits = set()
    b.done()
    commands.imported(record)
    b.done()
    operator.add_traits('CUSTOM_X')
    b.done()
    assert 'CUSTOM_X' in operator.traits()


@pytest.mark.parametrize('forget', [['--forget'], []])
def test_a_node_that_returns_is_judged_by_the_record_unless_it_was_dropped(
    agents, commands, operator, forget
):
    a, b = agents
    move(a, b)
    commands.exported(NAME, *forget)
    operator.add_traits('CUSTOM_BY_HAND')
    move(b, a)
    a.driver.traits = set()
    a.done()
    assert ('CUSTOM_X' in operator.traits()) == bool(forget)
    assert 'CUSTOM_BY_HAND' in operator.traits()


# --- export ------------------------------------------------------------------


def test_a_record_is_json_that_names_the_node_and_its_driver(agents, commands):
    (found,) = json.loads(commands.exported(NODE))
    assert found['node'] == {
        'uuid': NODE,
        'name': NAME,
        'title': '',
        'driver': f'{Shard.__module__}:Shard',
    }
    root, child = found['providers']
    assert (root['uuid'], root['created']) == (NODE, False)
    assert root['ours']['trait'] == [
        'COMPUTE_NODE',
        'CUSTOM_X',
        'OWNER_NOVA',
    ]
    assert root['held']['trait']['driver'] == ['CUSTOM_X']
    assert child['created'] is True


def test_an_export_changes_nothing_and_works_beside_a_daemon(agents, commands):
    before = commands.content('a')
    with lock.hold(commands.directory('a')):
        first = commands.exported(NAME)
    assert commands.exported(NAME) == first
    assert commands.content('a') == before


def test_to_forget_needs_the_daemon_to_be_stopped(agents, commands):
    before = commands.content('a')
    with lock.hold(commands.directory('a')):
        result = commands.run('a', 'export', NAME, '--forget')
    assert (result.code, result.out) == (1, '')
    assert f'process {os.getpid()} uses the state directory' in result.line
    assert commands.content('a') == before


def test_what_is_forgotten_is_gone_and_was_printed(agents, commands):
    whole = commands.exported(NAME)
    assert commands.exported(NAME, '--forget') == whole
    again = commands.run('a', 'export', NAME)
    assert again.code == 1
    assert 'the state has no nodes' in again.line
    commands.imported(whole, agent='a')
    assert commands.exported(NAME) == whole


@pytest.mark.parametrize('how', ['full', 'closed'])
def test_what_could_not_be_printed_is_not_forgotten(agents, commands, how):
    before = commands.content('a')
    reader, writer = os.pipe()
    os.close(reader)
    out = os.open('/dev/full', os.O_WRONLY) if how == 'full' else writer
    done = subprocess.run(
        [
            sys.executable,
            '-m',
            'compute_agent.cmd.app.main',
            f'--config-file={commands.config("a")}',
            *('state', 'export', NAME, '--forget'),
        ],
        stdout=out,
        stderr=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k != 'PYTHONUNBUFFERED'},
        text=True,
        check=False,
        timeout=60,
    )
    for fd in {out, writer}:
        os.close(fd)
    assert done.returncode != 0
    assert ('they are kept here' in done.stderr) == (how == 'full')
    assert commands.content('a') == before


@pytest.mark.parametrize(
    ('number', 'dropped'),
    [(None, True), (errno.EINVAL, True), (errno.EIO, False)],
)
def test_a_record_is_on_its_disk_before_it_is_dropped(
    agents, commands, tmp_path, monkeypatch, number, dropped
):
    whole, before = commands.exported(NAME), commands.content('a')
    seen = []

    def fsync(fd):
        assert fd == out.fileno()
        seen.append((file.read_text(), commands.content('a')))
        if number is not None:
            raise OSError(number, os.strerror(number))

    file = tmp_path / 'record.json'
    with file.open('w') as out:
        monkeypatch.setattr(sys, 'stdout', out)
        monkeypatch.setattr(os, 'fsync', fsync)
        commands.run('a', 'export', NAME, '--forget')
    assert seen == [(whole, before)]
    assert (commands.content('a') != before) == dropped


def test_a_node_that_is_not_known_is_answered_with_those_that_are(
    agents, commands
):
    for words in (['node-2'], ['node-2', '--forget']):
        result = commands.run('a', 'export', *words)
        assert (result.code, result.out) == (1, '')
        assert result.line == (
            'compute-agent: nothing is recorded of node node-2; known nodes: '
            'node-1'
        )


def test_where_no_agent_ever_was_nothing_is_made(commands):
    result = commands.run('a', 'export', NAME)
    assert result.code == 1
    assert '[DEFAULT] state_path' in result.line
    assert not commands.directory('a').exists()


def test_a_write_that_was_cut_off_is_settled_before_an_export(
    agents, commands
):
    a, _ = agents
    sent = intents.Intent(
        node_uuid=NODE,
        uuid=NODE,
        kind=Kind.TRAIT,
        generation=99,
        names=frozenset({'CUSTOM_NEW'}),
        added=frozenset({'CUSTOM_NEW'}),
    )
    a.state.journal.begin(NODE, [sent], {})
    for words in ([NAME], [NAME, '--forget']):
        result = commands.run('a', 'export', *words)
        assert (result.code, result.out) == (1, '')
        assert 'run "compute-agent sync"' in result.line
    a.done()
    assert 'CUSTOM_NEW' not in commands.exported(NAME)


# --- import ------------------------------------------------------------------


def test_several_nodes_are_shown_once_and_imported_together(
    agents, commands, operator, tmp_path
):
    """Several files, or one file of several nodes; all of them, or none."""
    operator.create(OTHER, 'node-2')
    (first,) = json.loads(commands.exported('--all'))
    second = {
        **RECORD,
        'node': {**RECORD['node'], 'uuid': OTHER, 'name': 'node-2'},
        'providers': [{**RECORD['providers'][0], 'uuid': OTHER}],
    }
    both, none = tmp_path / 'both.json', tmp_path / 'none.json'
    both.write_text(json.dumps([first, second]))
    none.write_text(
        json.dumps({**second, 'node': {**second['node'], 'uuid': THIRD}})
    )
    before = commands.content('b')
    refused = commands.run('b', 'import', '--yes', str(both), str(none))
    assert refused.code == 1
    assert 'nothing was imported' in refused.line
    assert commands.content('b') == before
    out = commands.imported('', str(both))
    heads = [line for line in out.splitlines() if not line.startswith(' ')]
    assert heads == [
        f'imported the record of {NAME} ({NODE})',
        f'imported the record of node-2 ({OTHER})',
    ]
    exported = json.loads(commands.exported(NODE, OTHER, agent='b'))
    assert [one['node']['uuid'] for one in exported] == [NODE, OTHER]
    assert exported == json.loads(commands.exported('--all', agent='b'))
    wrong = commands.run('b', 'export')
    assert wrong.line == 'compute-agent: name the nodes, or give --all'


def test_an_import_says_what_it_took(agents, commands, tmp_path):
    text = commands.exported(NAME)
    (tmp_path / 'record.json').write_text(text)
    out = commands.imported('', str(tmp_path / 'record.json'))
    child = json.loads(text)[0]['providers'][1]['uuid']
    added = {'COMPUTE_NODE', 'CUSTOM_GOLD', 'CUSTOM_X', 'OWNER_NOVA'}
    assert out.splitlines() == [
        f'imported the record of {NAME} ({NODE})',
        f'  {NAME} ({NODE}): added {", ".join(sorted(added))}',
        f'  {CHILD} ({child}): created; added OWNER_NOVA',
    ]
    data = commands.imported(text, '-f', 'json')
    assert json.loads(data) == [
        {
            'node': NAME,
            'uuid': NODE,
            'providers': 2,
            'created': 1,
            'added': 5,
            'left_out': [],
        }
    ]


def test_a_provider_that_is_only_held_has_nothing_added(agents, commands):
    (found,) = json.loads(commands.exported(NAME))
    found['providers'][1].update(created=False, ours={})
    out = commands.imported(json.dumps(found))
    assert out.endswith(': nothing added\n')


def test_to_import_twice_is_to_import_once(agents, commands):
    text = commands.exported(NAME)
    first = commands.imported(text)
    content = commands.content('b')
    assert commands.imported(text) == first
    assert commands.content('b') == content
    assert commands.exported(NAME, agent='b') == text


def test_an_import_needs_the_daemon_to_be_stopped(agents, commands):
    text, before = commands.exported(NAME), commands.content('b')
    with lock.hold(commands.directory('b')):
        result = commands.run('b', 'import', '--yes', stdin=text.encode())
    assert result.code == 1
    assert f'process {os.getpid()} uses the state directory' in result.line
    assert commands.content('b') == before


RECORD = {
    'format': 'compute-agent node record',
    'version': 1,
    'node': {
        'uuid': NODE,
        'name': NAME,
        'title': '',
        'driver': 'rack:Rack',
    },
    'providers': [{'uuid': NODE, 'created': True, 'ours': {}, 'held': {}}],
}


@pytest.mark.parametrize(
    ('content', 'said'),
    [
        (b'', 'it is empty; check if the export failed'),
        (b' \n', 'it is empty; check if the export failed'),
        (b'compute-agent: no node', 'it is not JSON (Expecting value'),
        (b'{"format": "comp', 'it is not JSON (Unterminated string'),
        (b'\xff\xfe\xfd', 'it is not JSON ('),
        (b'[' * 100_000, 'it is not JSON ('),
        (b'{}', 'it is not the record of a node; give the output of'),
        (
            {'version': 2},
            'the record has version 2, and this agent reads version 1',
        ),
        ({'providers': []}, 'nothing is recorded of node node-1'),
        ({'node': {**RECORD['node'], 'uuid': 'x'}}, "node: node 'x' is not a"),
        ({'more': 1}, "the key 'more' is unknown here"),
    ],
)
@pytest.mark.parametrize('way', ['stdin', 'file'])
def test_what_is_no_record_is_one_line_and_no_write(
    commands, tmp_path, content, said, way
):
    if isinstance(content, dict):
        content = json.dumps({**RECORD, **content}).encode()
    file = tmp_path / 'record.json'
    file.write_bytes(content)
    words = [str(file)] if way == 'file' else []
    result = commands.run('b', 'import', *words, stdin=content)
    assert (result.code, result.out) == (1, '')
    where = str(file) if words else 'standard input'
    assert result.line.startswith(f'compute-agent: {where}: ')
    assert said in result.line
    assert not commands.directory('b').exists()


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('none.json', 'it cannot be read: No such file or directory'),
        ('.', 'it cannot be read: Is a directory'),
    ],
)
def test_a_file_that_cannot_be_read_is_named(commands, tmp_path, name, said):
    result = commands.run('b', 'import', str(tmp_path / name))
    assert result.code == 1
    assert result.line.endswith(said)
    assert str(tmp_path) in result.line


def test_a_record_makes_the_state_it_is_the_first_of(commands, operator):
    operator.create(NODE, NAME)
    commands.imported(json.dumps(RECORD))
    with contextlib.closing(
        state.State.open_copy(commands.directory('b'))
    ) as b:
        assert b.records.record([NODE], NODE).created == {NODE}
        assert list(b.nodes.of_drivers(['rack:Rack'])) == [NODE]


# --- what a record may not claim ----------------------------------------------

OTHER = '22222222-2222-4222-8222-222222222222'
THIRD = '44444444-4444-4444-8444-444444444444'


@pytest.mark.catches('an import claims the root of another host')
def test_providers_outside_of_the_node_s_tree_are_left_out(
    agents, commands, operator, tmp_path
):
    """The record says that it created another host's root, and a dead child."""
    a, b = agents
    operator.create(OTHER, 'node-2')
    gone = '33333333-3333-4333-8333-333333333333'
    (record,) = json.loads(commands.exported(NAME))
    claim = {'created': True, 'held': {}, 'ours': {'trait': ['CUSTOM_HIS']}}
    record['providers'] += [{**claim, 'uuid': OTHER}, {**claim, 'uuid': gone}]
    out = commands.imported(json.dumps(record))
    for uuid in (OTHER, gone):
        assert (
            f"  left out: {uuid}, which is not in this node's tree in placement"
        ) in out.splitlines()
    (data,) = json.loads(commands.imported(json.dumps(record), '-f', 'json'))
    assert data['left_out'] == [OTHER, gone]
    # The node departs: the other host's root stays.
    b.driver.nics = []
    b.driver.nodes[THIRD] = 'node-3'
    hand_over(a, b)
    a.done()
    b.done()
    del b.driver.nodes[NODE]
    b.driver.missing = virt.Existence.NO
    for _ in range(3):
        b.sync()
    assert 'node-2' in operator.holdings()


def test_an_import_is_shown_and_needs_a_yes(agents, commands):
    """Standard input has the record, so nobody can be asked there."""
    text, before = commands.exported(NAME), commands.content('b')
    result = commands.run('b', 'import', stdin=text.encode())
    assert result.code == 1
    assert 'add --yes' in result.line
    assert f'imports the record of {NAME} ({NODE})' in result.out
    assert f'{CHILD} (' in result.out
    assert commands.content('b') == before


def test_a_node_that_placement_does_not_have_is_not_imported(commands):
    result = commands.run(
        'b', 'import', '--yes', stdin=json.dumps(RECORD).encode()
    )
    assert result.code == 1
    assert 'nothing was imported: placement has no provider' in result.line
    assert not (commands.directory('b') / schema.FILE_NAME).exists()


def test_a_child_is_no_node(agents, commands):
    (record,) = json.loads(commands.exported(NAME))
    child = record['providers'][1]['uuid']
    record['node']['uuid'] = child
    result = commands.run(
        'b', 'import', '--yes', stdin=json.dumps(record).encode()
    )
    assert result.code == 1
    assert f'is in the tree of {NODE} at placement' in result.line


def test_a_record_of_other_providers_only_is_refused(commands, operator):
    operator.create(NODE, NAME)
    operator.create(OTHER, 'node-2')
    found = {
        **RECORD,
        'providers': [{**RECORD['providers'][0], 'uuid': OTHER}],
    }
    result = commands.run(
        'b', 'import', '--yes', stdin=json.dumps(found).encode()
    )
    assert result.code == 1
    assert "that placement does not have in the node's tree" in result.line
