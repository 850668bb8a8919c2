# SPDX-License-Identifier: Apache-2.0
"""Recognize why a server cannot be used, and say what to change.

There may be no server, keystone may give no token, or one of the two sides may
refuse a certificate; OpenSSL's words tell which side, and why. The advice names
the options of the account. It sends nothing; placement's and Ironic's error
mappings call it.
"""

import traceback

from keystoneauth1 import exceptions as ksa_exceptions

from .. import error_text
from .account import Account

# --- no server: it costs the service nothing if the agent tries again soon ------

# A proxy sends them if no server is behind it.
NO_SERVER = frozenset({502, 503})


def is_no_server(exc: Exception) -> bool:
    """Return True if keystoneauth's exception says that no server is there.

    A server that answers late, or with 429, may be overloaded by tries that
    follow soon.
    """
    if isinstance(exc, ksa_exceptions.HttpError):
        return exc.http_status in NO_SERVER
    return isinstance(exc, ksa_exceptions.ConnectFailure)


# --- keystone gives no token ----------------------------------------------------

# Modules of keystoneauth that send requests and read answers. Two of them read
# the answers of keystone: tokens and catalogs.
_READERS = ('access', 'adapter', 'discover', 'identity', 'session')
_READERS_OF_TOKENS = {'access', 'identity'}
# The function of keystoneauth's plugins that asks keystone for a token, and the
# module that sends each request.
_ASKS = 'get_access'
_SENDS = 'requests.sessions'


def is_unreadable_token(exc: Exception) -> bool:
    """Return True if keystoneauth cannot read the token in an answer.

    Its other exceptions say that a request failed. An answer of another shape
    leads to Python's own exceptions there.
    """
    if isinstance(exc, ksa_exceptions.ClientException):
        return isinstance(exc, ksa_exceptions.InvalidResponse)
    calls = [
        (str(frame.f_globals.get('__name__', '')), frame.f_code.co_name)
        for frame, _ in traceback.walk_tb(exc.__traceback__)
    ]
    readers = [
        part
        for part in (_part_of_keystoneauth(module) for module, _ in calls)
        if part in _READERS
    ]
    if readers and readers[-1] in _READERS_OF_TOKENS:
        return True
    was_asked = any(
        name == _ASKS and _part_of_keystoneauth(module) == 'identity'
        for module, name in calls
    )
    return was_asked and all(module != _SENDS for module, _ in calls)


def _part_of_keystoneauth(module: str) -> str:
    """Return the part that a module belongs to, empty for other libraries."""
    first, _, rest = module.partition('.')
    return rest.partition('.')[0] if first == 'keystoneauth1' else ''


def unreadable_token(
    service: str, account: Account, keystone: str = ''
) -> str:
    """Return the message about an answer that holds no token.

    :param service: the name of the service that the token is for
    :param keystone: the address of keystone, if it is known
    """
    place = f' at {keystone}' if keystone else ''
    return (
        f'no token for {service}: keystone{place} gave an answer that is not '
        f"keystone's: check {account.options('auth_url')}, and the proxies "
        'in front of keystone'
    )


def refused_account(
    exc: Exception, said: str, account: Account, *options: str
) -> tuple[str, str]:
    """Return why keystone refuses an account, and the advice.

    :param said: the words of the exception
    :param options: options of the account that may be wrong, too
    """
    if isinstance(exc, ksa_exceptions.MissingAuthMethods):
        return (
            'keystone asks for a second factor',
            'use an account that needs none, or an application credential',
        )
    return said, account.advice(*options)


# --- a certificate is refused ---------------------------------------------------

_EXPIRED = 'certificate has expired'
_TOO_EARLY = 'not yet valid'
# Python 3.13 and newer require of authorities what the standard requires.
_STRICT = (
    'does not include key usage',
    'Missing Authority Key Identifier',
    'Missing Subject Key Identifier',
    'Basic Constraints of CA cert not marked critical',
)
# The server's first bytes are not TLS's: OpenSSL has had two texts for this
# error.
_NO_TLS = ('wrong version number', 'record layer failure')
_OTHER_NAME = ('Hostname mismatch', 'IP address mismatch')


def refused_certificate(
    exc: BaseException,
    service: str,
    account: Account,
    cafile: str | None = None,
) -> str:
    """Return the message about a connection that failed because of TLS.

    :param service: the name and address of the server
    :param cafile: the file of the trusted authorities; empty if none is
        configured, None if that is unknown
    """
    alert = error_text.tls_alert(exc)
    if alert:
        plain = (
            ', or write http:// in place of https:// if that port has no TLS'
            if alert == error_text.CLOSED
            else ''
        )
        return (
            f'{service} refuses the certificate of this agent ({alert}): set '
            f'{account.options("certfile", "keyfile")} to a certificate that '
            f'it accepts{plain}'
        )
    cause = error_text.tls_cause(exc)
    if any(words in cause.lower() for words in _NO_TLS):
        return (
            f'{service} does not speak TLS at that port: write '
            'http:// in place of https://, or the port with TLS, in '
            f'{account.option("auth_url")}, {account.option("endpoint_override")} '
            "or keystone's catalog"
        )
    return (
        f'the certificate of {service} is refused ({cause}): '
        f'{_advice(cause, account, cafile)}'
    )


def _advice(cause: str, account: Account, cafile: str | None) -> str:
    """Return what to change if a certificate is refused."""
    if _EXPIRED in cause:
        return 'renew it, or set the clock of this host if that is wrong'
    if _TOO_EARLY in cause:
        return 'set the clock of this host, or of the one that made it'
    if any(words in cause for words in _OTHER_NAME):
        return (
            'use the name that the certificate is for in '
            f'{account.option("auth_url")}, {account.option("endpoint_override")} '
            "or keystone's catalog, or have it made for this name"
        )
    if any(words in cause for words in _STRICT):
        return (
            'Python 3.13 and newer ask for what is missing; have the '
            "authority's certificate and this one made anew, with keyUsage, "
            'subjectKeyIdentifier and authorityKeyIdentifier'
        )
    return _untrusted(account, cafile)


def _untrusted(account: Account, cafile: str | None) -> str:
    option = account.option('cafile')
    advice = 'to the file of the authority that signed the certificate'
    if cafile is None:
        return f'set {option} {advice}'
    return f'{option} is {cafile or "not set"}; set it {advice}'
