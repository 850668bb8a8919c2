# SPDX-License-Identifier: Apache-2.0
"""The mark of an agent: the trait by which it signs the roots of its nodes.

Pure: no I/O, configuration, logging or clock. The trait is
``CUSTOM_COMPUTE_AGENT_<SHARE>_<AGENT>``: the name of the share in the grammar
of traits, and the agent's id. An agent with several nodes puts it on each root.
So two agents without a shared record find out about each other: a root with
the mark of another agent is that agent's until a person decides
(``ownership/takeover.py``).
"""

import dataclasses
import functools
import hashlib
import re
import typing
from collections.abc import Iterable

from ...tree import names

PREFIX = 'COMPUTE_AGENT_'
_FORM = re.compile(
    rf'{names.CUSTOM_PREFIX}{PREFIX}([A-Z0-9_]+)_([0-9A-F]{{12}})'
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Mark:
    """The mark of one agent.

    :ivar share: the name of its share, as the trait has it
    :ivar agent: its id: twelve hexadecimal digits
    """

    share: str
    agent: str

    @classmethod
    def of(cls, share: str, agent: str) -> typing.Self:
        """Return the mark of an agent.

        :param share: as ``share.named`` returns it
        """
        plain = names.custom_name(share).removeprefix(names.CUSTOM_PREFIX)
        return cls(share=plain, agent=agent)

    @property
    def trait(self) -> str:
        """The name of the trait."""
        return f'{names.CUSTOM_PREFIX}{PREFIX}{self.share}_{self.agent}'

    def __str__(self) -> str:
        return f'share {self.share}, agent {self.agent}'


def shared_id(share: str, database: str) -> str:
    """Return the id that all agents of one lease have: they take turns.

    An agent that has the same nodes, but not this database, has another id.

    :param database: the identity of the shared database
    """
    text = f'{database} {share}'
    return hashlib.sha256(text.encode()).hexdigest()[:12].upper()


@functools.lru_cache(maxsize=1024)
def parse(trait: str) -> Mark | None:
    """Return the mark in a trait; None for any other trait."""
    found = _FORM.fullmatch(trait)
    return found and Mark(share=found[1], agent=found[2])


def marks(traits: Iterable[str]) -> list[Mark]:
    """Return the marks among these traits, in order."""
    return [*_marks(frozenset(traits))]


@functools.lru_cache(maxsize=1024)  # most nodes have the same traits
def _marks(traits: frozenset[str]) -> tuple[Mark, ...]:
    prefix = f'{names.CUSTOM_PREFIX}{PREFIX}'
    found = (parse(t) for t in traits if t.startswith(prefix))
    return tuple(sorted(each for each in found if each))


def others(traits: Iterable[str], own: Mark | None) -> list[Mark]:
    """Return the marks of other agents than this one.

    :param own: the mark of this agent; None if it ignores other agents' marks
    """
    if own is None:
        return []
    return [each for each in marks(traits) if each.agent != own.agent]
