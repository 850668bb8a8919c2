# SPDX-License-Identifier: Apache-2.0
"""The operator's provider-config files: read, kept, and merged into trees.

They are read as a whole, at the first cycle and when told to; a set with a
mistake never takes the place of a good one. A place that cannot be read is
unknown: then nothing is asserted and nothing is given up. What an entry says
that no node has is logged when that begins. Made by ``cmd``, called by the
resource tracker; nodes may be worked on side by side, a reload is between
cycles.
"""

import logging
import os
import pathlib
from collections.abc import Callable, Sequence

from .. import errors, yaml_file
from ..ownership.record import Record
from ..tree import provider_tree
from ..virt import finding
from . import entries as provider_config
from . import merge, parse
from .schema import SCHEMA

LOG = logging.getLogger(__name__)

_SUFFIX = '.yaml'
# Where the operator finds the option, in messages.
_OPTION = '[compute] provider_config_location'


class Unreadable(errors.ConfigError):
    """Nobody can tell which files there are."""


def read(
    location: str, *, given: bool
) -> tuple[provider_config.Entries, list[str]]:
    """Return what all files of a directory say, and warnings about them.

    :param given: an operator named the directory, so it has to be there
    :raises Unreadable: it cannot be told which files there are
    :raises errors.ConfigError: there is no such directory, or a file is wrong
    """
    files = [
        parse.parse(yaml_file.read(path, SCHEMA))
        for path in _paths(location, given=given)
    ]
    entries = [entry for file in files for entry in file.entries]
    warnings = [line for file in files for line in file.warnings]
    return provider_config.joined(entries), warnings


def _paths(location: str, *, given: bool) -> list[str]:
    folder = pathlib.Path(location).absolute()
    try:
        found = sorted(os.listdir(folder))  # noqa: PTH208 (names)
    except FileNotFoundError as exc:
        if not given:
            return []
        raise errors.ConfigError(
            f'{_OPTION}: there is no directory {folder}; create it or mend '
            'the option'
        ) from exc
    except NotADirectoryError as exc:
        raise errors.ConfigError(
            f'{_OPTION}: {folder} is no directory; write the directory that '
            'the files are in'
        ) from exc
    except OSError as exc:
        raise Unreadable(
            f'{_OPTION}: {folder} cannot be read ({exc.strerror}); give this '
            'user the right to read it, or write another directory'
        ) from exc
    return [
        str(folder / _printable(name, folder))
        for name in found
        if name.endswith(_SUFFIX) and not name.startswith('.')
    ]


def _printable(name: str, folder: pathlib.Path) -> str:
    """Refuse a name that no database and no log line takes."""
    if not name.isprintable():
        raise errors.ConfigError(
            f'{folder}: a file has the name {name!r}; give it one of '
            'printable characters'
        )
    return name


class ProviderConfigFiles:
    """The files in force, and what became of each entry.

    :ivar edition: how many sets of them have been in force
    :param location: returns the directory, and whether it was named by an
        operator
    """

    def __init__(self, location: Callable[[], tuple[str, bool]]) -> None:
        self._location = location
        self._tried = False
        self.edition = 0
        # None: it is unknown what the files say.
        self._entries: provider_config.Entries | None = None
        self._matched: dict[str, list[provider_config.Entry]] = {}
        self._lost: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Read the files, unless that was done before.

        :raises errors.ConfigError: they are wrong, or cannot be read though
            an operator named the directory
        """
        if self._tried:
            return
        try:
            self.reload()
        except Unreadable as exc:
            if self._location()[1]:
                raise
            LOG.warning('%s; no file of it is in force', exc)
        self._tried = True

    def reload(self) -> None:
        """Read the files anew; if they are wrong, the old ones stay.

        :raises errors.ConfigError: they are
        """
        location, given = self._location()
        self._entries, warnings = read(location, given=given)
        for line in warnings:
            LOG.warning('%s', line)
        self._matched = {}
        self._tried = True
        self.edition += 1

    def merge(
        self,
        tree: provider_tree.ProviderTree,
        node_uuid: str,
        record: Record,
    ) -> None:
        """Assert what the files say of a tree that the driver described."""
        if self._entries is None:
            return
        self._matched[node_uuid] = merge.merge(
            tree, node_uuid, record, self._entries
        )

    def settle(self, node_uuids: Sequence[str]) -> None:
        """Log the entries that are of no provider of any of these nodes.

        Once when that begins, and only if each node could be described since
        the files were read: what was not seen may have it.
        """
        found = [self._matched.get(uuid) for uuid in node_uuids]
        self._matched = {
            uuid: some
            for uuid, some in zip(node_uuids, found, strict=True)
            if some is not None
        }
        if self._entries is None or None in found:
            return
        matched = {entry.called for one in found for entry in one or ()}
        lost = {
            entry.called: entry
            for entry in self._entries.explicit
            if entry.called not in matched
        }
        for called, entry in lost.items():
            if called not in self._lost:
                LOG.warning(
                    '%s: no tree of this agent has a provider %s; mend the '
                    'name or uuid, or take the entry out',
                    entry.at(),
                    called,
                )
        self._lost = frozenset(lost)

    def evidence(self, node_uuid: str) -> list[finding.Finding]:
        """Return the lines behind the traits that files add in a node's tree.

        Known once the node was described.
        """
        return [
            found
            for entry in self._matched.get(node_uuid, ())
            for found in entry.findings()
        ]
