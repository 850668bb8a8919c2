# SPDX-License-Identifier: Apache-2.0
"""Recognize answers of keystone that hold no token, and say what to change.

It sends nothing; placement's and Ironic's error mappings call it.
"""

import traceback

from keystoneauth1 import exceptions as ksa_exceptions

from .account import Account

# Modules of keystoneauth that send requests and read answers. Two of them read
# the answers of keystone: tokens and catalogs.
_READERS = ('access', 'adapter', 'discover', 'identity', 'session')
_READERS_OF_TOKENS = {'access', 'identity'}
# The function of keystoneauth's plugins that asks keystone for a token, and the
# module that sends each request.
_ASKS = 'get_access'
_SENDS = 'requests.sessions'


def is_unreadable(exc: Exception) -> bool:
    """Return True if keystoneauth cannot read the token in an answer.

    Its other exceptions say that a request failed. For an answer of another
    shape it raises what Python raises.
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


def unreadable(service: str, account: Account, keystone: str = '') -> str:
    """Return the message about an answer that holds no token.

    :param service: the name of the service that the token is for
    :param keystone: its address, if that is known
    """
    place = f' at {keystone}' if keystone else ''
    return (
        f'no token for {service}: keystone{place} gave an answer that is not '
        f"keystone's: check {account.options('auth_url')}, and the proxies "
        'in front of keystone'
    )


def refusal(
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
