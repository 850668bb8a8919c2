# SPDX-License-Identifier: Apache-2.0
"""What the double holds, and how it refuses a request.

No value is ever changed, only replaced, so a shallow copy is a snapshot.
"""

import dataclasses
import typing

from compute_agent.testing.fixtures import placement_contents

Claims = placement_contents.Claims
Fields = placement_contents.Fields
UNDEFINED = 'placement.undefined_code'
CONCURRENT = 'placement.concurrent_update'


class Unlike(AssertionError):
    """The double does not know what placement would say."""


class Refused(Exception):
    """Placement refuses a request.

    :ivar keeps: it keeps what it has done so far
    """

    def __init__(
        self,
        status: int,
        detail: str,
        code: str = UNDEFINED,
        *,
        keeps: bool = False,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code = status, detail, code
        self.keeps = keeps


@dataclasses.dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer as placement keeps it."""

    project: str
    user: str
    kind: str | None
    generation: int = 0


@dataclasses.dataclass(slots=True)
class Contents:
    """Everything in one placement.

    :ivar providers: by uuid, oldest first
    :ivar traits: the custom ones
    :ivar classes: the custom ones
    """

    providers: dict[str, Claims] = dataclasses.field(default_factory=dict)
    consumers: dict[str, Consumer] = dataclasses.field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()

    def copy(self) -> 'Contents':
        """Return a snapshot, or a draft of what comes next."""
        return Contents(
            dict(self.providers),
            dict(self.consumers),
            self.traits,
            self.classes,
        )

    def provider(self, uuid: str) -> Claims:
        """Return a provider."""
        found = self.providers.get(uuid)
        if found is None:
            raise Refused(404, f'No resource provider with uuid {uuid} found')
        return found

    def change(self, uuid: str, **fields: typing.Any) -> Claims:
        """Replace a provider by one that differs in some fields."""
        changed = dataclasses.replace(self.providers[uuid], **fields)
        self.providers[uuid] = changed
        return changed

    def root(self, uuid: str) -> str:
        """Return the root of the tree that a provider is in."""
        while (parent := self.providers[uuid].parent) is not None:
            uuid = parent
        return uuid
