# SPDX-License-Identifier: Apache-2.0
"""The agent's errors, sorted by the caller's next step.

AgentError
├── ConfigError     fix the configuration, or the file it names, and restart
│   ├── SeveralMistakes  the same; each has a line of its own
│   └── StateInUse  leave the state directory to the process that uses it
├── DriverError     the driver's answer is unusable: skip the node, report it
├── ReshapeNeeded   the driver must move allocations: call it again with them
├── TreeError       the ProviderTree refuses an edit; also a ValueError
│   └── NoProvider  the tree has no provider of this name or uuid
├── InvalidName     placement would refuse the name; also a ValueError
├── Replan          placement changed meanwhile: read, describe and plan again
│   └── ReplanOnce  the provider or name does not exist: do so once only
├── UnknownState    a read failed or makes no sense: change nothing this cycle
│   └── NotYet      another program must act first: wait for it
├── Unavailable     the service is down: back off
│   ├── NoServer    no server is there: a try costs it nothing, so try soon
│   └── Deposed     another agent holds the share: send nothing, stand by
└── Refused         the server refused and would refuse again: report it
    ├── Renamed     a provider has another name than its driver gives it
    └── NameElsewhere  another provider has the name of a node's new root

The report client's errors (``report_client/errors.py``) are children of
Replan, ReplanOnce, UnknownState, Unavailable, Refused and ConfigError, so the
loop needs only this file. The project raises no other errors of its own.
"""

import difflib
from collections.abc import Collection, Iterable
from typing import ClassVar

from . import error_text

_SHOWN = 3  # names of providers that a message lists
_LONGEST = 200  # characters of one that a driver asked for


class AgentError(Exception):
    """The root of all errors; the loop expects this class and no other."""


class ConfigError(AgentError):
    """An option or a file is wrong; the message says which, and the remedy."""


class SeveralMistakes(ConfigError):
    """Several mistakes in options or files.

    :ivar lines: a line for each
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = tuple(lines)
        super().__init__('; '.join(self.lines))


class StateInUse(ConfigError):
    """Another process, such as the daemon, uses the state directory."""


class DriverError(AgentError):
    """A driver failed, or its answer breaks the driver contract."""


class ReshapeNeeded(AgentError):
    """A driver must move inventory that has allocations.

    ``update_provider_tree`` raises it when it was called without allocations.
    The agent calls the method again, on a fresh tree, with the allocations of
    that tree.
    """


class TreeError(AgentError, ValueError):
    """An edit of a ProviderTree that would leave it inconsistent.

    A ValueError because drivers written for nova expect one.
    """


class NoProvider(TreeError):
    """A ProviderTree has no provider of this name or uuid.

    The text names the nearest one. It is made when somebody reads it, because
    a driver may try thousands of names.
    """

    def __init__(self, wanted: str, known: Collection[str]) -> None:
        super().__init__(wanted, known)
        self._wanted = wanted
        self._known = known

    def __str__(self) -> str:
        near = difflib.get_close_matches(self._wanted, self._known, n=1)
        known = ', '.join(self._known) or 'none'
        has = (
            f'the nearest is {near[0]}'
            if near
            else f'the tree has {known}'
            if len(self._known) <= _SHOWN
            else f'the tree has {len(self._known)} others'
        )
        return error_text.printable(
            f'No such provider {error_text.cut(self._wanted, _LONGEST)} '
            f'({has}); ask exists() first, or add it with new_child()'
        )


class InvalidName(AgentError, ValueError):
    """A trait, resource class, provider name or uuid outside the grammar."""


class Replan(AgentError):
    """Placement changed after it was read; the plan is out of date.

    :cvar is_conflict: True if another writer changed the provider
    :ivar subject: the provider that changed, as ``name (uuid)``; empty if the
        message names it
    """

    is_conflict: ClassVar[bool] = False

    def __init__(self, text: str, subject: str = '') -> None:
        super().__init__(text)
        self.subject = subject


class ReplanOnce(Replan):
    """A provider or a name to be written does not exist; replan once."""


class UnknownState(AgentError):
    """There is no complete answer; this never counts as an empty answer."""


class NotYet(UnknownState):
    """Another program, such as nova-compute or libvirt, must act first."""


class Unavailable(AgentError):
    """The service did not answer, or answered that it is unavailable."""


class NoServer(Unavailable):
    """No server answers at the address, so another try costs it nothing."""


class Deposed(Unavailable):
    """Another agent holds this agent's share, so this one may not write."""


class Refused(AgentError):
    """The server understood the request and refused it; do not repeat it."""


class NameElsewhere(Refused):
    """A node's root cannot be created: another provider has its name.

    :ivar holder: the uuid of that provider
    """

    def __init__(self, text: str, holder: str) -> None:
        super().__init__(text)
        self.holder = holder


class Renamed(Refused):
    """Placement has a provider under another name than its driver gives."""
