# SPDX-License-Identifier: Apache-2.0
"""Tell the answers of keystone that are no token, and what to change.

It sends nothing; placement's and Ironic's error mappings call it.
"""

import traceback

from keystoneauth1 import exceptions as ksa_exceptions

from .account import Account

# Modules of keystoneauth that send and read answers, and those of them that
# read keystone's: tokens and catalogs.
_READERS = ('access', 'adapter', 'discover', 'identity', 'session')
_READERS_OF_TOKENS = {'access', 'identity'}


def is_unreadable(exc: Exception) -> bool:
    """Return True if keystoneauth cannot read the token in an answer.

    Its other exceptions say that a request failed. For an answer of another
    shape it raises what Python raises.
    """
    if isinstance(exc, ksa_exceptions.ClientException):
        return isinstance(exc, ksa_exceptions.InvalidResponse)
    places = (
        str(frame.f_globals.get('__name__', '')).split('.')
        for frame, _ in traceback.walk_tb(exc.__traceback__)
    )
    readers = [
        words[1]
        for words in places
        if words[0] == 'keystoneauth1' and words[1:2] and words[1] in _READERS
    ]
    return bool(readers) and readers[-1] in _READERS_OF_TOKENS


def unreadable(service: str, account: Account, keystone: str = '') -> str:
    """Return the message about such an answer.

    :param service: the name of the service that the token is for
    :param keystone: its address, if that is known
    """
    place = f' at {keystone}' if keystone else ''
    return (
        f'no token for {service}: keystone{place} gave an answer that is none '
        f"of keystone's: check {account.options('auth_url')}, and the proxies "
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
