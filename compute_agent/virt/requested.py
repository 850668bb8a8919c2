# SPDX-License-Identifier: Apache-2.0
"""Handing a request's traits to the service that deploys a node.

Pure: no I/O, configuration, logging or clock. A driver that has ``stage`` and
``unstage`` answers ``compute-agent node``; the others do not.
"""

import dataclasses
import typing
from collections.abc import Iterable

from .. import extra_specs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """What was handed over, or taken back.

    :ivar service: what the node was told through, for the text
    :ivar uuid: the node's
    :ivar name: the node's, if it has one
    :ivar summary: what was done, in a few words
    :ivar changed: whether the node was changed (in a dry run: would be)
    :ivar traits: those handed over, or taken back
    :ivar placement_only: required traits that only placement can answer for
    :ivar capabilities: names and values handed over, or taken back
    :ivar ignored: what of the request has another addressee
    :ivar notes: what else the operator should know, a sentence each
    """

    service: str
    uuid: str
    name: str | None
    summary: str
    changed: bool
    traits: tuple[str, ...] = ()
    placement_only: tuple[str, ...] = ()
    capabilities: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it as text for people."""
        node = f'{self.name} ({self.uuid})' if self.name else self.uuid
        listed = {
            'traits': self.traits,
            'capabilities': [f'{k}={v}' for k, v in self.capabilities],
            'left to placement alone': self.placement_only,
            f'not for {self.service}': self.ignored,
        }
        return (
            f'{node}: {self.summary}',
            *(f'  {title}: {_joined(v)}' for title, v in listed.items() if v),
            *(f'  {note}' for note in self.notes),
        )


@typing.runtime_checkable
class RequestedTraits(typing.Protocol):
    """What a driver offers whose nodes are told what a request asked for."""

    def stage(
        self,
        node: str,
        wanted: extra_specs.ExtraSpecs,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Staging:
        """Hand the node what the request requires of it; repeatable.

        :param node: a name or a uuid
        :param instance_uuid: the instance that holds the node, if one does
        :param dry_run: only say what would be done
        """
        ...

    def unstage(
        self,
        node: str,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Staging:
        """Take back exactly what was staged; done if nothing was."""
        ...


def _joined(words: Iterable[str]) -> str:
    return ', '.join(words)
