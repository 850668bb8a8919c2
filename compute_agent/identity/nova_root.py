# SPDX-License-Identifier: Apache-2.0
"""The root provider that nova-compute made for this host, found and not made.

nova-compute keeps the uuid of its host in a file ``compute_id`` and names the
provider by libvirt's host name. An agent beside nova-compute (a companion or a
reporter) reads that file, and asks placement for the name if it cannot, or if
placement does not have that uuid. It never writes the file. The list of nodes
calls this module; ``cycle/node/node_checks.py`` checks what is found.
"""

import dataclasses
import logging
import pathlib
from collections.abc import Callable, Sequence

from .. import errors
from ..ownership import adoption
from ..tree import names, provider
from ..tree.node import Node
from . import compute_id

LOG = logging.getLogger(__name__)

Listed = Callable[[str], Sequence[adoption.ListedProvider]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HostFile:
    """The uuid in the file ``compute_id``.

    :ivar uuid: empty if there is no file, or if none can be read
    :ivar path: the file, or the first of its copies
    :ivar is_own: True if it is only in the agent's own directory, so the agent
        may have written it before it was a companion
    :ivar stray: a file in the agent's own directory that does not count,
        because nova has one that says something else; else empty
    :ivar unreadable: a line for each file that this user may not read
    """

    uuid: str = ''
    path: str = ''
    is_own: bool = False
    stray: str = ''
    unreadable: tuple[str, ...] = ()


def host_file(directories: Sequence[pathlib.Path]) -> HostFile:
    """Return the uuid in the files of this host; nova's count before its own.

    :param directories: the agent's own first
    :raises errors.ConfigError: a file that counts holds no uuid, or copies of
        nova differ
    """
    own, *others = directories
    unreadable: list[str] = []
    found = compute_id.existing_files(others, unreadable)
    is_own = not found
    if is_own:
        found = compute_id.existing_files([own], unreadable)
    for uuid, paths in found.items():
        return HostFile(
            uuid=uuid,
            path=str(paths[0]),
            is_own=is_own,
            stray='' if is_own else _stray(own, uuid),
            unreadable=tuple(unreadable),
        )
    return HostFile(unreadable=tuple(unreadable))


def _stray(own: pathlib.Path, uuid: str) -> str:
    """Return the file in the agent's own directory if it has another uuid."""
    file = own / compute_id.FILE_NAME
    try:
        found = compute_id.existing_files([own])
    except errors.ConfigError:
        return str(file)
    return str(file) if {*found} - {uuid} else ''


class NovaRoot:
    """Finds the root of this host.

    :ivar known: the uuids that were found; the roots of this host
    :param from_file: returns the uuid in nova's file
    :param by_name: returns the providers that placement has under a name
    :param is_there: returns True if placement had a root at the last reading
    """

    def __init__(
        self,
        from_file: Callable[[], HostFile],
        by_name: Listed,
        is_there: Callable[[str], bool],
    ) -> None:
        self._from_file = from_file
        self._by_name = by_name
        self._is_there = is_there
        self.known: set[str] = set()
        self._found: dict[str, str] = {}
        self._told: set[str] = set()

    def uuid(self, name: str) -> str:
        """Return the uuid of the root with this name, and remember it.

        Placement is asked until it has the root, and again after it was
        deleted, because nova-compute may then give it another uuid.

        :raises errors.UnknownState: neither nova's file nor placement has it,
            or they differ
        :raises errors.AgentError: placement cannot be asked
        """
        found = self._uuid(name)
        self.known.add(found)
        return found

    def _uuid(self, name: str) -> str:
        file = self._from_file()
        for line in file.unreadable:
            self._tell(f'{line}; placement is asked for the name of the host')
        if file.stray:
            self._tell(
                f'{file.stray} does not have the uuid that nova-compute has in '
                f'{file.path}, and does not count: remove the file'
            )
        if file.uuid and self._is_there(file.uuid):
            return file.uuid
        found = self._known_by(name)
        if not file.uuid:
            if not found:
                raise errors.NotYet(missing(name))
            return found
        if found in {'', file.uuid}:
            return file.uuid
        differ = (
            f'placement has the root provider {name} ({found}), but '
            f'{file.path} says {file.uuid}'
        )
        if not file.is_own:
            raise errors.UnknownState(
                f'{differ}: nothing is written until they agree; nova-compute '
                'reports the host only if its file has the uuid that placement '
                'knows'
            )
        self._tell(
            f'{differ}: the agent wrote that file, and adds to the provider '
            'that placement has; remove the file'
        )
        return found

    def _known_by(self, name: str) -> str:
        """Return the uuid of the root with this name in placement, or ''."""
        found = self._found.get(name)
        if found is not None and self._is_there(found):
            return found
        roots = [p for p in self._by_name(name) if p.parent_uuid is None]
        if not roots:
            return ''
        self._found[name] = roots[0].uuid
        return roots[0].uuid

    def _tell(self, line: str) -> None:
        """Log a line once."""
        if line not in self._told:
            self._told.add(line)
            LOG.warning('%s', line)


def missing(name: str) -> str:
    """Return the line about a root that placement does not have."""
    return (
        f'placement has no root provider {name}: nova-compute creates it when '
        'it reports this host or node, and with [compute_agent] mode = '
        'companion or reporter the agent never does; nothing is written until '
        'then'
    )


def check_marked(root: provider.Provider) -> None:
    """Refuse a root that nova-compute has not given COMPUTE_NODE yet.

    nova-compute may be in its first pass, and its writes would meet ours.

    :raises errors.NotYet: nova-compute has not marked it
    """
    if names.COMPUTE_NODE not in root.traits:
        raise errors.NotYet(
            f'nova-compute has not given the root provider {root.name} the '
            f'trait {names.COMPUTE_NODE} yet; nothing is written until then'
        )


def check(node: Node, root: provider.Provider) -> None:
    """Refuse a root that nova-compute does not know by the node's name.

    :raises errors.Refused: the root has another name, or a parent
    """
    if root.name != node.name:
        raise errors.Refused(
            f'placement knows provider {node.uuid} as {root.name}, but '
            f"nova-compute's name for this host is {node.name} now: nothing "
            'of it is written until nova-compute reports it under that name; '
            'if the host was renamed, give it its old name again'
        )
    if root.parent_uuid is not None:
        raise errors.Refused(
            f'{root} is a child of {root.parent_uuid} in placement, so it is '
            'no compute node of nova-compute: nothing of it is written'
        )
