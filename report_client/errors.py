# SPDX-License-Identifier: Apache-2.0
"""Placement's error answers as exceptions, by the caller's next step.

Replan
├── Conflict          another writer changed the provider (409): plan again
│   └── Exists        a provider to be created exists, and was not observed
└── Reshaped          allocations moved; generations are unknown: plan again
ReplanOnce            (a Replan)
└── NotFound          a provider is missing (404): plan again, once
    └── UnknownName   placement lacks a trait or resource class (400)
UnknownState
├── MalformedAnswer   the answer is not JSON, or has another shape
└── ServerFault       500: fails its provider; the others go on
Unavailable
├── Unreachable       no answer in time, 504, 429
│   ├── NoServer      no connection, 502, 503: ask again soon
│   └── FailsInside   500 for several providers in a row; this is the last one
└── NotAuthorised     401, 403, or no token could be fetched
Refused
├── InUse             allocations or children prevent it
├── NotAllowed        403 for this one request: it needs another role
├── NameTaken         another uuid has the provider's name
├── Outdated          a person named a generation that the provider has not
├── DoesNotExist      a person named something that placement does not have
│   └── Ambiguous     a person's word names two things
└── BadRequest        any other 4xx
ConfigError
└── TooOld            placement lacks the microversion that the client needs

``http/messages/error_mapping.py`` raises them for answers. A missing provider is
``NotFound`` if the agent planned with it; the agent then plans again. It is
``DoesNotExist`` if a person named it; to repeat the request would not help.
"""

import dataclasses
from collections.abc import Iterable

from compute_agent import error_text, errors
from compute_agent.tree import provider

_DETAIL = 300  # characters of it in a message


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The parts of an error answer that messages contain.

    :ivar code: placement's error code; '' in an answer without a code
    :ivar request_id: the ``X-Openstack-Request-Id`` of the answer, or ''
    """

    status: int
    code: str = ''
    detail: str = ''
    request_id: str = ''

    def __str__(self) -> str:
        words = error_text.cut(error_text.as_line(self.detail), _DETAIL)
        detail = f': {words}' if words else ''
        tail = error_text.request_id(self.request_id)
        return error_text.as_line(f'HTTP {self.status}{detail}{tail}')


class Conflict(errors.Replan):
    """The provider's generation changed since it was read (409)."""

    is_conflict = True


class Exists(Conflict):
    """A provider to be created exists already, and was not observed.

    An interrupted creation of this agent is as likely as another writer's.

    :ivar uuid: its uuid
    """

    is_conflict = False

    def __init__(self, name: str, uuid: str) -> None:
        super().__init__(f'{provider.title(name, uuid)} exists already')
        self.uuid = uuid


class Reshaped(errors.Replan):
    """Allocations were moved; observe and plan again for the rest."""


class NotFound(errors.ReplanOnce):
    """A provider or a name does not exist, or was deleted (404)."""


class UnknownName(NotFound):
    """Placement does not know a trait or resource class (400)."""


class MalformedAnswer(errors.UnknownState):
    """The answer is not as documented; no part of it is used."""


class ServerFault(errors.UnknownState):
    """Placement failed inside (500); it may have carried out the request."""


class Unreachable(errors.Unavailable):
    """Placement did not answer; it may have carried out the request."""


class NoServer(Unreachable, errors.NoServer):
    """Nothing listens at the address, or a proxy has no placement behind it."""


class FailsInside(Unreachable):
    """Placement failed inside (500) for several providers in a row.

    :ivar fault: the failure for the last one
    """

    def __init__(self, text: str, fault: ServerFault) -> None:
        super().__init__(text)
        self.fault = fault


class NotAuthorised(errors.Unavailable):
    """Placement or keystone refuses the agent's user (401, 403)."""


class InUse(errors.Refused):
    """Allocations or children prevent the change; the operator decides."""


class NotAllowed(errors.Refused):
    """The user lacks the role for this request, not for others (403)."""


class NameTaken(errors.Refused):
    """Another provider has the name that a provider should get."""

    @classmethod
    def of_pool(cls, other: str, name: str) -> 'NameTaken':
        """Return the error for a sharing provider, which is no node's root.

        :param other: the uuid of the provider that has the name
        """
        return cls(
            f'the name {name} belongs to provider {other} in placement: if '
            'both are the same pool, have the driver give it that uuid; '
            f'{_another_name(other)}'
        )

    @classmethod
    def of_child(cls, other: str, root: str, name: str) -> 'NameTaken':
        """Return the error for a provider below a node's root.

        It cannot become the provider that has the name: that one is in another
        tree, and belongs to its writer.

        :param other: the uuid of the provider that has the name
        :param root: the uuid of the root above that provider
        """
        place = 'is a root' if root == other else f'is in the tree of {root}'
        return cls(
            f'the name {name} belongs to provider {other} in placement, which '
            f'{place}: {_another_name(other)}'
        )

    @classmethod
    def by(cls, other: str, name: str, uuid: str) -> 'RootNameTaken':
        """Return the error for a node's root: it names the holder and the remedy.

        :param other: the uuid of the provider that has the name
        :param uuid: the uuid that should have it
        """
        return RootNameTaken(
            f'the name {name} belongs to provider {other} in placement, but '
            f'this agent knows {name} as {uuid}: if both are one node, have '
            'the driver give it that uuid; else rename the other provider '
            f'("compute-agent resource provider rename {other} NEW_NAME") or delete it',
            other,
        )


class RootNameTaken(NameTaken, errors.NameElsewhere):
    """Another provider has the name of a node's new root."""


def _another_name(other: str) -> str:
    """Return the advice for a name that another provider keeps or loses."""
    return (
        'have the driver give this provider a name of its own, such as one '
        "that begins with the node's name; or, if the other one is a leftover, "
        f'rename it ("compute-agent resource provider rename {other} NEW_NAME") or '
        f'delete it ("compute-agent resource provider delete {other}")'
    )


class Outdated(errors.Refused):
    """The provider does not have the generation that a person has read."""


class DoesNotExist(errors.Refused):
    """A provider, trait or class that a person named does not exist.

    :ivar missing: the traits or classes that placement does not know
    """

    def __init__(self, text: str, missing: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.missing = tuple(missing)


class Ambiguous(DoesNotExist):
    """A word names two providers, or a provider and another node."""


class BadRequest(errors.Refused):
    """Placement refused the request for any other reason (4xx)."""


class TooOld(errors.ConfigError):
    """This placement is too old for the client or the request."""
