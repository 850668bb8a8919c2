# SPDX-License-Identifier: Apache-2.0
"""The way to placement, as far as messages name it.

Pure: no I/O, configuration, logging or clock. The command line makes the
value; the mappings of errors read it.
"""

import dataclasses
from collections.abc import Callable, Sequence

from compute_agent.transport import account as accounts

_OPTIONS = accounts.Account(section='placement')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The way to placement, for messages; without credentials.

    :ivar where: placement's name and address
    :ivar hint: advice for the case that it does not answer
    :ivar keystone: the address of keystone; empty if there is none
    :ivar cafile: the file with the certificates that are trusted; empty for
        those of the system
    :ivar has_scope: False if the options name no project for the token
    :ivar account: the origin of the account
    :ivar user: the user and project of the account
    :ivar roles: returns the roles of the last token; empty if unknown
    """

    where: str
    hint: str = 'is it up?'
    keystone: str = ''
    cafile: str = ''
    has_scope: bool = True
    account: accounts.Account = _OPTIONS
    user: str = 'the user of this agent'
    roles: Callable[[], Sequence[str]] = tuple
