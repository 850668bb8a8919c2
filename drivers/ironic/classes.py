# SPDX-License-Identifier: Apache-2.0
"""Which resource classes of a listing cannot go to placement, and why.

Pure: no I/O, configuration, logging or clock. Ironic takes any text of 80
characters, placement only ``CUSTOM_`` names, so a class may not fit, and two
may become one. The latter is refused: the flavors of one kind of machine would
get the other kind.
"""

import dataclasses
from collections.abc import Iterable, Mapping

from compute_agent import errors
from compute_agent.tree import names

_SHOWN = 3


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why one spelling of a resource class cannot be used.

    :ivar end: what another class for a node is to achieve
    :ivar name: the name in placement that it shares with another spelling;
        None if it has no name there at all
    """

    why: str
    end: str
    name: str | None = None

    def of(self, node: str) -> str:
        """Return why, and how it is mended for one node.

        :param node: its name in Ironic, or its uuid
        """
        return f'{self.why}: {mend(node)} {self.end}'


def mend(node: str) -> str:
    """Return what to say to Ironic so that a node has another class."""
    return f'say "baremetal node set {node} --resource-class CLASS"'


def problems(spellings: Iterable[str | None]) -> Mapping[str, Problem]:
    """Return the classes that cannot be used, by Ironic's spelling.

    :param spellings: of all nodes of the listing; None and '' are no class
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
        f'characters, and placement takes {most} of them',
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
