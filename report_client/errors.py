# SPDX-License-Identifier: Apache-2.0
"""What placement can answer instead of yes, by what the caller does next.

LookAgain
├── Conflict          another writer came between: 409 placement.concurrent_…
│   └── Exists        what was to be created is there, and was not seen
├── Reshaped          done, but no generation is told: the tree is re-read
└── LookOnce
    └── Vanished      404, or 400 for a name: names and providers are re-read
        └── UnknownName   the 400: a trait or resource class placement lacks
UnknownState
├── MalformedAnswer   no JSON, or JSON of another shape
└── ServerFault       500: fails its provider, the others go on
Unavailable
├── Unreachable       no connection, no answer in time, 502 503 504, 429
│   └── FailsInside   500 for several providers in a row, this one the last
└── NotAuthorised     401, 403, or no token to be had
Refused
├── InUse             allocations, or children, stand against it
├── NotAllowed        403 for this one request: it needs another role
├── NameTaken         the provider's name stands under another uuid
├── NotFound          what somebody named is not in placement
└── BadRequest        any other 4xx
ConfigError
└── TooOld            the service lacks the microversion this client needs
"""

import dataclasses

from compute_agent import errors
from compute_agent.tree import provider


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What placement said: the part of it that is worth keeping."""

    status: int
    code: str = ''
    detail: str = ''
    request_id: str = ''

    def __str__(self) -> str:
        said = ' '.join(self.detail.split())[:300]
        tail = f' [{self.request_id}]' if self.request_id else ''
        return f'HTTP {self.status}: {said}{tail}'


class Conflict(errors.Replan):
    """The provider's generation moved since it was read."""


class Exists(Conflict):
    """A provider that was to be created is there, and nothing led to it."""

    def __init__(self, name: str, uuid: str) -> None:
        super().__init__(f'{provider.title(name, uuid)} exists already')
        self.uuid = uuid


class Reshaped(errors.Replan):
    """Allocations were moved; what is left is planned on what is there now."""

    is_conflict = False


class NotFound(errors.ReplanOnce):
    """A provider, or a name, is not (or no longer) there."""


class UnknownName(NotFound):
    """Placement knows no such trait or resource class (400)."""


class MalformedAnswer(errors.UnknownState):
    """The answer cannot be understood, so it says nothing."""


class ServerFault(errors.UnknownState):
    """Placement failed inside (500); whether it acted is not known."""


class Unreachable(errors.Unavailable):
    """Placement did not answer; whether it acted is not known."""


class FailsInside(Unreachable):
    """Placement failed inside, for this provider as for those before it.

    :ivar fault: how it did for this one
    """

    def __init__(self, text: str, fault: ServerFault) -> None:
        super().__init__(text)
        self.fault = fault


class NotAuthorised(errors.Unavailable):
    """Placement, or keystone, does not let this agent in."""


class InUse(errors.Refused):
    """Allocations or children stand against it; the operator decides."""


class NotAllowed(errors.Refused):
    """The user may do most things in placement, but not this."""


class NameTaken(errors.Refused):
    """The name a provider should have belongs to another uuid."""

    @classmethod
    def by(cls, other: str, name: str, uuid: str) -> 'NameTaken':
        """Return the error that says who has the name, and what to do."""
        return cls(
            f'the name {name} belongs to provider {other} in placement, and '
            f'this agent knows it as {uuid}: "compute-agent provider adopt '
            f'{other}" gives that uuid to a host that was installed anew; '
            'else give the other one another name ("compute-agent provider '
            f'rename {other} NEW_NAME"), or delete it'
        )


class DoesNotExist(errors.Refused):
    """There is no such provider, trait or class; whoever named it decides."""


class BadRequest(errors.Refused):
    """Placement refused the request for a reason of its own."""


class TooOld(errors.ConfigError):
    """This placement is older than the client can work with."""
