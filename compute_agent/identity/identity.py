# SPDX-License-Identifier: Apache-2.0
"""The uuid of a node: it outlives restarts, renames and new installations.

The driver may tell the uuid. A node whose name is a uuid has that uuid. The
only node of a host has the host's uuid, which is in the write-once file
``compute_id``, as in nova. An existing file is read and never replaced, except
by ``provider adopt``. ``cmd`` passes the uuids to the resource tracker.
"""

import collections
import contextlib
import os
import pathlib
import shutil
import uuid as uuidlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .. import errors, private_files
from ..tree import names, provider
from ..tree.node import Node

FILE_NAME = 'compute_id'


def identify(
    nodenames: Sequence[str],
    by_uuid: Mapping[str, str],
    host_uuid: Callable[[], str],
) -> list[Node]:
    """Return the nodes of these names with their uuids.

    :param by_uuid: uuid → name, as far as the driver can tell
    :param host_uuid: called only if it is needed
    :raises errors.DriverError: a name or a uuid occurs twice, or a node has
        no uuid
    """
    known = {name: str(uuid) for uuid, name in by_uuid.items()}
    the_host = has_host_uuid(nodenames, by_uuid)
    nodes = []
    for name in nodenames:
        if name in known:
            uuid = known[name].lower()
            if not names.is_uuid(uuid):
                raise errors.DriverError(
                    f'the driver says the uuid of node {name} is {uuid!r}, '
                    'which is none'
                )
        elif names.is_uuid(name):
            uuid = name.lower()
        elif the_host:
            uuid = host_uuid()
        else:
            raise errors.DriverError(
                f'node {name} has no uuid: a driver of several nodes whose '
                'names are no uuids must implement get_nodenames_by_uuid()'
            )
        nodes.append(Node(uuid=uuid, name=name))
    for field in ('name', 'uuid'):
        times = collections.Counter(getattr(node, field) for node in nodes)
        twice = sorted(value for value, n in times.items() if n > 1)
        if twice:
            raise errors.DriverError(
                f'the driver lists the {field} {twice[0]} more than once'
            )
    return nodes


def has_host_uuid(
    nodenames: Sequence[str], by_uuid: Mapping[str, str]
) -> bool:
    """Return True if there is one node and it has the host's uuid."""
    return (
        len(nodenames) == 1
        and nodenames[0] not in by_uuid.values()
        and not names.is_uuid(nodenames[0])
    )


def check(
    node: Node,
    providers: provider.Snapshot,
    agreed: str | None = None,
    file: str = '',
) -> None:
    """Refuse a node whose provider has another name, or a parent.

    If the host was renamed, placement has the name that was agreed last, and
    renaming the provider is right. Otherwise another host may use a copy of
    this host's file. To rename the provider would then stop the other host.

    :param agreed: the name on which placement and the agent agreed last
    :param file: the file that gives this host the uuid; empty if the driver
        gives it
    :raises errors.Refused: placement has the uuid under another name, or
        below another provider
    """
    root = providers.get(node.uuid)
    if root is not None and root.name != node.name:
        if file and agreed != root.name:
            raise errors.Refused(_maybe_cloned(node, root, agreed, file))
        raise errors.Refused(_renamed(node, root))
    if root is not None and root.parent_uuid is not None:
        raise errors.Refused(
            f'{root} is a child of {root.parent_uuid} in placement, and a '
            'compute node is a root: nothing of it is written; move it out '
            'from under its parent (PUT /resource_providers/'
            f'{node.uuid} with "parent_provider_uuid": null, API 1.37)'
        )


def _renamed(node: Node, root: provider.Provider) -> str:
    nova = names.OWNER_NOVA in root.traits
    return (
        f'placement knows provider {node.uuid} as {root.name}, this agent '
        f'calls it {node.name}: nothing of it is written; give the node its '
        f'old name again (for a host: [DEFAULT] host = {root.name})'
        + ', which nova-compute may use'
        * nova
        + '; if the host has a new name, "compute-agent provider rename '
        f'{node.uuid}" renames the provider'
    )


def _maybe_cloned(
    node: Node, root: provider.Provider, agreed: str | None, file: str
) -> str:
    """Return the line about a provider that another host may report."""
    known = (
        'and called it so when they last agreed'
        if agreed == node.name
        else 'and never reported it under that name'
    )
    return (
        f'placement knows provider {node.uuid} as {root.name}, this agent '
        f'calls it {node.name} {known}: nothing of it is written; two hosts '
        f'have the same compute_id if one was copied from the other: delete '
        f'{file} on one of them, and restart its agent; if there is no other '
        f'host, set [DEFAULT] host = {root.name}'
        + ', which nova-compute may use' * (names.OWNER_NOVA in root.traits)
        + ', or give the provider its new name (docs/ownership.md)'
    )


def uuid_files(directories: Sequence[pathlib.Path]) -> dict[str, str]:
    """Return the uuid in each file of this host, with the path of the file.

    A file that cannot be read is left out: if it is needed, ``host_uuid``
    reports it.
    """
    own, *others = directories
    with contextlib.suppress(errors.ConfigError):
        return {uuid: str(path) for path, uuid in _files(own, others)}
    return {}


def host_uuid(
    state_path: pathlib.Path, others: Iterable[pathlib.Path] = ()
) -> str:
    """Return this host's uuid from its file; the first start writes the file.

    :param others: directories where nova may have put such a file (beside its
        configuration); copies must agree
    :raises errors.ConfigError: a file holds no uuid, copies differ, or the
        file cannot be written
    """
    private_files.check_link(state_path / FILE_NAME)
    found = existing_files((state_path, *others))
    return next(iter(found), '') or _write(state_path / FILE_NAME)


def existing_files(
    directories: Iterable[pathlib.Path], unreadable: list[str] | None = None
) -> dict[str, list[pathlib.Path]]:
    """Return this host's uuid with its files; empty if there is none.

    :param unreadable: gets a line for each file that this user may not read;
        without it, such a file is an error
    :raises errors.ConfigError: a file holds no uuid, or copies differ
    """
    found: dict[str, list[pathlib.Path]] = {}
    for path, uuid in _files_in(directories, unreadable):
        found.setdefault(uuid, []).append(path)
    if len(found) > 1:
        where = ' and '.join(
            f'{u} in {p[0]}' for u, p in sorted(found.items())
        )
        raise errors.ConfigError(
            f'this host has more than one uuid: {where}; keep the one that '
            'placement knows and remove the other file'
        )
    return found


def known_host_uuid(directories: Iterable[pathlib.Path]) -> str:
    """Return this host's uuid from the first file that has it, else ''."""
    with contextlib.suppress(errors.ConfigError):
        for _, uuid in _files_in(directories):
            return uuid
    return ''


def adopt(
    uuid: str, state_path: pathlib.Path, others: Iterable[pathlib.Path] = ()
) -> list[pathlib.Path]:
    """Give this host another uuid; return the copies of its old files.

    Each file is replaced in place. A copy of the old one is kept beside it,
    with the old uuid in its name.

    :raises errors.ConfigError: a file cannot be written
    """
    kept = []
    for path, old in _files(state_path, others):
        target = path.resolve()
        aside = path.with_name(f'{FILE_NAME}.{old}.replaced')
        new = target.with_name(f'{FILE_NAME}.{os.getpid()}')
        old_copy = path.with_name(f'{FILE_NAME}.{os.getpid()}.old')
        with _writing(path, 'run this as a user who may write there'):
            for left in (new, old_copy):  # by a process that was killed here
                left.unlink(missing_ok=True)
            try:
                private_files.write_new(new, uuid + '\n')
                shutil.copymode(target, new)
                private_files.write_new(old_copy, target.read_text('utf-8'))
                shutil.copystat(target, old_copy)
                old_copy.replace(aside)
                new.replace(target)
            finally:
                new.unlink(missing_ok=True)
                old_copy.unlink(missing_ok=True)
        kept.append(aside)
    return kept


def _files(
    state_path: pathlib.Path, others: Iterable[pathlib.Path]
) -> Iterator[tuple[pathlib.Path, str]]:
    """Yield each file of this host's uuid, with the uuid in it."""
    return _files_in((state_path, *others))


def _files_in(
    directories: Iterable[pathlib.Path],
    unreadable: list[str] | None = None,
) -> Iterator[tuple[pathlib.Path, str]]:
    for path in dict.fromkeys(d / FILE_NAME for d in directories):
        try:
            uuid = _read(path)
        except errors.ConfigError as exc:
            is_secret = isinstance(exc.__cause__, PermissionError)
            if unreadable is None or not is_secret:
                raise
            unreadable.append(str(exc))
            continue
        if uuid:
            yield path, uuid


def _read(path: pathlib.Path) -> str | None:
    try:
        if path.exists() and not path.is_file():
            raise errors.ConfigError(
                f'{path} is not a regular file: remove it'
            )
        text = path.read_text(encoding='utf-8').strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as exc:
        raise errors.ConfigError(f'{path} cannot be read: {exc}') from exc
    if not names.is_uuid(text):
        raise errors.ConfigError(
            f'{path} holds {text[:60]!r}, not a uuid: put the uuid there that '
            'placement knows this host by, or remove the file for a new one'
        )
    return text.lower()


def _write(path: pathlib.Path) -> str:
    """Write the file so that two simultaneous starts get the same uuid."""
    uuid = str(uuidlib.uuid4())
    mine = path.with_name(f'{FILE_NAME}.{os.getpid()}')
    with _writing(path, 'give a directory this user may write'):
        private_files.make_directory(path.parent)
        mine.unlink(missing_ok=True)  # of a process that was killed here
        private_files.write_new(mine, uuid + '\n')
        try:
            os.link(mine, path)
        except FileExistsError as exc:
            if found := _read(path):
                return found
            raise errors.ConfigError(
                f'{path} is a link that leads nowhere: remove it, or put the '
                'file there that it should lead to'
            ) from exc
        finally:
            mine.unlink()
    return uuid


@contextlib.contextmanager
def _writing(path: pathlib.Path, advice: str) -> Iterator[None]:
    """Turn an OSError into one line that names the file.

    :raises errors.ConfigError: in place of the OSError
    """
    try:
        yield
    except OSError as exc:
        raise errors.ConfigError(
            f'[DEFAULT] state_path: {path} cannot be written: '
            f'{exc.strerror}; {advice}'
        ) from exc
