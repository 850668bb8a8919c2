# SPDX-License-Identifier: Apache-2.0
"""Map the failures to send a request to errors that say what to change.

It sends nothing. The failure may be keystone's, which gives the tokens and the
catalog, or placement's. ``placement.py`` calls it if a request got no answer.
"""

import re

from keystoneauth1 import exceptions as ksa_exceptions

from compute_agent import error_text
from compute_agent import errors as agent_errors
from compute_agent.transport import failures

from .. import errors
from .messages.error_mapping import Access

_URL = re.compile(r'https?://[^\s\'"),]+')
_ADDRESS = re.compile(r'https?://[^/\s]+')
_TOKENS = '/auth/tokens'
_NO_TOKEN = (
    ksa_exceptions.Unauthorized,
    ksa_exceptions.Forbidden,
    ksa_exceptions.MissingAuthMethods,
    ksa_exceptions.MissingAuthPlugin,
)


def error_for(exc: Exception, access: Access) -> agent_errors.Unavailable:
    """Return the error for a request that got no answer."""
    if isinstance(exc, _NO_TOKEN):
        return errors.NotAuthorised(_refused(exc, access))
    if isinstance(exc, ksa_exceptions.EndpointNotFound):
        return errors.Unreachable(_no_endpoint(access))
    if isinstance(exc, ksa_exceptions.SSLError) or error_text.tls_alert(exc):
        return errors.Unreachable(
            failures.refused_certificate(
                exc, _service(exc, access), access.account, access.cafile
            )
        )
    if access.keystone and failures.is_unreadable_token(exc):
        return errors.Unreachable(
            failures.unreadable_token(
                access.where, access.account, access.keystone
            )
        )
    if isinstance(exc, ksa_exceptions.ClientException):
        is_down = failures.is_no_server(exc)
        kind = errors.NoServer if is_down else errors.Unreachable
        return kind(_unreachable(exc, access))
    # Libraries raise others for an invalid address or a missing option.
    return errors.Unreachable(
        f'no request can be sent to {access.where} ({type(exc).__name__}: '
        f'{error_text.short(exc)}): check the options in '
        f'{access.account.holder}'
    )


def _refused(exc: Exception, access: Access) -> str:
    why, advice = failures.refused_account(
        exc, error_text.one_line(exc), access.account
    )
    return (
        f'no token for {access.where}: {why}; '
        f'{access.user} comes from {access.account}: {advice}'
    )


def _no_endpoint(access: Access) -> str:
    if not access.has_scope:
        return (
            f'no endpoint for {access.where}: the token has no catalog, '
            'because no project is set; set '
            f'{access.account.options("project_name", "project_domain_name")}'
        )
    regions = access.regions()
    if access.region and regions and access.region not in regions:
        return (
            f'no endpoint for {access.where} in the region {access.region}: the '
            f'catalog has placement in {", ".join(regions)}; correct '
            f'{access.account.option("region_name")}'
        )
    checked = access.account.options(
        'region_name', 'valid_interfaces', 'service_type'
    )
    return (
        f'no endpoint for {access.where} in the catalog: check {checked}, or set '
        f'{access.account.option("endpoint_override")}'
    )


def _unreachable(exc: Exception, access: Access) -> str:
    cause = error_text.cause(exc)
    if _is_keystone(exc, access):
        return (
            f'no token for {access.where}: keystone at {access.keystone} '
            f'cannot be reached ({cause}): check that it runs, and '
            f'{access.account.options("auth_url")}'
        )
    address = _ADDRESS.search(error_text.as_line(str(exc)))
    if address and address[0] not in access.where:
        cause += f' at {address[0]}'
    return f'{access.where} cannot be reached ({cause}): {access.hint}'


def _service(exc: Exception, access: Access) -> str:
    """Return the name of the service that the failed request was for."""
    if _is_keystone(exc, access):
        return f'keystone at {access.keystone}'
    return access.where


def _is_keystone(exc: Exception, access: Access) -> bool:
    """Return True if the failed request was for keystone.

    keystoneauth raises no error for an answer of placement, so an HTTP error
    is keystone's too.
    """
    if not access.keystone:
        return False
    if isinstance(
        exc, (ksa_exceptions.HttpError, ksa_exceptions.DiscoveryFailure)
    ):
        return True
    url = _URL.search(error_text.as_line(str(exc)))
    root = access.keystone.rstrip('/')
    return url is not None and (
        url[0].rstrip('/:') == root or _TOKENS in url[0]
    )
