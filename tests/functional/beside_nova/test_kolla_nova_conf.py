# SPDX-License-Identifier: Apache-2.0
"""A companion beside Kolla-Ansible's nova.conf: nova's log, state and lock stay.

The file is one of ``tests/deployments``; the paths and the account in it are
those of the test.
"""

import pathlib

import pytest

pytestmark = pytest.mark.long

KOLLA = pathlib.Path(__file__).parents[2] / 'deployments/kolla-libvirt.conf'
ROOT = '11111111-1111-4111-8111-111111111111'
BEFORE = '2026-11-26 INFO nova.compute.manager [-] a line of nova-compute\n'
# What other deployment tools write as well.
MORE = 'use_stderr = false\nuse_json = true\nlog_rotation_type = size\n'


@pytest.fixture
def kolla(cli):
    """The files of a host: Kolla's nova.conf, and the one of the companion."""
    cli.log = cli.folder / 'log/nova'
    cli.log.mkdir(parents=True)
    (cli.log / 'nova-compute.log').write_text(BEFORE)
    cli.nova_state = cli.folder / 'lib/nova'
    cli.nova_state.mkdir(parents=True)
    (cli.nova_state / 'compute_id').write_text(ROOT)
    text = KOLLA.read_text(encoding='utf-8')
    for theirs, here in (
        ('/var/log/kolla/nova', str(cli.log)),
        ('/var/lib/nova', str(cli.nova_state)),
        ('[DEFAULT]\n', f'[DEFAULT]\n{MORE}'),
        (
            '[placement]\nauth_type = password\n',
            f'[placement]\nauth_type = admin_token\ntoken = admin\nendpoint = {cli.url}\n',
        ),
    ):
        assert theirs in text
        text = text.replace(theirs, here)
    cli.nova_conf = cli.folder / 'nova.conf'
    cli.nova_conf.write_text(text)
    write(cli)
    cli.others.create(ROOT, 'cn1')
    cli.others.add_traits(ROOT, 'COMPUTE_NODE', 'OWNER_NOVA')
    return cli


def write(cli, default='', **agent):
    """Write the companion's own file: the account is in nova.conf."""
    own = {'mode': 'companion', 'state_path': cli.folder / 'own', **agent}
    lines = '\n'.join(f'{name} = {value}' for name, value in own.items())
    cli.config.write_text(
        '[DEFAULT]\ncompute_driver = fake\nperiodic_fuzzy_delay = 0\n'
        f'{default}[fake]\nfile = {cli.fake_file}\n'
        f'[compute]\nprovider_config_location = {cli.provider_configs}\n'
        f'[compute_agent]\n{lines}\n'
    )
    cli.fake_file.write_text(
        f'nodes: [{{name: cn1, uuid: {ROOT}, traits: [CUSTOM_GOLD]}}]'
    )


def untouched(cli):
    """Assert that nova's directories are as nova-compute left them."""
    assert [path.name for path in cli.log.iterdir()] == ['nova-compute.log']
    assert (cli.log / 'nova-compute.log').read_text() == BEFORE
    assert [path.name for path in cli.nova_state.iterdir()] == ['compute_id']


@pytest.mark.parametrize('order', ['nova.conf first', 'nova.conf last'])
def test_run_beside_nova_leaves_log_and_state_alone(kolla, daemon, order):
    files = [kolla.nova_conf, kolla.config]
    if order == 'nova.conf last':
        files.reverse()
    first, last = files
    one = daemon(first, '--config-file', str(last))
    one.wait_for('cycle: 1 done')
    assert one.end() == 0
    assert 'compute-agent stops' in one.said
    assert not one.said.startswith('{')
    untouched(kolla)
    assert 'CUSTOM_GOLD' in kolla.others.traits(ROOT)
    assert (kolla.folder / 'own/state.sqlite').exists()


def test_a_log_file_of_its_own_is_used(kolla, daemon):
    log = kolla.folder / 'agent.log'
    write(kolla, default=f'log_file = {log}\nuse_stderr = false\n')
    one = daemon(kolla.nova_conf, '--config-file', str(kolla.config))
    while not log.exists() or 'cycle: 1 done' not in log.read_text():
        assert one.process.poll() is None, one.said
    assert one.end() == 0
    assert 'compute-agent stops' in log.read_text()
    untouched(kolla)


def test_a_directory_with_both_files_is_read_with_nova_s_first(kolla):
    """Though "agent.conf" comes before "nova.conf"."""
    conf_d = kolla.folder / 'conf.d'
    conf_d.mkdir()
    kolla.config.rename(conf_d / 'agent.conf')
    (conf_d / 'nova.conf').symlink_to(kolla.nova_conf)
    kolla.config = kolla.folder / 'empty.conf'
    kolla.config.touch()
    planned = kolla.run('--config-dir', str(conf_d), 'plan')
    assert (planned.code, planned.err) == (2, '')
    assert '+CUSTOM_GOLD' in planned.out
    untouched(kolla)


def test_where_guests_have_their_disks_is_a_fact(kolla):
    """So no rule says that they have local disks: Kolla's are in Ceph."""
    (row,) = kolla.run(
        '--config-file',
        str(kolla.nova_conf),
        'facts',
        'nova.images_type',
        '-f',
        'json',
    ).data
    assert (row['value'], row['source']) == ('rbd', '[libvirt] images_type')
