# SPDX-License-Identifier: Apache-2.0
"""keystoneauth's options of a group: session, account and endpoint.

``conf/`` registers them for ``[placement]`` and ``[nova]``, and the driver of
Ironic for its group, each with defaults of its own. So a group can be copied
from nova.conf. keystoneauth's own errors name no option, so those who make a
session check the options first; the checks read the files that the options
name, and send no request.
"""

import contextlib
import difflib
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata

from keystoneauth1 import exceptions as ksa_exceptions
from keystoneauth1 import loading
from oslo_config import cfg

from .. import error_text, errors
from . import clouds, url_credentials

#: The authentication plugins that any service may be asked with.
PLUGINS = ('password', 'v3applicationcredential')

_PLUGINS = 'keystoneauth1.plugin'  # entry points
_FILES = ('cafile', 'certfile', 'keyfile')
_ADDRESSES = ('endpoint_override', 'endpoint', 'auth_url')


def register_opts(
    conf: cfg.ConfigOpts, group: str, defaults: Mapping[str, object]
) -> None:
    """Register the options in a group.

    The authentication plugin registers its own when ``auth_type`` is read.

    :param defaults: defaults in place of keystoneauth's
    """
    loading.register_session_conf_options(conf, group)
    loading.register_auth_conf_options(conf, group)
    loading.register_adapter_conf_options(
        conf, group, include_deprecated=False
    )
    for name, default in defaults.items():
        conf.set_default(name, default, group=group)


def of_plugin(name: str) -> set[str]:
    """Return the options of an authentication plugin; none if it is unknown.

    A plugin may lack the libraries that it needs. The message about a missing
    account says so.
    """
    try:
        found = loading.get_auth_plugin_conf_options(name)
    except Exception:  # noqa: BLE001 (of any plugin)
        return set()
    return {opt.dest for opt in found}


def opts(
    own: Iterable[cfg.Opt],
    defaults: Mapping[str, object],
    plugins: Iterable[str] = PLUGINS,
) -> list[cfg.Opt]:
    """Return a group's own options and keystoneauth's, each name once.

    :param plugins: the authentication plugins whose options are listed
    """
    found = {
        opt.dest: opt
        for opt in (
            *own,
            *loading.get_session_conf_options(),
            *loading.get_auth_common_conf_options(),
            *loading.get_adapter_conf_options(include_deprecated=False),
            *(
                opt
                for plugin in plugins
                for opt in loading.get_auth_plugin_conf_options(plugin)
            ),
        )
    }
    for name, default in defaults.items():
        found[name].default = default  # a copy; keystoneauth's stay
    return list(found.values())


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

    The proxies of the environment are checked, too.

    :raises errors.ConfigError: an address is malformed, a file cannot be read,
        or the user has no password
    """
    url_credentials.check_proxies()
    account = clouds.account_of(conf, group)
    for name in _ADDRESSES:
        url_credentials.check(account.option(name), option(conf, group, name))
    for name in _FILES:
        if path := option(conf, group, name):
            _check_file(account.option(name), path, folder=name == 'cafile')
    if (
        option(conf, group, 'auth_type') in {'password', 'v3password'}
        and option(conf, group, 'password') == ''
    ):
        raise errors.ConfigError(
            f'{account.option("password")} is not set: write the password of '
            f'the user in {account.option("username")}'
        )


def option(conf: cfg.ConfigOpts, group: str, name: str) -> str | None:
    """Return an option that only some authentication plugins have."""
    section = conf[group]
    if name not in section and section.auth_section in conf:
        section = conf[section.auth_section]
    return str(section[name] or '') if name in section else None


def user(conf: cfg.ConfigOpts, group: str) -> str:
    """Return the user and the scope of a group's account; it has no secret."""

    def first(*names: str) -> str:
        found = (option(conf, group, name) for name in names)
        return error_text.as_line(next(filter(None, found), ''))

    credential = first(
        'application_credential_name', 'application_credential_id'
    )
    name = first('username', 'user_id')
    project = first('project_name', 'project_id')
    words = [
        f'the application credential {credential}' if credential else '',
        f'the user {name}' if name else '',
        f'of the project {project}' if project else '',
        'of the system' if first('system_scope') else '',
    ]
    kind = first('auth_type')
    return ' '.join(filter(None, words)) or f'the account of auth_type {kind}'


def _check_file(name: str, path: str, *, folder: bool) -> None:
    """Refuse a file that cannot be read.

    :param folder: a directory is right, too; OpenSSL takes one of certificates
    """
    try:
        with pathlib.Path(path).open('rb'):
            pass
    except OSError as exc:
        if folder and isinstance(exc, IsADirectoryError):
            return
        raise errors.ConfigError(
            f'{name}: {path} cannot be read: {exc.strerror}; write the path of '
            'a file that this user may read'
        ) from exc
