# SPDX-License-Identifier: Apache-2.0
"""Send requests to Ironic by python-ironicclient, in a common version.

The client is built at the first request, and again after an outage, because
the catalog may have changed. This module gives it the endpoint and the
version. Otherwise the client would look up the endpoint in every request, and
write a file into a home directory to cache the version. Threads may share a
connection.
"""

import logging
import threading
import typing

from keystoneauth1 import adapter, exceptions

from compute_agent import errors
from compute_agent.transport import account as accounts
from compute_agent.transport import catalog

from ..nodes import answers

if typing.TYPE_CHECKING:
    from ironicclient.common import http

LOG = logging.getLogger(__name__)

OPTIONS = accounts.Account(section='ironic')
_HEADER = 'X-OpenStack-Ironic-API-Version'
# keystoneauth's retry options, which ironicclient does not pass on.
_RETRIES = (
    'connect_retries',
    'connect_retry_delay',
    'status_code_retries',
    'status_code_retry_delay',
    'retriable_status_codes',
)


class Connection:
    """The connection to the Ironic of ``[ironic]``.

    :param url: its address, None to take it from the catalog
    :param max_retries: repetitions of a request that was answered 409 or 503,
        or not at all
    :param retry_interval: seconds between two repetitions
    :param account: the origin of the account, for messages
    """

    def __init__(
        self,
        endpoint: adapter.Adapter,
        *,
        url: str | None,
        needed: answers.Needed,
        max_retries: int,
        retry_interval: int,
        account: accounts.Account = OPTIONS,
    ) -> None:
        self._endpoint = endpoint
        self._catalog = catalog.Catalog(endpoint, 'Ironic')
        self._account = account
        self._needed = needed
        self._max_retries = max_retries
        self._retry_interval = retry_interval
        self._lock = threading.Lock()
        self._client: http.SessionClient | None = None
        self._version = answers.NEWEST
        self.where = _called(url)

    def request(
        self, method: str, path: str, body: object | None = None
    ) -> object:
        """Return the decoded body of the answer, whatever it is.

        :raises errors.AgentError: no answer came, or its status is not 2xx
        """
        try:
            return self._request(method, path, body)
        except errors.Unavailable:
            self._catalog.look_again()
            with self._lock:
                self._client, self._version = None, answers.NEWEST
            raise

    def _request(self, method: str, path: str, body: object) -> object:
        from . import error_mapping  # noqa: PLC0415 (imports ironicclient)

        while True:
            version = self._version
            try:
                return self._send(method, path, body, version)
            except error_mapping.OtherVersion as exc:
                # Each repetition uses an older version, so the loop ends.
                self._version = self._older(version, str(exc))
            except errors.UnknownState as exc:
                raise errors.UnknownState(f'{self.where}: {exc}') from exc
            except errors.AgentError:
                raise
            except Exception as exc:
                asked = f'{method} {path.partition("?")[0]}'
                raise error_mapping.translated(
                    exc, asked, self.where, self._account
                ) from exc

    def _send(
        self,
        method: str,
        path: str,
        body: object,
        version: answers.Version,
    ) -> object:
        client = self._built()
        options: dict[str, typing.Any] = {'redirect': False}
        for name in _RETRIES:
            value = getattr(self._endpoint, name, None)
            if value is not None:
                options[name] = value
        if body is not None:
            options['body'] = body
        headers = {_HEADER: answers.spelled(version)}
        response, answer = client.json_request(
            method, path, headers=headers, **options
        )
        answers.check_whole(response.status_code)
        return answer

    def _older(self, asked: answers.Version, refusal: str) -> answers.Version:
        """Return the version to request instead.

        :raises errors.ConfigError: this Ironic has no version that is new
            enough
        """
        supported = answers.supported(refusal)
        oldest, newest = supported or (asked, asked)
        least, by = self._needed.version, self._needed.by
        if newest < least:
            raise errors.ConfigError(
                f'{by} needs Ironic API {answers.spelled(least)} or newer; '
                f'{self.where} has {answers.spelled(newest)}: upgrade it or '
                'stop using this option or driver'
            )
        version = min(asked, newest)
        if version == asked or version < oldest:
            raise errors.UnknownState(
                f'{self.where} and this agent have no API version in common: '
                f'{answers.one_line(refusal)}'
            )
        LOG.debug('%s has API version %s', self.where, newest)
        return version

    def _built(self) -> 'http.SessionClient':
        with self._lock:
            if self._client is None:
                self._client = self._build()
            return self._client

    def _build(self) -> 'http.SessionClient':
        from ironicclient.v1 import client  # noqa: PLC0415 (slow)

        url = self._endpoint.get_endpoint()
        if url is None:
            raise exceptions.EndpointNotFound
        self.where = _called(url)
        # It also raises the errors that it logs, so they would be reported
        # twice.
        logging.getLogger('ironicclient.common.http').addFilter(_below_error)
        made = client.Client(
            endpoint_override=url,
            session=self._endpoint.session,
            os_ironic_api_version=answers.spelled(answers.NEWEST),
            max_retries=self._max_retries,
            retry_interval=self._retry_interval,
        )
        return made.http_client


def _called(url: str | None) -> str:
    return f'Ironic at {answers.one_line(url)}' if url else 'Ironic'


def _below_error(record: logging.LogRecord) -> bool:
    return record.levelno < logging.ERROR
