# SPDX-License-Identifier: Apache-2.0
"""The local Ironic is a real one: it starts, keeps, refuses, and ends."""

import contextlib
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import time

import ironic_fixture
import pytest
import requests

from compute_agent import errors
from demo import ironic_nodes, ironic_operator, local_ironic, server_process

LATEST = {'X-OpenStack-Ironic-API-Version': 'latest'}


@pytest.fixture
def make(tmp_path):
    """Make a local Ironic; stopped at the end."""
    with contextlib.ExitStack() as undo:

        def make(**how):
            how = {
                'directory': tmp_path / 'ironic',
                'program': ironic_fixture.PROGRAM,
            } | how
            server = local_ironic.LocalIronic(**how)
            undo.callback(server.stop)
            return server

        yield make


@pytest.fixture
def program(tmp_path):
    """Write programs in place of ``ironic`` and ``ironic-dbsync``."""

    def write(script, dbsync='exit 0'):
        folder = tmp_path / 'bin'
        folder.mkdir()
        for name, text in (('ironic', script), ('ironic-dbsync', dbsync)):
            path = folder / name
            path.write_text(f'#!/bin/sh\n{text}\n')
            path.chmod(0o700)
        return folder / 'ironic'

    return write


def _get(url, path='/v1/nodes', **how):
    with requests.Session() as session:
        session.trust_env = False
        return session.get(f'{url}{path}', headers=LATEST, timeout=60, **how)


def _processes(directory):
    """Return the ids of processes that work in a directory."""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*'):
        with contextlib.suppress(OSError):
            if (path / 'cwd').readlink() == directory:
                found.append(int(path.name))
    return found


def _wait_for_end_in(directory):
    """Wait until no process works there: its main process ends first."""
    deadline = time.monotonic() + 60
    while _processes(directory):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_is_a_real_one_on_the_loopback(ironic):
    document = _get(ironic.url, '/').json()
    assert document['name'] == 'OpenStack Ironic API'
    newest = document['default_version']['version']
    assert tuple(map(int, newest.split('.'))) >= (1, 109)
    assert ironic.url.startswith('http://127.0.0.1:')
    (driver,) = ironic.request('GET', '/drivers')['drivers']
    assert driver['name'] == 'fake-hardware'


def test_each_test_begins_without_nodes(ironic):
    for name in ('n1', 'n2'):
        assert ironic.nodes() == []
        node = ironic.available(name)
        ironic.deploy(node)
        ironic.copies(node, 3)
        ironic.force(name, protected=True, reservation='another')
        ironic.delete_all()


def test_a_node_becomes_available_and_active_and_available_again(ironic):
    node = ironic.available('n1', 'gold', ['CUSTOM_GPU', 'HW_CPU_X86_VMX'])
    seen = ironic.node(node)
    assert seen['provision_state'] == 'available'
    assert seen['power_state'] == 'power off'
    assert seen['resource_class'] == 'gold'
    assert ironic.traits('n1') == {'CUSTOM_GPU', 'HW_CPU_X86_VMX'}
    instance = ironic.deploy('n1')
    seen = ironic.node('n1')
    assert seen['provision_state'] == 'active'
    assert seen['instance_uuid'] == instance
    ironic.undeploy('n1')
    assert ironic.node('n1')['instance_uuid'] is None


def test_it_validates_the_traits_of_an_instance(ironic):
    ironic.available('n1', traits=['CUSTOM_HERE'])
    for trait, accepted in (('CUSTOM_HERE', True), ('CUSTOM_GONE', False)):
        ironic.patch('n1', instance_info={'traits': [trait]})
        assert ironic.validate('n1')['deploy']['result'] is accepted


def test_maintenance_power_and_traits_are_an_operator_s(ironic):
    node = ironic.available('n1')
    ironic.set_maintenance(node, on=True)
    assert ironic.node(node)['maintenance'] is True
    ironic.set_maintenance(node, on=False)
    assert ironic.node(node)['maintenance'] is False
    ironic.set_power(node, 'power on')
    assert ironic.node(node)['power_state'] == 'power on'
    ironic.add_trait(node, 'CUSTOM_A')
    ironic.add_trait(node, 'CUSTOM_B')
    ironic.remove_trait(node, 'CUSTOM_A')
    assert ironic.traits(node) == {'CUSTOM_B'}
    ironic.force(node, power_state='error')
    assert ironic.node(node)['power_state'] == 'error'


def test_what_it_refuses_is_said_with_its_own_words(ironic):
    with pytest.raises(errors.Refused, match='with 404: Node nix could not'):
        ironic.node('nix')
    ironic.create(name='n1')
    with pytest.raises(errors.Refused, match='n1 already exists'):
        ironic.create(name='n1')


def test_a_thousand_nodes_are_there_at_once(ironic):
    model = ironic.available('n1', 'gold', ['CUSTOM_A'])
    uuids = ironic.copies(model, 1000)
    listed = {node['uuid']: node for node in ironic.nodes()}
    assert listed.keys() == {model, *uuids}
    assert all(n['traits'] == ['CUSTOM_A'] for n in listed.values())
    assert ironic.deploy('copy-0500')


def test_enrolling_again_leaves_nodes_as_they_are(ironic):
    rack = ironic_nodes.racks(2)
    ironic.create(name=rack[1].name, resource_class='gold')
    assert ironic_nodes.enroll(ironic, rack) == 2
    for node in rack:
        seen = ironic.node(node.name)
        assert seen['provision_state'] == 'available'
        assert seen['resource_class'] == node.resource_class
        assert set(seen['traits']) == node.traits
    ironic.set_traits(rack[0].name, ['CUSTOM_MINE'])
    assert ironic_nodes.enroll(ironic, ironic_nodes.racks(3)) == 1
    assert ironic.traits(rack[0].name) == {'CUSTOM_MINE'}


def test_with_an_htpasswd_file_only_who_is_in_it_gets_in(ironic_basic):
    ironic_basic.available('n1')
    assert [node['name'] for node in ironic_basic.nodes()] == ['n1']
    wrong = (ironic_fixture.USER, 'wrong')
    assert _get(ironic_basic.url).status_code == 401
    assert _get(ironic_basic.url, auth=wrong).status_code == 401


@pytest.fixture
def owner(tmp_path, ironic_home):
    """A process that runs an Ironic in ``tmp_path / 'ironic'``; its URL."""
    home = ironic_home(tmp_path / 'ironic')
    script = f"""
import pathlib, signal
from demo import local_ironic
server = local_ironic.LocalIronic(
    pathlib.Path({str(home)!r}),
    program=pathlib.Path({str(ironic_fixture.PROGRAM)!r}),
)
with server:
    print(server.url, flush=True)
    signal.pause()
"""
    with subprocess.Popen(
        [sys.executable, '-c', script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ironic_fixture.ROOT,
    ) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_it_ends_with_its_owner_and_has_its_nodes_at_the_next_start(
    owner, make, tmp_path
):
    process, url = owner
    directory = tmp_path / 'ironic'
    with contextlib.closing(ironic_operator.IronicOperator(url)) as operator:
        made = operator.create(name='n1')
    with pytest.raises(errors.ConfigError) as caught:
        make().start()
    assert str(caught.value) == (
        f'process {process.pid} runs an Ironic in {directory}: stop it, or '
        'choose another directory'
    )
    process.kill()
    process.wait()
    with make(port=int(url.rpartition(':')[2])) as server:
        assert server.url == url
        (node,) = _get(url).json()['nodes']
        assert node['uuid'] == made['uuid']
    _wait_for_end_in(directory)
    with pytest.raises(requests.ConnectionError):
        _get(url)


def test_a_half_made_database_is_made_anew(make, program, tmp_path):
    directory = tmp_path / 'ironic'
    directory.mkdir()
    with contextlib.closing(
        sqlite3.connect(directory / 'ironic.sqlite')
    ) as database:
        database.execute('CREATE TABLE nodes (id INTEGER)')
    path = program('exit 3', dbsync='test ! -e ironic.sqlite')
    with pytest.raises(errors.ConfigError, match='ended with 3 before'):
        make(program=path).start()


def test_where_none_is_installed_that_is_said(make, tmp_path):
    missing = tmp_path / 'bin' / 'ironic'
    with pytest.raises(errors.ConfigError) as caught:
        make(program=missing).start()
    assert str(caught.value) == (
        f'no Ironic is installed here: the program {missing} does not exist; '
        'run "make .servers/ironic.stamp" to install it, or set the variable '
        'COMPUTE_AGENT_IRONIC to another program'
    )
    assert not list(tmp_path.iterdir())


def test_without_its_dbsync_it_is_not_installed(make, program):
    path = program('exit 0')
    path.with_name('ironic-dbsync').unlink()
    with pytest.raises(
        errors.ConfigError, match='the program .*-dbsync does not'
    ):
        make(program=path).start()


def test_the_environment_names_the_program(monkeypatch, tmp_path):
    monkeypatch.delenv('COMPUTE_AGENT_IRONIC', raising=False)
    checkout = local_ironic.installed(tmp_path)
    assert checkout == tmp_path / '.servers' / 'ironic' / 'bin' / 'ironic'
    monkeypatch.setenv('COMPUTE_AGENT_IRONIC', '/opt/ironic')
    assert local_ironic.installed(tmp_path) == pathlib.Path('/opt/ironic')


def test_one_that_ends_is_quoted(make, program, tmp_path):
    path = program(
        'echo "2026 ERROR ironic some.SpecialError: no such: option"\n'
        'echo "2026 ERROR ironic "\n'
        'echo "ending"\n'
        'exit 3'
    )
    with pytest.raises(errors.ConfigError) as caught:
        make(program=path).start()
    assert str(caught.value) == (
        f'{path} ended with 3 before it answered; the last line of its log '
        f'{tmp_path}/ironic/ironic.log: some.SpecialError: no such: option'
    )


def test_one_that_never_answers_is_ended_with_all_it_started(
    make, program, tmp_path, monkeypatch
):
    monkeypatch.setattr(server_process, 'GRACE', 0.2)
    path = program('trap "" TERM\nsleep 1000 & sleep 1000')
    server = make(program=path, patience=3)
    with pytest.raises(errors.ConfigError, match='does not answer at http'):
        server.start()
    _wait_for_end_in(tmp_path / 'ironic')


def test_a_program_that_cannot_be_started_is_named(make, program):
    path = program('exit 0')
    path.write_text('#!/no/such/shell\n')
    with pytest.raises(errors.ConfigError, match=re.escape(str(path))):
        make(program=path).start()


def test_a_schema_that_fails_is_said(make, program):
    path = program('exit 0', dbsync='echo no; exit 2')
    with pytest.raises(
        errors.ConfigError, match=r'-dbsync ended with 2; .*: no'
    ):
        make(program=path).start()


def test_a_port_in_use_is_named(make):
    with socket.create_server(('127.0.0.1', 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(errors.ConfigError, match=f'port {port}: Address'):
            make(port=port).start()


def test_a_directory_that_cannot_be_written_is_named(make, tmp_path):
    (tmp_path / 'file').touch()
    with pytest.raises(errors.ConfigError, match='cannot be written: Not a'):
        make(directory=tmp_path / 'file' / 'ironic').start()


def test_a_damaged_database_is_named(make, tmp_path):
    (tmp_path / 'ironic').mkdir()
    (tmp_path / 'ironic' / 'ironic.sqlite').write_bytes(b'GIF89a' * 200)
    with pytest.raises(errors.ConfigError, match='move it away') as caught:
        make().start()
    assert '\n' not in str(caught.value)


def test_an_ironic_that_is_away_is_said(unused_port):
    url = f'http://127.0.0.1:{unused_port}'
    with (
        contextlib.closing(ironic_operator.IronicOperator(url)) as operator,
        pytest.raises(errors.Unavailable, match=f'from Ironic at {url}'),
    ):
        operator.nodes()


def test_a_node_that_does_not_get_there_is_said(ironic, monkeypatch):
    monkeypatch.setattr(ironic_operator.IronicOperator, 'patience', 0.1)
    ironic.create(name='n1')
    with pytest.raises(errors.Refused, match="'provision_state': 'enroll'"):
        ironic.wait('n1', provision_state='active')
