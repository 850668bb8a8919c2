# SPDX-License-Identifier: Apache-2.0
"""The root provider that nova-compute made for this host, found and not made.

nova-compute keeps the uuid of its host in a file ``compute_id`` and names the
provider by libvirt's host name. A companion reads that file, and asks placement
for the name if it cannot. It never writes the file. The list of nodes calls
this module; ``cycle/planning/root_checks.py`` checks what is found.
"""

import logging
from collections.abc import Callable, Sequence

from .. import errors
from ..ownership import adoption
from ..tree import provider
from ..tree.node import Node

LOG = logging.getLogger(__name__)

Listed = Callable[[str], Sequence[adoption.ListedProvider]]


class NovaRoot:
    """Finds the root of this host.

    :param from_file: returns the uuid in nova's file, or ''
    :param by_name: returns the providers that placement has under a name
    :param is_there: tells if placement had a root when it was read last
    """

    def __init__(
        self,
        from_file: Callable[[], str],
        by_name: Listed,
        is_there: Callable[[str], bool],
    ) -> None:
        self._from_file = from_file
        self._by_name = by_name
        self._is_there = is_there
        self._found: dict[str, str] = {}

    def uuid(self, name: str) -> str:
        """Return the uuid of the root with this name.

        Placement is asked until it has the root, and again after it was
        deleted, because nova-compute may then give it another uuid.

        :raises errors.UnknownState: neither nova's file nor placement has it
        :raises errors.AgentError: placement cannot be asked
        """
        if uuid := self._from_file():
            return uuid
        found = self._found.get(name)
        if found is not None and self._is_there(found):
            return found
        roots = [p for p in self._by_name(name) if p.parent_uuid is None]
        if not roots:
            raise errors.UnknownState(missing(name))
        self._found[name] = roots[0].uuid
        return roots[0].uuid


def missing(name: str) -> str:
    """Return the line about a root that placement does not have."""
    return (
        f'placement has no root provider {name}: nova-compute creates it when '
        'it reports this host, and [compute_agent] mode = companion only adds '
        'to it; nothing is written until then'
    )


def check(node: Node, root: provider.Provider) -> None:
    """Refuse a root that nova-compute does not know by the node's name.

    :raises errors.Refused: it has another name, or a parent
    """
    if root.name != node.name:
        raise errors.Refused(
            f'placement knows provider {node.uuid} as {root.name}, but '
            f"nova-compute's name for this host is {node.name} now: nothing "
            'of it is written until nova-compute reports it under that name; '
            'give the host its old name again, or delete the compute service '
            'and restart nova-compute'
        )
    if root.parent_uuid is not None:
        raise errors.Refused(
            f'{root} is a child of {root.parent_uuid} in placement, so it is '
            'no compute node of nova-compute: nothing of it is written'
        )
