# SPDX-License-Identifier: Apache-2.0
"""The commands for OpenStack's client, in the real client, with its account.

The account is of the real keystone; the client finds it in clouds.yaml, or in
the OS_* variables.
"""

import json
import os
import pathlib
import subprocess

import openstack_client
import pytest
import secure_cloud
import yaml

pytestmark = pytest.mark.long

CN1 = '11111111-1111-4111-8111-111111111111'


class Client:
    """The client as a person runs it in a folder.

    :ivar environment: the variables that say which account
    """

    def __init__(self, folder, environment):
        self._folder = folder
        self.environment = environment

    def run(self, *words):
        """Run the client; return the finished process."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith('OS_')
        }
        done = subprocess.run(
            [openstack_client.PROGRAM, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
            env={**kept, 'HOME': str(self._folder), **self.environment},
        )
        assert secure_cloud.PASSWORD not in f'{done.stdout}{done.stderr}'
        assert 'Traceback' not in done.stderr
        return done

    def data(self, *words):
        """Run a command that succeeds; return what it prints as JSON."""
        done = self.run(*words, '-f', 'json')
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope='module')
def service(cloud):
    """A user with the role service."""
    return cloud.user('service')[0]


@pytest.fixture
def account(setup, service):
    """The account, as clouds.yaml has it."""
    return {
        'region_name': 'one',
        'interface': 'internal',
        'cacert': str(setup.cafile),
        'auth': {
            'auth_url': f'{setup.cloud.keystone}/v3',
            'username': service,
            'password': secure_cloud.PASSWORD,
            'project_name': 'service',
            'user_domain_id': 'default',
            'project_domain_id': 'default',
        },
    }


@pytest.fixture
def client(setup, service, account, tmp_path):
    """The client with a cloud of clouds.yaml, and a provider cn1."""
    if not pathlib.Path(openstack_client.PROGRAM).exists():
        pytest.fail(openstack_client.MISSING)
    setup.configure(service)
    code, _, err = setup.run('sync', '--yes')
    assert code == 0, err
    file = tmp_path / 'clouds.yaml'
    file.write_text(yaml.safe_dump({'clouds': {'prod': account}}))
    environment = {'OS_CLIENT_CONFIG_FILE': str(file), 'OS_CLOUD': 'prod'}
    return Client(tmp_path, environment)


def test_the_words_that_osc_placement_lacks_are_there(client):
    words = ('placement', 'why-not', 'cn1', '--resource', 'VCPU=999')
    (row,) = client.data(*words)
    assert row['requirement'] == 'VCPU: 999'
    assert 'providers, and the ' in client.run('placement', 'audit').stdout
    (tree,) = client.data('placement', 'tree', 'show', 'cn1')
    assert tree['uuid'] == CN1
    added = ('resource', 'provider', 'trait', 'add', 'cn1', 'HW_CPU_X86_AVX2')
    assert client.data(*added)['added'] == ['HW_CPU_X86_AVX2']
    # osc-placement's own commands stay its own.
    version = ('--os-placement-api-version', '1.39')
    listed = client.data(
        *version, 'resource', 'provider', 'trait', 'list', CN1
    )
    assert {'name': 'HW_CPU_X86_AVX2'} in listed


def test_the_account_of_the_environment_is_enough(client, account):
    variables = {
        f'OS_{name.upper()}': value for name, value in account['auth'].items()
    }
    client.environment = {
        **variables,
        'OS_AUTH_TYPE': 'password',
        'OS_CACERT': account['cacert'],
        'OS_REGION_NAME': 'one',
        'OS_INTERFACE': 'internal',
    }
    (tree,) = client.data('placement', 'tree', 'show', 'cn1')
    assert tree['node'] == 'cn1'


def test_the_agent_of_this_host_is_asked_with_the_clients_account(
    client, setup, tmp_path
):
    setup.configure('nobody', password='wrong')
    own = tmp_path / '.compute-agent'
    own.mkdir()
    (own / 'compute-agent.conf').write_text(setup.config.read_text())
    planned = client.run('placement', 'plan')
    assert (planned.returncode, planned.stderr) == (0, '')
    assert 'nothing to do' in planned.stdout
    words = ('resource', 'provider', 'trait', 'remove', 'cn1', 'CUSTOM_GOLD')
    assert client.run(*words).returncode == 0
    told = client.data('placement', 'history')
    assert told[-1]['Changes'] == ['-CUSTOM_GOLD']
    assert told[-1]['Who'].startswith('resource provider trait remove by ')
    setup.configure(setup.cloud.user('service')[0])
    assert setup.run('sync', '--yes')[0] == 0


def test_a_mistake_is_one_line(client):
    done = client.run('placement', 'why-not', 'cn9', '--resource', 'VCPU=1')
    assert (done.returncode, done.stdout) == (1, '')
    assert done.stderr == 'compute-agent: no provider is called cn9\n'


def test_the_client_lists_the_commands(client):
    done = client.run('placement', '--help')
    listed = {
        line.strip() for line in f'{done.stdout}{done.stderr}'.split('\n')
    }
    assert {'placement plan', 'placement history'} <= listed
