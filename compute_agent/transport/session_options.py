# SPDX-License-Identifier: Apache-2.0
"""Checks of keystoneauth's options, whose own errors name no option.

The options are those of one group, such as ``[placement]``. The checks read
the files that the options name, and send no request. ``placement.py`` calls
this module, and so does the driver of Ironic.
"""

import contextlib
import difflib
import pathlib
from collections.abc import Iterator
from importlib import metadata

from keystoneauth1 import exceptions as ksa_exceptions
from oslo_config import cfg

from .. import error_text, errors
from . import url_credentials

_PLUGINS = 'keystoneauth1.plugin'  # entry points
_FILES = ('cafile', 'certfile', 'keyfile')
_ADDRESSES = ('endpoint_override', 'endpoint', 'auth_url')


@contextlib.contextmanager
def explained(group: str) -> Iterator[None]:
    """Turn keystoneauth's errors about options into one line.

    :raises errors.ConfigError: in place of keystoneauth's error
    """
    try:
        yield
    except ksa_exceptions.NoMatchingPlugin as exc:
        near = difflib.get_close_matches(
            exc.name, metadata.entry_points(group=_PLUGINS).names
        )
        advice = f'; did you mean {" or ".join(near)}?' if near else ''
        raise errors.ConfigError(
            f'[{group}] auth_type: keystoneauth has no plugin {exc.name!r}'
            f'{advice or "; a usual one is password"}'
        ) from exc
    except (ksa_exceptions.ClientException, TypeError) as exc:
        raise errors.ConfigError(
            f'[{group}]: {error_text.one_line(exc)}'
        ) from exc


def check(conf: cfg.ConfigOpts, group: str) -> None:
    """Refuse options that keystoneauth would complain about too late.

    :raises errors.ConfigError: an address is malformed, a file cannot be read,
        or the user has no password
    """
    for name in _ADDRESSES:
        url_credentials.check(group, name, option(conf, group, name))
    for name in _FILES:
        _check_file(f'[{group}] {name}', option(conf, group, name) or '')
    if (
        option(conf, group, 'auth_type') in {'password', 'v3password'}
        and option(conf, group, 'password') == ''
    ):
        raise errors.ConfigError(
            f'[{group}] password is not set: write the password of the user '
            'in username'
        )


def option(conf: cfg.ConfigOpts, group: str, name: str) -> str | None:
    """Return an option that only some authentication plugins have."""
    section = conf[group]
    return str(section[name] or '') if name in section else None


def _check_file(name: str, path: str) -> None:
    if not path:
        return
    if name.endswith(' cafile') and pathlib.Path(path).is_dir():
        return  # a directory of certificates, as OpenSSL takes it
    try:
        with pathlib.Path(path).open('rb'):
            pass
    except OSError as exc:
        raise errors.ConfigError(
            f'{name}: {path} cannot be read: {exc.strerror}; write the path of '
            'a file that this user may read'
        ) from exc
