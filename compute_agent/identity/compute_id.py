# SPDX-License-Identifier: Apache-2.0
"""The write-once file ``compute_id`` with the uuid of this host, as in nova.

An existing file is read and never replaced, except by ``resource provider
adopt``. Copies that nova keeps beside its configuration must have the same
uuid.
"""

import contextlib
import os
import pathlib
import shutil
import uuid as uuidlib
from collections.abc import Iterable, Iterator, Sequence

from .. import errors, file_trust, private_files
from ..tree import names

FILE_NAME = 'compute_id'
LARGEST = 4096  # bytes


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
        file cannot be used
    """
    private_files.check_link(state_path / FILE_NAME)
    found = existing_files((state_path, *others))
    return next(iter(found), '') or _write(state_path / FILE_NAME)


def existing_files(
    directories: Iterable[pathlib.Path], unreadable: list[str] | None = None
) -> dict[str, list[pathlib.Path]]:
    """Return this host's uuid → the files that have it; empty without files.

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

    :raises errors.ConfigError: a file cannot be used
    """
    kept = []
    for path, old in _files(state_path, others):
        target = path.resolve()
        aside = path.with_name(f'{FILE_NAME}.{old}.replaced')
        new = target.with_name(f'{FILE_NAME}.{os.getpid()}')
        old_copy = path.with_name(f'{FILE_NAME}.{os.getpid()}.old')
        with private_files.explained(
            path, 'run this as a user who may write there'
        ):
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
        if not path.exists():
            return None
        if not path.is_file():
            raise errors.ConfigError(
                f'{path} is not a regular file: remove it'
            )
        content = file_trust.read(str(path), LARGEST, named=True)
        text = content.decode().strip()
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
    with private_files.explained(path):
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
