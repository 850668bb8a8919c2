# SPDX-License-Identifier: Apache-2.0
"""Every error of the agent, sorted by what the caller does next.

AgentError
├── ConfigError     fix the configuration (or the file it names), start again
├── DriverError     the driver's answer is unusable: that node fails, said so
├── ReshapeNeeded   the driver must move what is allocated: call it with that
├── TreeError       the ProviderTree refuses an edit; also a ValueError
├── InvalidName     a name placement would refuse; also a ValueError
├── LookAgain       the world moved: read, describe and plan again, bounded
│   └── LookOnce    what was named is not there: that, but once
├── UnknownState    a read failed or makes no sense: act on nothing, next cycle
├── Unavailable     the service is away: back off
└── Refused         the server said no and would again: report it
    └── Renamed     another renamed a provider that a driver names: report it

The report client's errors (``report_client/errors.py``) are children of the
last four and one of ConfigError, so the loop needs only this file. Nothing else
of ours is raised.
"""


class AgentError(Exception):
    """The root: the loop catches this one and nothing wider on purpose.

    :ivar applied: the operations that were carried out before it
    :ivar refused: a line for each that was refused before it, or left
    :ivar left: those operations, in the same order
    """

    applied: tuple[object, ...] = ()
    refused: tuple[str, ...] = ()
    left: tuple[object, ...] = ()


class ConfigError(AgentError):
    """An option or a file is wrong; the text says which and what to write."""


class DriverError(AgentError):
    """A driver raised, or answered something that breaks its contract."""


class ReshapeNeeded(AgentError):
    """What a driver raises that must move allocated inventory.

    From ``update_provider_tree`` when it was called without allocations; the
    agent calls it again, on a fresh tree, with what is allocated of its tree.
    """


class TreeError(AgentError, ValueError):
    """An edit of a ProviderTree that would leave it inconsistent.

    A ValueError because drivers written for nova expect one.
    """


class InvalidName(AgentError, ValueError):
    """A trait, resource class, provider name or uuid outside the grammar."""


class Replan(AgentError):
    """What was planned upon has changed; only a new look can tell.

    :ivar subject: the provider that changed, as ``name (uuid)``; empty if the
        text names it
    :ivar is_conflict: False if this agent's own write is the reason
    """

    subject: str = ''
    is_conflict: bool = True


class ReplanOnce(Replan):
    """What was to be written, or its name, is not there: look again once."""


class UnknownState(AgentError):
    """No complete, well-formed answer, so nothing is known: not "empty"."""


class Unavailable(AgentError):
    """The service did not answer, or answered that it is away."""


class Refused(AgentError):
    """The request was understood and refused; repeating it changes nothing."""


class Renamed(Refused):
    """Placement knows a provider by another name than its driver does."""
