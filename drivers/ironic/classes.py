# SPDX-License-Identifier: Apache-2.0
"""The resource classes of a listing that placement cannot accept, and why.

Pure: no I/O, configuration, logging or clock. Ironic accepts any text of up to
80 characters, placement only ``CUSTOM_`` names. So a class may be too long,
and two classes may become the same name. Two such classes are refused, because
flavors for one kind of machine would get the other kind.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from compute_agent import errors
from compute_agent.tree import names

_SHOWN = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The reason why one resource class cannot be used.

    :ivar end: the end of the remedy, such as ``with a shorter one``
    :ivar name: the name in placement that it shares with another class; None
        if it has no valid name there
    """

    why: str
    end: str
    name: str | None = None

    def of(self, node: str) -> str:
        """Return the reason, and the remedy for one node.

        :param node: the node's name in Ironic, or its uuid
        """
        return f'{self.why}: {mend(node)} {self.end}'


def mend(node: str) -> str:
    """Return the command that gives a node another class."""
    return f'run "baremetal node set {node} --resource-class CLASS"'


def problems(spellings: Iterable[str | None]) -> Mapping[str, Problem]:
    """Return the classes that cannot be used, by Ironic's spelling.

    :param spellings: the classes of all nodes in the listing; None and ''
        mean that a node has no class
    """
    found: dict[str, Problem] = {}
    by_name: dict[str, list[str]] = {}
    for spelling in sorted({s for s in spellings if s}):
        try:
            name = names.custom_name(spelling)
        except errors.InvalidName:
            found[spelling] = _too_long(spelling)
        else:
            by_name.setdefault(name, []).append(spelling)
    for name, same in by_name.items():
        if len(same) > 1:
            found.update(dict.fromkeys(same, _collision(name, same)))
    return found


def _too_long(spelling: str) -> Problem:
    most = names.MAX_NAME - len(names.CUSTOM_PREFIX)
    return Problem(
        why=f'its resource class {spelling!r:.40}... has {len(spelling)} '
        f'characters, and placement accepts at most {most}',
        end='with a shorter one',
    )


def _collision(name: str, same: list[str]) -> Problem:
    shown = ' and '.join(repr(s) for s in same[:_SHOWN])
    more = f' and {len(same) - _SHOWN} more' if len(same) > _SHOWN else ''
    return Problem(
        name=name,
        why=f'the resource classes {shown}{more} would all be {name} in '
        'placement',
        end='to make them one, or to tell them apart',
    )
