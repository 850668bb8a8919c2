# SPDX-License-Identifier: Apache-2.0
"""A real keystone and a placement that believes it, each behind TLS.

``secure_cloud`` starts them once for a file of tests. ``SecureCloud`` is their
operator: it makes users, takes their tokens away, and disables them.
"""

import contextlib
import pathlib
import sqlite3
import ssl
import time
from collections.abc import Iterator, Mapping

import openstack_server
import requests
import tls_front
import trustme

PASSWORD = 'pa$$w0rd-of-a-user'

KEYSTONE = """
[database]
connection = sqlite:///{folder}/keystone.sqlite
[token]
expiration = {expiration}
[fernet_tokens]
key_repository = {folder}/fernet
[credential]
key_repository = {folder}/credential
[identity]
password_hash_rounds = 4
[oslo_middleware]
enable_proxy_headers_parsing = true
"""
PLACEMENT = """
[api]
auth_strategy = keystone
[placement_database]
connection = {database}
sync_on_startup = true
"""
#: By this, a service asks keystone whose token it got.
MIDDLEWARE = """
[keystone_authtoken]
auth_url = {keystone}/v3
www_authenticate_uri = {keystone}/v3
auth_type = password
username = admin
password = admin
project_name = admin
user_domain_id = default
project_domain_id = default
token_cache_time = {cache}
"""


class SecureCloud:
    """The operator of a keystone and a placement.

    :ivar keystone: keystone's address, with TLS
    :ivar keystone_front: the server with TLS in front of keystone
    :ivar front: the server with TLS in front of placement
    :ivar behind: keystone's address without TLS
    :ivar placement: placement's address without TLS
    :ivar authority: signed the certificates of both
    """

    def __init__(
        self, behind: str, authority: trustme.CA, folder: pathlib.Path
    ) -> None:
        self.behind = behind
        self._folder = folder
        self.authority = authority
        self.keystone = ''
        self.keystone_front: tls_front.Front
        self.front: tls_front.Front
        self.placement = ''
        self._token = ''
        self._made = 0

    def ask(
        self, method: str, path: str, body: object = None
    ) -> requests.Response:
        """Ask keystone as the administrator; return the answer."""
        if not self._token:
            self.renew()
        return self.ask_as(self._token, method, path, body)

    def renew(self) -> None:
        """Take a new token for the administrator."""
        self._token = self.token('admin', 'admin', 'admin')

    def ask_as(
        self, token: str, method: str, path: str, body: object = None
    ) -> requests.Response:
        """Ask keystone with a token; return the answer."""
        return self._ask(method, path, body, {'X-Auth-Token': token})

    def revoke(self, token: str) -> None:
        """Make a token invalid, as if it had expired."""
        headers = {
            'X-Auth-Token': self.token('admin', 'admin', 'admin'),
            'X-Subject-Token': token,
        }
        self._ask('DELETE', '/v3/auth/tokens', None, headers)

    def token(self, user: str, password: str, project: str) -> str:
        """Return a token of a user."""
        domain = {'id': 'default'}
        identity = {'name': user, 'password': password, 'domain': domain}
        auth = {
            'identity': {
                'methods': ['password'],
                'password': {'user': identity},
            },
            'scope': {'project': {'name': project, 'domain': domain}},
        }
        answer = self._ask('POST', '/v3/auth/tokens', {'auth': auth}, {})
        return answer.headers['X-Subject-Token']

    def user(self, *roles: str) -> tuple[str, str]:
        """Make a user with roles on the project service; return name and id."""
        self._made += 1
        name = f'agent-{self._made}'
        made = self.ask(
            'POST',
            '/v3/users',
            {'user': {'name': name, 'password': PASSWORD}},
        ).json()['user']
        project = self._id('projects', 'service')
        for role in roles:
            self.ask(
                'PUT',
                f'/v3/projects/{project}/users/{made["id"]}/roles/'
                f'{self._id("roles", role)}',
            )
        return name, made['id']

    def application_credential(
        self, name: str, user_id: str, **fields: object
    ) -> dict[str, str]:
        """Make an application credential of a user; return id and secret.

        :param fields: more fields of the request, such as ``expires_at``
        """
        body = {'name': f'agent-{time.monotonic_ns()}', **fields}
        answer = self.ask_as(
            self.token(name, PASSWORD, 'service'),
            'POST',
            f'/v3/users/{user_id}/application_credentials',
            {'application_credential': body},
        ).json()
        return {
            key: str(answer['application_credential'][key])
            for key in ('id', 'secret')
        }

    def expire(self, credential: str) -> None:
        """Have an application credential expire a second after 1970."""
        file = self._folder / 'keystone.sqlite'
        with contextlib.closing(
            sqlite3.connect(file, openstack_server.PATIENCE)
        ) as db:
            changed = db.execute(
                'update application_credential set expires_at = ?'
                ' where id = ?',
                (1_000_000, credential),
            )
            db.commit()
        assert changed.rowcount == 1

    def disable(self, user_id: str) -> None:
        """Disable a user; its tokens are not valid any more."""
        self.change(user_id, enabled=False)

    def change(self, user_id: str, **fields: object) -> None:
        """Change a user; with a new password, its tokens are not valid."""
        self.ask('PATCH', f'/v3/users/{user_id}', {'user': fields})

    def revoke_all(self, user_id: str) -> None:
        """Make all tokens that a user has now invalid."""
        for is_enabled in (False, True):
            self.change(user_id, enabled=is_enabled)

    def fill(self, catalog: Mapping[str, str]) -> None:
        """Make the project, the role and the catalog that an agent needs.

        :param catalog: type of service → address
        """
        self.ask('POST', '/v3/projects', {'project': {'name': 'service'}})
        if not self.ask('GET', '/v3/roles?name=service').json()['roles']:
            self.ask('POST', '/v3/roles', {'role': {'name': 'service'}})
        for kind, url in catalog.items():
            service = {'service': {'type': kind, 'name': kind}}
            made = self.ask('POST', '/v3/services', service).json()['service']
            for interface in ('public', 'internal'):
                endpoint = {
                    'interface': interface,
                    'url': url,
                    'region_id': 'one',
                    'service_id': made['id'],
                }
                self.ask('POST', '/v3/endpoints', {'endpoint': endpoint})

    @contextlib.contextmanager
    def other_endpoint(
        self, kind: str, url: str, region: str
    ) -> Iterator[None]:
        """Have the catalog another address of a service in a region.

        On exit, the catalog is as it was.
        """
        service = self._id('services', kind)
        listed = f'/v3/endpoints?service_id={service}'
        before = self.ask('GET', listed).json()['endpoints']
        new = {'interface': 'internal', 'url': url, 'region_id': region}
        for each in before:
            if (each['interface'], each['region_id']) == ('internal', region):
                path = f'/v3/endpoints/{each["id"]}'
                self.ask('PATCH', path, {'endpoint': {'url': url}})
                back = {'endpoint': {'url': each['url']}}
                undo: tuple[str, str, object] = 'PATCH', path, back
                break
        else:
            self.ask('PUT', f'/v3/regions/{region}', {'region': {}})
            body = {'endpoint': {**new, 'service_id': service}}
            made = self.ask('POST', '/v3/endpoints', body).json()['endpoint']
            undo = 'DELETE', f'/v3/endpoints/{made["id"]}', None
        try:
            yield
        finally:
            self.ask(*undo)

    def _id(self, kind: str, name: str) -> str:
        answer = self.ask('GET', f'/v3/{kind}?name={name}').json()
        return str(answer[kind][0]['id'])

    def _ask(
        self, method: str, path: str, body: object, headers: dict[str, str]
    ) -> requests.Response:
        answer = requests.request(
            method,
            f'{self.behind}{path}',
            json=body,
            headers=headers,
            timeout=openstack_server.PATIENCE,
        )
        answer.raise_for_status()
        return answer


def server_context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    """Return the TLS side of a server with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@contextlib.contextmanager
def secure_cloud(folder: pathlib.Path) -> Iterator[SecureCloud]:
    """Start keystone and placement, each behind TLS, while the context lasts."""
    authority = trustme.CA()
    context = server_context(authority.issue_cert('127.0.0.1', 'localhost'))
    keystone = openstack_server.OpenStackServer('keystone', folder)
    placement = openstack_server.OpenStackServer('placement', folder)
    _configure(folder, keystone.url)
    with contextlib.ExitStack() as stack:
        # Both start side by side: placement asks keystone for its first token
        # when it is asked itself.
        for server in (keystone, placement):
            stack.callback(server.stop)
            server.begin()
        made = SecureCloud(keystone.url, authority, folder)
        for server in (keystone, placement):
            server.wait()
        made.keystone_front = stack.enter_context(
            tls_front.tls_front(keystone.url, context)
        )
        made.keystone = made.keystone_front.url
        made.front = stack.enter_context(
            tls_front.tls_front(placement.url, context)
        )
        made.placement = placement.url
        made.fill({'placement': made.front.url})
        yield made


def _configure(folder: pathlib.Path, keystone: str) -> None:
    """Write the files of both services."""
    database = f'sqlite:///{folder}/placement.sqlite'
    texts = {
        'keystone': KEYSTONE.format(folder=folder, expiration=3600),
        'placement': PLACEMENT.format(database=database)
        + MIDDLEWARE.format(keystone=keystone, cache=-1),
    }
    for name, text in texts.items():
        (folder / f'{name}.conf').write_text(text)
