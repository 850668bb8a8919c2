# SPDX-License-Identifier: Apache-2.0
"""Advice about a certificate that one of the two sides refused.

Pure: no I/O, configuration, logging or clock. OpenSSL's words tell which side
refused, and why; the advice names the options of the account. The mappings of
errors of placement and of Ironic call it.
"""

from .. import error_text
from .account import Account

_EXPIRED = 'certificate has expired'
_TOO_EARLY = 'not yet valid'
# Python 3.13 and newer ask authorities for what the standard demands.
_STRICT = (
    'does not include key usage',
    'Missing Authority Key Identifier',
    'Missing Subject Key Identifier',
    'Basic Constraints of CA cert not marked critical',
)
_OTHER_NAME = ('Hostname mismatch', 'IP address mismatch')


def refused(
    exc: BaseException,
    service: str,
    account: Account,
    cafile: str | None = None,
) -> str:
    """Return the message about a connection that failed because of TLS.

    :param service: the name and address of the server
    :param cafile: the file of the authorities that are trusted; empty if
        there is none, None if that is not known
    """
    alert = error_text.tls_alert(exc)
    if alert:
        return (
            f'{service} refuses the certificate of this agent ({alert}): set '
            f'{account.options("certfile", "keyfile")} to a certificate that '
            'it accepts'
        )
    cause = error_text.tls_cause(exc)
    said = f'the certificate of {service} is refused ({cause}): '
    if _EXPIRED in cause:
        return (
            f'{said}renew it, or set the clock of this host if that is wrong'
        )
    if _TOO_EARLY in cause:
        return f'{said}set the clock of this host, or of the one that made it'
    if any(words in cause for words in _OTHER_NAME):
        return (
            f'{said}use the name that the certificate is for in '
            f'{account.option("auth_url")}, {account.option("endpoint_override")} '
            "or keystone's catalog, or have it made for this name"
        )
    if any(words in cause for words in _STRICT):
        return (
            f'{said}Python 3.13 and newer ask for what is missing; have the '
            "authority's certificate and this one made anew, with keyUsage, "
            'subjectKeyIdentifier and authorityKeyIdentifier'
        )
    return f'{said}{_untrusted(account, cafile)}'


def _untrusted(account: Account, cafile: str | None) -> str:
    option = account.option('cafile')
    advice = 'to the file of the authority that signed the certificate'
    if cafile is None:
        return f'set {option} {advice}'
    return f'{option} is {cafile or "not set"}; set it {advice}'
