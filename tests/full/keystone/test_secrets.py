# SPDX-License-Identifier: Apache-2.0
"""No password and no token is in anything that the agent writes.

Two daemons, one of a password and one of an application credential, log all
that they and their libraries can log. They go through outages, a redirect, a
refused certificate, a refused password and a defect in the middle of a write,
are asked by each command that shows how the agent or the cloud is and over
HTTP, and die by a signal. Then every byte of their files and of all output is
searched for each secret and for every token that keystone issued.
"""

import contextlib
import functools
import hashlib
import signal
from urllib import parse

import command_line
import openstack_server
import pytest
import requests
import secure_cloud
import trustme
from scripted_server import answer, scripted

from compute_agent.cmd.app import main

pytestmark = pytest.mark.long

PIECE = 16  # characters; as much of a secret is a leak, too
WRONG = 'wr0ng-pa$$word-of-nobody'
BEGUN, OVER = 'retrying until it is mended', 'back after'
QUESTIONS = (
    'approve',
    'audit',
    'drift',
    'explain --node {uuid} CUSTOM_GOLD',
    'history',
    'plan',
    'resource provider show {uuid}',
    'state show',
    'status',
    'tree show {uuid}',
)
LIBRARIES = (
    'ironicclient',
    'keystoneauth',
    'openstack',
    'requests',
    'stevedore',
    'urllib3',
)
# Its writes fail while the file exists, where headers with the token are in
# the variables. It leaves no core.
_DEFECT = """
import os, resource, sys
import urllib3.connectionpool as pool
from compute_agent.cmd.app import start

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
whole = pool.HTTPConnectionPool.urlopen

def urlopen(self, method, *words, **named):
    if method == 'PUT' and os.path.exists({file!r}):
        raise SystemExit('a planted defect')  # no error of a library
    return whole(self, method, *words, **named)

pool.HTTPConnectionPool.urlopen = urlopen
sys.exit(start.main())
"""


class Watched:
    """A daemon with an account, the folder of its files, and its output.

    :ivar seen: the folder with all that the daemon and the commands write
    :ivar uuid: the daemon's node
    """

    def __init__(self, folder, number, account, cloud, ironic, port):
        self.seen = folder / 'seen'
        self.seen.mkdir(parents=True)
        self.defect = folder / 'defect'
        self.config = folder / 'agent.conf'
        self.url = f'http://127.0.0.1:{port}'
        self.uuid = f'{str(number) * 8}-5ec1-4111-8111-111111111111'
        self._number = number
        self._fake_file = folder / 'fake.yaml'
        self._said = 0
        self.describe('CUSTOM_GOLD')
        cafile = folder / 'ca.pem'
        cloud.authority.cert_pem.write_to_path(str(cafile))
        account = {
            'auth_url': f'{cloud.keystone}/v3',
            'cafile': cafile,
            'region_name': 'one',
            **account,
        }
        self._groups = {
            'DEFAULT': {
                'compute_driver': 'fake,ironic',
                'state_path': self.seen / 'state',
                'update_resources_interval': 3,
                'periodic_fuzzy_delay': 0,
                'debug': 'true',
                'default_log_levels': ','.join(
                    f'{name}=DEBUG' for name in LIBRARIES
                ),
                'use_json': 'true' if number % 2 else 'false',
            },
            'compute_agent': {
                'outage_retry_interval': 1,
                'metrics_bind': f'127.0.0.1:{port}',
                'metrics_textfile': self.seen / 'agent.prom',
                'metrics_nodes': 10,
            },
            'fake': {'file': self._fake_file},
            'placement': {**account, 'valid_interfaces': 'internal'},
            'ironic': {**account, 'endpoint_override': ironic},
        }
        self.configure({})

    def configure(self, account):
        """Write the configuration; ``account`` replaces some options."""
        changed = {
            name: values | account
            if name in {'placement', 'ironic'}
            else values
            for name, values in self._groups.items()
        }
        self.config.write_text(
            '\n'.join(
                f'[{name}]\n'
                + '\n'.join(f'{k} = {v}' for k, v in values.items())
                for name, values in changed.items()
            )
        )

    def describe(self, trait):
        """Have the driver describe its node with this trait."""
        self._fake_file.write_text(
            f'nodes: [{{name: secret{self._number}, '
            f'uuid: {self.uuid}, '
            f'inventories: {{VCPU: 8}}, traits: [{trait}]}}]'
        )

    def start(self, daemon):
        """Start the daemon."""
        program = _DEFECT.format(file=str(self.defect))
        self.daemon = daemon(
            self.config, program=('-X', 'faulthandler', '-c', program)
        )
        self.daemon.wait_for('cycle: ')

    def keep(self, text):
        """Keep a text to be searched."""
        self._said += 1
        (self.seen / f'said-{self._said}').write_text(text)

    def ask(self, capsys, *words):
        """Run a command with --debug in this process; keep its output."""
        capsys.readouterr()
        main.main(['--config-file', str(self.config), '--debug', *words])
        out, err = capsys.readouterr()
        self.keep(f'{out}\n{err}')
        return out


@pytest.fixture
def ironic():
    """An Ironic without nodes."""
    with scripted(lambda _: answer(body={'nodes': []})) as server:
        yield server


@pytest.fixture
def accounts(cloud):
    """The users of the two daemons, and the options of their accounts."""
    (name, one), two = cloud.user('service'), cloud.user('service')
    made = cloud.application_credential(*two)
    password = {
        'auth_type': 'password',
        'username': name,
        'password': secure_cloud.PASSWORD.replace('$', '$$'),
        'project_name': 'service',
        'user_domain_id': 'default',
        'project_domain_id': 'default',
    }
    credential = {
        'auth_type': 'v3applicationcredential',
        'application_credential_id': made['id'],
        'application_credential_secret': made['secret'],
    }
    return {one: password, two[1]: credential}


def in_trouble(agents, asked, capsys, begin, mend):
    """Have an outage begin and end; ask some agents' doctors meanwhile."""
    before = [one.daemon.said for one in agents]
    begin()
    for one, said in zip(agents, before, strict=True):
        one.daemon.wait_for(BEGUN, said.count(BEGUN) + 1)
    for one in asked:
        one.ask(capsys, 'doctor')
    mend()
    for one, said in zip(agents, before, strict=True):
        one.daemon.wait_for(OVER, said.count(OVER) + 1)


def servers_in_trouble(agents, cloud, capsys):
    """Have keystone and placement be away, redirect and show a wrong name."""
    fronts = (cloud.front, cloud.keystone_front)
    good = cloud.front.context
    bad = secure_cloud.server_context(trustme.CA().issue_cert('127.0.0.1'))

    def show(instead=None, context=good):
        for front in fronts:
            front.instead, front.context = instead, context

    elsewhere = [('Location', f'{cloud.keystone}/login')]
    for asked, instead, context in (
        (agents[:1], (503, [], b''), good),
        (agents[1:], (302, elsewhere, b''), good),
        (agents[:1], None, bad),
    ):
        begin = functools.partial(show, instead, context)
        in_trouble(agents, asked, capsys, begin, show)


def users_in_trouble(agents, users, cloud, capsys):
    """Have keystone refuse the accounts, which were good."""

    def change(password, *, enabled):
        for user in users:
            cloud.change(user, password=password, enabled=enabled)

    in_trouble(
        agents,
        agents,
        capsys,
        lambda: change(WRONG, enabled=False),
        lambda: change(secure_cloud.PASSWORD, enabled=True),
    )


def refused(one, capsys):
    """Ask with a wrong secret."""
    wrong = WRONG.replace('$', '$$')
    one.configure({'password': wrong, 'application_credential_secret': wrong})
    assert 'HTTP 401' in one.ask(capsys, 'doctor')
    one.ask(capsys, 'resource', 'provider', 'list')
    one.configure({})


def look_at(one, capsys):
    """Ask for everything that shows how the daemon is."""
    one.daemon.process.send_signal(signal.SIGUSR2)
    one.daemon.wait_for('the report is in')
    for words in QUESTIONS:
        assert one.ask(capsys, *words.format(uuid=one.uuid).split())
    for path in ('metrics', 'healthz', 'readyz', 'livez'):
        got = requests.get(
            f'{one.url}/{path}', timeout=openstack_server.PATIENCE
        )
        one.keep(got.text)
        assert got.text


def fail_in_a_write(one):
    """Have a defect of the program end a write, then kill the daemon."""
    one.defect.touch()
    one.describe('CUSTOM_SILVER')
    one.daemon.wait_for('a planted defect')
    one.daemon.end(signal.SIGABRT)
    one.keep(one.daemon.said)


def found(folder, secrets):
    """Return the names of the files with a piece of a secret."""
    pieces = {piece for secret in secrets for piece in pieces_of(secret)}
    return {
        str(file.relative_to(folder))
        for file in folder.rglob('*')
        if file.is_file()
        for content in [file.read_bytes()]
        if any(piece in content for piece in pieces)
    }


def pieces_of(secret):
    """Yield what must not be found of a secret, in each of its spellings."""
    if len(secret) < 2 * PIECE:
        for text in (secret, secret.replace('$', '$$'), parse.quote(secret)):
            yield text.encode()
        return
    for begin in range(0, len(secret) - PIECE + 1, PIECE):
        yield secret[begin : begin + PIECE].encode()


def check_that_all_is_there(one, tokens):
    """Check that the daemon wrote what may have a secret."""
    said = one.daemon.said
    for text in ('Traceback', 'Fatal Python error: Aborted', 'urllib3', 'PUT'):
        assert text in said
    digests = {hashlib.sha256(t.encode()).hexdigest() for t in tokens}
    assert sum(digest in said for digest in digests) > 1
    names = {file.name for file in one.seen.rglob('*') if file.is_file()}
    assert names > {'state.sqlite', 'report.txt', 'agent.prom', 'said-1'}


def test_no_secret_is_in_any_file_or_output(
    tmp_path, cloud, accounts, ironic, daemon, capsys
):
    with contextlib.ExitStack() as stack:
        agents = [
            Watched(
                tmp_path / str(number),
                number,
                account,
                cloud,
                ironic.url,
                stack.enter_context(command_line.kept_port()),
            )
            for number, account in enumerate(accounts.values(), 1)
        ]
        for one in agents:
            one.start(daemon)
        servers_in_trouble(agents, cloud, capsys)
        users_in_trouble(agents, accounts, cloud, capsys)
        for one in agents:
            refused(one, capsys)
            look_at(one, capsys)
            fail_in_a_write(one)
    secrets = {secure_cloud.PASSWORD, WRONG} | {
        options['application_credential_secret']
        for options in accounts.values()
        if 'application_credential_secret' in options
    }
    asked = {*cloud.front.tokens, *cloud.keystone_front.tokens}
    tokens = (cloud.keystone_front.issued | asked) - {''}
    for one in agents:
        check_that_all_is_there(one, tokens)
        assert found(one.seen, secrets | tokens) == set()
    # The search would find a part of a token.
    agents[0].keep(f'X-Auth-Token: {min(tokens)[:40]}')
    assert len(found(agents[0].seen, tokens)) == 1
