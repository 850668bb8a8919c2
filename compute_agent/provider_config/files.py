# SPDX-License-Identifier: Apache-2.0
"""The operator's provider-config files: read, kept in force, and merged.

The files are read as one set, at the first cycle and on a reload. A set with a
mistake never replaces a good one. If the directory cannot be read, its content
is unknown: no file asserts anything, and no claim of a file ends. An entry
that matches no provider is logged once. ``cmd`` makes this object and the
resource tracker calls it. Nodes may be merged in parallel; a reload happens
between cycles.
"""

import logging
import os
import pathlib
import re
from collections.abc import Callable, Sequence

from .. import error_text, errors, file_trust, yaml_file
from ..ownership.record import Record
from ..tree import provider_tree
from ..virt.values import finding
from .values import merge, parse
from .values.entry import COMPUTE_NODE, Entries, Entry, combine
from .values.parse import SCHEMA

LOG = logging.getLogger(__name__)

_SUFFIX = '.yaml'
# Copies that editors and packages keep beside a file are not meant.
_LIKE_YAML = re.compile(r'\.(ya?ml|json|conf)(\.txt)?\Z', re.IGNORECASE)
# The option, as messages name it.
_OPTION = '[compute] provider_config_location'
_UNDER_UUID = f'; write {COMPUTE_NODE} under uuid, not under name'


class Unreadable(errors.ConfigError):
    """The directory exists, and its files cannot be listed."""


def read(location: str, *, given: bool) -> tuple[Entries, list[str]]:
    """Return the entries of all files in a directory, and warnings.

    :param given: an operator named the directory, so it has to exist
    :raises Unreadable: the directory cannot be listed
    :raises errors.ConfigError: the directory does not exist, or a file has a
        mistake
    """
    files = [
        parse.parse(yaml_file.read(path, SCHEMA))
        for path in _paths(location, given=given)
    ]
    entries = [entry for file in files for entry in file.entries]
    warnings = [line for file in files for line in file.warnings]
    return combine(entries), [*_left_out(location), *warnings]


def _left_out(location: str) -> list[str]:
    """Return a line for each file that is not read because of its name."""
    folder = pathlib.Path(location).absolute()
    try:
        found = sorted(os.listdir(folder))  # noqa: PTH208 (names)
    except OSError:
        return []
    return [
        f'{error_text.printable(str(folder / name))} is not read, because its '
        f'name does not end in {_SUFFIX}; rename it if it should be in force'
        for name in found
        if not name.endswith(_SUFFIX)
        and not name.startswith('.')
        and _LIKE_YAML.search(name)
    ]


def _paths(location: str, *, given: bool) -> list[str]:
    folder = pathlib.Path(location).absolute()
    try:
        found = sorted(os.listdir(folder))  # noqa: PTH208 (names)
        problem = file_trust.distrust(folder.stat(), folder)
    except FileNotFoundError as exc:
        if not given:
            return []
        raise errors.ConfigError(
            f'{_OPTION}: the directory {folder} does not exist; create it or '
            'correct the option'
        ) from exc
    except NotADirectoryError as exc:
        raise errors.ConfigError(
            f'{_OPTION}: {folder} is not a directory; write the directory '
            'that has the files'
        ) from exc
    except OSError as exc:
        raise Unreadable(
            f'{_OPTION}: {folder} cannot be read ({exc.strerror}); give this '
            'user the right to read it, or write another directory'
        ) from exc
    if problem:
        raise Unreadable(f'{_OPTION}: {folder} is not read: {problem}')
    return [
        str(folder / _printable(name, folder))
        for name in found
        if name.endswith(_SUFFIX) and not name.startswith('.')
    ]


def _printable(name: str, folder: pathlib.Path) -> str:
    """Return a file name that a database and a log line can have.

    :raises errors.ConfigError: it has characters that cannot be printed
    """
    if not name.isprintable():
        raise errors.ConfigError(
            f'{folder}: the file name {name!r} has characters that cannot be '
            'printed; rename the file'
        )
    return name


class ProviderConfigFiles:
    """The files in force, and the providers that their entries matched.

    :ivar edition: how many sets of files have been in force
    :param location: returns the directory, and True if an operator named it
    :param is_companion: nova-compute reports the nodes
    """

    def __init__(
        self,
        location: Callable[[], tuple[str, bool]],
        *,
        is_companion: bool = False,
    ) -> None:
        self._location = location
        self._is_companion = is_companion
        self._tried = False
        self.edition = 0
        # None: the content of the files is unknown.
        self._entries: Entries | None = None
        self._matched: dict[str, Sequence[Entry]] = {}
        self._unmatched: frozenset[str] = frozenset()

    def begin(self) -> None:
        """Read the files, if they were not read before.

        :raises errors.ConfigError: a file has a mistake, or an operator named
            the directory and it cannot be read
        """
        if self._tried:
            return
        try:
            self.reload()
        except Unreadable as exc:
            if self._location()[1]:
                raise
            LOG.warning('%s; none of its files is in force', exc)
        self._tried = True

    def reload(self) -> None:
        """Read the files again; if there is a mistake, the old set stays.

        :raises errors.ConfigError: a file has a mistake, or the directory
            cannot be read
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
        """Assert the files' entries onto a tree that the driver described."""
        if self._entries is None:
            return
        self._matched[node_uuid] = merge.merge(
            tree,
            node_uuid,
            record,
            self._entries,
            is_companion=self._is_companion,
        )

    def log_unmatched(self, node_uuids: Sequence[str]) -> None:
        """Log the entries that match no provider of any of these nodes.

        Each entry is logged once, and only after every node was described with
        the files in force: a node that was not described may have the
        provider.
        """
        found = [self._matched.get(uuid) for uuid in node_uuids]
        self._matched = {
            uuid: entries
            for uuid, entries in zip(node_uuids, found, strict=True)
            if entries is not None
        }
        if self._entries is None or None in found:
            return
        matched = {e.called for entries in found for e in entries or ()}
        unmatched = {
            entry.called: entry
            for entry in self._entries.explicit
            if entry.called not in matched
        }
        for called, entry in unmatched.items():
            if called not in self._unmatched:
                LOG.warning(
                    '%s: provider %s is in no tree of this agent; correct the '
                    'name or uuid, or remove the entry%s',
                    entry.at(),
                    called,
                    _UNDER_UUID if called == COMPUTE_NODE else '',
                )
        self._unmatched = frozenset(unmatched)

    def evidence(self, node_uuid: str) -> list[finding.Finding]:
        """Return the places of the traits that files add to a node's tree.

        They are known after the node was described.
        """
        return [
            found
            for entry in self._matched.get(node_uuid, ())
            for found in entry.findings()
        ]
