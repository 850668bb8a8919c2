# SPDX-License-Identifier: Apache-2.0
"""Reserve all that a driver reports for the providers that it sets aside.

Pure: no I/O, configuration, logging or clock. ``drained`` and ``unhealthy``
note which provider and why. When the driver has described the node,
``describing/describe.py`` calls ``reserve_set_aside``, so the order of the
driver's calls does not matter. The plan keeps the reasons for the commands and
the metrics. ``provider_tree.py`` adds the edits that make providers.
"""

import dataclasses
import enum
from collections.abc import Callable, Mapping
from typing import Protocol

from .. import error_text, errors
from . import assertion, tree_contents

_INVENTORY = assertion.Kind.INVENTORY


class Own(Protocol):
    """The part of the record that a tree asks for.

    :ivar created: uuids of the providers that this agent created
    :ivar claims: the names that each source claims for the node
    """

    @property
    def created(self) -> frozenset[str]:
        """The providers that this agent created."""

    @property
    def claims(self) -> Mapping[assertion.Key, assertion.Claims]:
        """The names that each source claims."""


class Cause(enum.StrEnum):
    """Why a provider is set aside."""

    DRAINED = 'drained'
    UNHEALTHY = 'unhealthy'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A provider that a driver set aside.

    :ivar name: of the provider
    :ivar why: the driver's reason; empty if it gave none
    :ivar source: the driver as a source of assertions
    """

    name: str
    cause: Cause
    why: str
    source: str

    def __str__(self) -> str:
        why = f' ({self.why})' if self.why else ''
        return f'{self.name}: {self.cause}{why}, so all of it is reserved'


class TreeSetAside(tree_contents.TreeContents):
    """The providers of a tree that are set aside.

    :ivar set_aside: uuid → the cause
    :ivar own: returns the record of the node; None for a tree without one,
        whose providers all count as this agent's
    """

    def __init__(self) -> None:
        super().__init__()
        self.set_aside: dict[str, SetAside] = {}
        self.own: Callable[[], Own] | None = None

    def drained(self, name_or_uuid: str, why: str = '') -> None:
        """Reserve the provider, and all below it, for as long as this is said.

        It applies to the inventory that the driver reports of them in this
        cycle, or reported before if it is silent now. Guests stay.

        :param why: a reason for the operator
        :raises errors.TreeError: the tree lacks the provider, or the reason is
            no text
        """
        self._set_aside(name_or_uuid, Cause.DRAINED, why)

    def unhealthy(self, name_or_uuid: str, why: str) -> None:
        """Reserve the provider, and all below it, because it does not work.

        As for ``drained``. If a driver calls both methods for a provider, this
        reason is shown.

        :param why: the trouble, for the operator
        :raises errors.TreeError: the tree lacks the provider, or there is no
            reason
        """
        if isinstance(why, str) and not why.strip():
            raise _no_reason(why)
        self._set_aside(name_or_uuid, Cause.UNHEALTHY, why)

    def reserve_set_aside(self) -> None:
        """Reserve what the current source reports for set-aside providers."""
        source = self._log.current_source
        for uuid, one in self.set_aside.items():
            if one.source == source and uuid in self._hierarchy:
                for below in self.get_provider_uuids(uuid):
                    self._reserve(below)

    def is_created_here(self, uuid: str) -> bool:
        """Return True if this agent made the provider, now or earlier."""
        if self.own is None or uuid not in self.baseline:
            return True
        return uuid in self.own().created

    def is_of_others(self, uuid: str) -> bool:
        """Return True if another driver of this agent reports the provider."""
        sources = {
            source
            for kind in assertion.Kind
            for claims in (
                self._log.by_key.get((uuid, kind), {}),
                self.own().claims.get((uuid, kind), {}) if self.own else {},
            )
            for source in claims
        }
        current = self._log.current_source
        return any(s != current and assertion.is_driver(s) for s in sources)

    def _set_aside(self, name_or_uuid: str, cause: Cause, why: str) -> None:
        member = self._hierarchy[name_or_uuid]
        if not isinstance(why, str):
            raise _no_reason(why)
        before = self.set_aside.get(member.uuid)
        if cause is Cause.DRAINED and _is_unhealthy(before):
            return  # the trouble is what an operator has to know
        self.set_aside[member.uuid] = SetAside(
            name=member.name,
            cause=cause,
            why=error_text.as_line(why),
            source=self._log.current_source,
        )

    def _reserve(self, uuid: str) -> None:
        """Reserve the classes of one provider that the source reports."""
        member = self._hierarchy.to_edit(uuid)
        said = self._log.names(uuid, _INVENTORY)
        reported = (said or self._claimed(uuid)) & member.inventory.keys()
        member.inventory = {
            **member.inventory,
            **{
                rc: {
                    **{
                        field: value
                        for field, value in member.inventory[rc].items()
                        if rc in said or field != 'allocation_ratio'
                    },
                    'reserved': member.inventory[rc]['total'],
                }
                for rc in reported
            },
        }
        if reported:
            self._log.add(uuid, _INVENTORY, reported)

    def _claimed(self, uuid: str) -> frozenset[str]:
        """Return the classes that the source reported before."""
        if self.own is None:
            return frozenset(self._hierarchy[uuid].inventory)
        claims = self.own().claims.get((uuid, _INVENTORY), {})
        return claims.get(self._log.current_source, frozenset())


def _no_reason(found: object) -> errors.TreeError:
    return errors.TreeError(
        f'reason {error_text.excerpt(found)} is no reason: give a text that '
        'tells the operator why'
    )


def _is_unhealthy(one: SetAside | None) -> bool:
    return one is not None and one.cause is Cause.UNHEALTHY
