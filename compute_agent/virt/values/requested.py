# SPDX-License-Identifier: Apache-2.0
"""Hand a request's traits to the service that deploys a node.

Pure: no I/O, configuration, logging or clock. This part of the contract is
optional: ``compute-agent node`` works with drivers that have the methods
``stage`` and ``unstage``.
"""

import dataclasses
import itertools
import typing
from collections.abc import Collection, Sequence

from ... import errors, extra_specs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Staging:
    """The result of staging a request on a node, or of taking it back.

    :ivar service: the name of the service that deploys the node, for messages
    :ivar uuid: the node's uuid
    :ivar name: the node's name, if it has one
    :ivar summary: the action, in a few words
    :ivar changed: True if the node was changed (in a dry run: would be)
    :ivar traits: the traits that were staged or taken back
    :ivar placement_only: required traits that only placement checks
    :ivar capabilities: names and values that were staged or taken back
    :ivar kept: the requested traits that others have set, and that stay
    :ivar ignored: the parts of the request that are not for this service
    :ivar notes: further sentences for the operator
    """

    service: str
    uuid: str
    name: str | None
    summary: str
    changed: bool
    traits: tuple[str, ...] = ()
    placement_only: tuple[str, ...] = ()
    capabilities: tuple[tuple[str, str], ...] = ()
    kept: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The result as text for people."""
        node = f'{self.name} ({self.uuid})' if self.name else self.uuid
        return (
            f'{node}: {self.summary}',
            *(f'  {t}: {", ".join(v)}' for t, v in self._listed().items()),
            *(f'  {note}' for note in self.notes),
        )

    def text(self, most: int) -> str:
        """Return the result as one line, for so many characters.

        If it is too long, each list ends with the number of further names.
        """
        listed = self._listed()
        rest = len('; '.join((self.summary, *self.notes)))
        rest += sum(len(f'; {title}: ') for title in listed)
        whole = self._text(most)
        if len(whole) <= most or not listed:
            return whole
        return self._text((most - rest) // len(listed))

    def _text(self, share: int) -> str:
        lists = (
            f'{title}: {_beginning(words, share)}'
            for title, words in self._listed().items()
        )
        return '; '.join((self.summary, *lists, *self.notes))

    def _listed(self) -> dict[str, Sequence[str]]:
        """Return the lists that have a name, with their titles."""
        listed: dict[str, Sequence[str]] = {
            'traits': self.traits,
            'capabilities': [f'{k}={v}' for k, v in self.capabilities],
            'requested by others': self.kept,
            'checked by placement only': self.placement_only,
            f'not for {self.service}': self.ignored,
        }
        return {title: words for title, words in listed.items() if words}


class Unconfirmed(errors.Unavailable):
    """A change of a node was sent, and no answer told its outcome.

    :ivar staging: the result, on the assumption that the change was carried
        out
    """

    def __init__(self, message: str, staging: Staging) -> None:
        super().__init__(message)
        self.staging = staging


@typing.runtime_checkable
class RequestedTraits(typing.Protocol):
    """The methods of a driver that can stage a request on its nodes."""

    def stage(
        self,
        node: str,
        wanted: extra_specs.ExtraSpecs,
        instance_uuid: str | None = None,
        *,
        elsewhere: Collection[str] = (),
        dry_run: bool = False,
    ) -> Staging:
        """Hand the request's requirements to the node.

        Calling it again with the same request changes nothing.

        :param node: a name or a uuid
        :param instance_uuid: the instance on the node, if there is one
        :param elsewhere: traits that other sources than the driver, such as
            provider-config files, give the node
        :param dry_run: change nothing, and return what would be done
        :raises Unconfirmed: the change was sent, and it is unknown if it was
            carried out; calling again tells
        """
        ...

    def unstage(
        self,
        node: str,
        instance_uuid: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Staging:
        """Take back exactly what was staged; succeed if nothing was staged.

        :raises Unconfirmed: as ``stage`` does
        """
        ...


def _beginning(words: Sequence[str], most: int) -> str:
    """Return words with commas, and the number of those that do not fit."""
    whole = ', '.join(words)
    if len(whole) <= most:
        return whole
    room = most - len(f'… and {len(words)} more')
    ends = itertools.accumulate(len(f'{word}, ') for word in words)
    kept = sum(end <= room for end in ends)
    return f'{", ".join([*words[:kept], "…"])} and {len(words) - kept} more'
