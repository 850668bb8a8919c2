# SPDX-License-Identifier: Apache-2.0
"""Translate the failures of a request to Ironic into the agent's errors.

The error class says what the caller does next. The message is one line with
Ironic's address and, if an option may be wrong, a hint at it.
``connection.py`` calls this, so no exception of ironicclient, keystoneauth,
requests or ssl reaches its callers.
"""

import re

from ironicclient import exc as ironic_exc
from keystoneauth1 import exceptions as ksa_exceptions

from compute_agent import error_text, errors
from compute_agent.transport import account as accounts
from compute_agent.transport import failures

from ..nodes import answers

#: Ironic does not have the API version that was asked for.
OtherVersion = ironic_exc.UnsupportedVersion
_IN_CATALOG = ('region_name', 'valid_interfaces', 'service_type')
_AWAY = frozenset({408, 429, 504})
_TOKENS = '/auth/tokens'
_ADDRESS = re.compile(r'https?://[^/\s]+')
# The client raises these errors if it cannot parse an error body.
_TRIPS = (
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
)


def translated(
    exc: Exception,
    asked: str,
    where: str,
    account: accounts.Account,
) -> errors.AgentError:
    """Return the agent's error for an exception of a request.

    :param asked: the request, for messages: ``GET /v1/nodes``
    :param where: the name of this Ironic in messages
    :param account: the origin of the account
    """
    if failures.is_unreadable_token(exc):
        return errors.Unavailable(failures.unreadable_token(where, account))
    if isinstance(exc, ironic_exc.HttpError):
        return _refused(exc, asked, where, account)
    if isinstance(exc, ksa_exceptions.ClientException):
        return _unreached(exc, where, account)
    words = f'{type(exc).__name__}: {answers.one_line(str(exc), 120)}'
    if isinstance(exc, _TRIPS):
        return errors.UnknownState(
            f"{where} answered {asked} with something that is not Ironic's "
            f'({words}); check if another service has that address'
        )
    # Libraries raise such errors for a missing certificate or an invalid
    # address.
    return errors.Unavailable(
        f'{where} cannot be reached ({words}): check the options in '
        f'{account.holder}'
    )


def _refused(
    exc: ironic_exc.HttpError,
    asked: str,
    where: str,
    account: accounts.Account,
) -> errors.AgentError:
    """Return the error for an answer other than 2xx."""
    status = exc.http_status
    fault = answers.fault(getattr(exc.response, 'content', None) or b'')
    message = fault or answers.one_line(exc.message, 120)
    request = (
        f', {error_text.printable(exc.request_id)}' if exc.request_id else ''
    )
    text = f'{where} answered {asked}: {message} (HTTP {status}{request})'
    if status in {401, 403}:
        return errors.Unavailable(
            f'{text}; it denies this agent access: configure a user in '
            f'{account.holder} that may see all nodes'
        )
    if status in failures.NO_SERVER:
        return errors.NoServer(text)
    if status in _AWAY:
        return errors.Unavailable(text)
    if status == 404:
        return answers.NotFound(text, fault)
    if status == 409 and 'locked' in fault:
        return errors.Refused(f'{text}; try again')
    is_refusal = 400 <= status < 500
    return (errors.Refused if is_refusal else errors.UnknownState)(text)


def _unreached(
    exc: ksa_exceptions.ClientException, where: str, account: accounts.Account
) -> errors.AgentError:
    """Return the error for a request that got no answer from Ironic."""
    is_down = failures.is_no_server(exc)
    kind = errors.NoServer if is_down else errors.Unavailable
    if isinstance(exc, ksa_exceptions.CatalogException):
        return errors.Unavailable(
            'no endpoint for Ironic in the catalog: check '
            f'{account.options(*_IN_CATALOG)}, or set '
            f'{account.option("endpoint_override")}'
        )
    if isinstance(exc, (ksa_exceptions.HttpError, *_NO_TOKEN)):
        why, advice = failures.refused_account(
            exc, answers.one_line(str(exc), 120), account, 'auth_url'
        )
        return kind(
            f'no token for {where}: {why}; the account comes from {account}: '
            f'{advice}'
        )
    if isinstance(exc, ksa_exceptions.SSLError) or error_text.tls_alert(exc):
        return errors.Unavailable(
            failures.refused_certificate(exc, where, account)
        )
    cause = answers.one_line(error_text.cause(exc), 120)
    address = _ADDRESS.search(answers.one_line(str(exc)))
    if address and address[0] not in where:
        cause += f' at {address[0]}'
    if _TOKENS in str(exc) or isinstance(exc, ksa_exceptions.DiscoveryFailure):
        return kind(
            f'no token for {where}: keystone cannot be reached ({cause}): '
            f'check that it runs, and {account.options("auth_url")}'
        )
    return kind(
        f'{where} cannot be reached ({cause}): is it up, and are the options '
        f'in {account.holder} right?'
    )


_NO_TOKEN = (
    ksa_exceptions.AuthorizationFailure,
    ksa_exceptions.AuthPluginException,
    ksa_exceptions.MissingAuthMethods,
)
