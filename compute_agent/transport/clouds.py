# SPDX-License-Identifier: Apache-2.0
"""The accounts of ``clouds.yaml`` and of OS_* variables, as options of groups.

openstacksdk finds and reads them. ``settle`` writes the account over the
options of keystoneauth in a group, so that the callers read the group as if
the operator had written it there. The cloud of ``[compute_agent] os_cloud``
(``--os-cloud``) replaces the group's options, and the environment counts only
if the group has none and ``allow_environment`` was called: for the commands of
people, never for the daemon. openstacksdk skips a file that it cannot parse,
and takes the next one: then a cloud seems to be missing, or is that of another
file. So the files are checked first, up to the first that counts; a mistake has
its line. ``cmd/`` and the Ironic driver call it before they
make a session; nothing is sent.
"""

import dataclasses
import json
import os
import typing
from collections.abc import Iterable, Mapping

from oslo_config import cfg, types

from .. import error_text, errors, file_trust, yaml_file, yaml_problems
from .account import Account, Origin

if typing.TYPE_CHECKING:
    from openstack.config import cloud_region, loader

OWN_GROUP = 'compute_agent'  # conf/compute_agent.py registers os_cloud
_ENVIRONMENT = 'environment_account'
_ACCOUNT = 'account'
_LENT = 'lent_cloud'
_BACKSLASH = 'backslash'
_PLACES = ('clouds', '', 'auth')  # the second key is the cloud's name
# The names that openstacksdk uses where no file gives a name.
_UNNAMED = ('defaults', 'envvars')
# One of these variables is enough to say which account is meant.
_VARIABLES = ('OS_CLOUD', 'OS_AUTH_URL', 'OS_AUTH_TYPE', 'OS_ENDPOINT')


def allow_environment(conf: cfg.ConfigOpts) -> None:
    """Let the environment give the account where no option does."""
    _note(conf, OWN_GROUP, _ENVIRONMENT, value=True)


def lend(conf: cfg.ConfigOpts, region: 'cloud_region.CloudRegion') -> None:
    """Give each group the account of a cloud that OpenStack's client found."""
    _note(conf, OWN_GROUP, _LENT, value=region)


def account_of(conf: cfg.ConfigOpts, group: str) -> Account:
    """Return the account of a group, for messages."""
    found = _noted(conf, group, _ACCOUNT)
    if found is None:
        found = Account(section=group, place=_file(conf, group))
    return dataclasses.replace(
        typing.cast(Account, found), is_credential=_is_credential(conf, group)
    )


def _is_credential(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return True if the account is an application credential."""
    options = conf[group]
    if options.auth_section and options.auth_section in conf:
        options = conf[options.auth_section]
    kind = options.auth_type if 'auth_type' in options else None
    return 'applicationcredential' in (kind or '')


def settle(conf: cfg.ConfigOpts, group: str) -> Account:
    """Write the account that counts into a group, and return its origin.

    A group whose options count is not changed.

    :raises errors.ConfigError: the cloud is not known, or not complete
    """
    if _noted(conf, group, _ACCOUNT) is None:
        _find_section(conf, group)
        _note(conf, group, _ACCOUNT, value=_settled(conf, group))
    return account_of(conf, group)


def _find_section(conf: cfg.ConfigOpts, group: str) -> None:
    """Register the options of the section that ``auth_section`` gives.

    The section's name is known only after the files were read.
    """
    if conf[group].auth_section:
        from keystoneauth1 import loading  # noqa: PLC0415 (slow)

        loading.register_auth_conf_options(conf, group)


def _settled(conf: cfg.ConfigOpts, group: str) -> Account:
    lent = _noted(conf, OWN_GROUP, _LENT)
    if lent is not None:
        found = typing.cast('cloud_region.CloudRegion', lent)
        _write(conf, group, found)
        is_named = bool(found.name) and found.name not in _UNNAMED
        return Account(
            section=group,
            origin=Origin.CLOUD if is_named else Origin.ENVIRONMENT,
            cloud=found.name if is_named else '',
        )
    name = _noted(conf, OWN_GROUP, 'os_cloud')
    if name:
        return _from_cloud(conf, group, str(name))
    if _has_own(conf, group) or not _noted(conf, OWN_GROUP, _ENVIRONMENT):
        return Account(section=group, place=_file(conf, group))
    if not any(os.environ.get(each) for each in _VARIABLES):
        return Account(section=group, place=_file(conf, group))
    return _from_cloud(conf, group, os.environ.get('OS_CLOUD') or None)


def _has_own(conf: cfg.ConfigOpts, group: str) -> bool:
    """Return True if the group's options name an account."""
    options = conf[group]
    return bool(
        options.auth_section  # without it, auth_type is in this group
        or options.auth_type
        or ('embedded' in options and options.embedded)
    )


def _file(conf: cfg.ConfigOpts, group: str) -> str:
    """Return the file or variable that sets the group's ``auth_type``."""
    try:
        found = conf.get_location('auth_type', group)
    except cfg.Error:
        return ''
    if found is None or not found.location.is_user_controlled:
        return ''
    return str(found.detail)


def _from_cloud(conf: cfg.ConfigOpts, group: str, name: str | None) -> Account:
    """Write a cloud's account into a group; None for the environment's."""
    if name and name != os.environ.get('OS_CLOUD_NAME', 'envvars'):
        _check_files(name)
    clouds = _clouds()
    found = _region(clouds, name)
    _write(conf, group, found)
    is_named = found.name != clouds.envvar_key
    return Account(
        section=group,
        origin=Origin.CLOUD if is_named else Origin.ENVIRONMENT,
        place=(clouds.config_filename or '') if is_named else '',
        cloud=found.name if is_named else '',
    )


def _clouds() -> 'loader.OpenStackConfig':
    from openstack.config import loader  # noqa: PLC0415 (slow)

    try:
        return loader.OpenStackConfig()
    except Exception as exc:
        _check_files('')  # that error names the line
        raise errors.ConfigError(
            f'clouds.yaml cannot be used: {error_text.one_line(exc)}'
        ) from exc


def _region(
    clouds: 'loader.OpenStackConfig', name: str | None
) -> 'cloud_region.CloudRegion':
    """Return a cloud with its region.

    :raises errors.ConfigError: the cloud is unknown, or one of its options is
        wrong
    """
    name = name or clouds.default_cloud
    known = clouds.get_cloud_names()
    if name not in known:
        raise errors.ConfigError(_unknown(str(name), clouds))
    try:
        return clouds.get_one(
            cloud=name, region_name=_region_asked(name, clouds)
        )
    except Exception as exc:
        raise errors.ConfigError(
            f'the cloud {error_text.printable(str(name))} of '
            f'{clouds.config_filename or "the environment"} cannot be used: '
            f'{error_text.one_line(exc)}'
        ) from exc


def _region_asked(name: str, clouds: 'loader.OpenStackConfig') -> str:
    """Return OS_REGION_NAME if the environment chose the cloud, too."""
    is_chosen = name in {os.environ.get('OS_CLOUD'), clouds.envvar_key}
    return os.environ.get('OS_REGION_NAME', '') if is_chosen else ''


def _unknown(name: str, clouds: 'loader.OpenStackConfig') -> str:
    """Return the message about an unknown cloud."""
    shown = error_text.printable(name)
    if not clouds.config_filename:
        return (
            f'there is no cloud {shown}, because no clouds.yaml was found: it '
            'is looked for in the current directory, ~/.config/openstack and '
            '/etc/openstack, and OS_CLIENT_CONFIG_FILE names another one'
        )
    others = sorted(set(clouds.get_cloud_names()) - {clouds.envvar_key})
    listed = error_text.printable(', '.join(map(str, others))) or 'none'
    return (
        f'there is no cloud {shown} in {clouds.config_filename}; it has '
        f'{listed}'
    )


def _write(
    conf: cfg.ConfigOpts, group: str, found: 'cloud_region.CloudRegion'
) -> None:
    """Set the options of keystoneauth in a group to those of a cloud."""
    from keystoneauth1 import loading  # noqa: PLC0415 (slow)

    kind = str(found.config['auth_type'])
    account = found.config.get('auth') or {}
    plugin = loading.get_auth_plugin_conf_options(kind)
    conf.register_opts(
        [*loading.get_auth_common_conf_options(), *plugin], group=group
    )
    values = {
        **{opt.dest: account.get(opt.dest) for opt in plugin},
        **_session_values(found),
        **_endpoint_values(found, conf[group].service_type),
        'auth_type': kind,
        'auth_section': None,
    }
    if 'embedded' in conf[group]:
        values['embedded'] = False
    _note(conf, group, _BACKSLASH, value='\\')
    for name, value in values.items():
        conf.set_override(name, _escaped(value, group), group=group)


def _session_values(found: 'cloud_region.CloudRegion') -> dict[str, object]:
    """Return the options about TLS."""
    verify, cert = found.get_requests_verify_args()
    certfile, keyfile = cert if isinstance(cert, tuple) else (cert, None)
    return {
        'insecure': verify is False,
        'cafile': verify if isinstance(verify, str) else None,
        'certfile': certfile,
        'keyfile': keyfile,
    }


def _endpoint_values(
    found: 'cloud_region.CloudRegion', service: str
) -> dict[str, object]:
    """Return the options about the address of a service."""
    asked = found.get_interface(service) or 'public'
    interfaces = [asked] if isinstance(asked, str) else list(asked)
    return {
        'region_name': found.get_region_name(service) or None,
        'valid_interfaces': interfaces,
        'endpoint_override': found.get_endpoint(service),
        'service_name': found.get_service_name(service),
    }


def _escaped(value: object, group: str) -> object:
    """Return a value that oslo.config reads back as it is.

    oslo.config takes "$" for the begin of a reference, and a backslash before
    it for an escape.
    """
    if not isinstance(value, str):
        return value
    plain = value.replace('$', '$$')
    return plain.replace('\\$', f'${{{group}.{_BACKSLASH}}}$')


def _note(
    conf: cfg.ConfigOpts, group: str, name: str, *, value: object
) -> None:
    """Keep a value beside the options of a group; no file can set it."""
    conf.register_opt(cfg.Opt(name, type=_AsItIs()), group=group)
    conf.set_override(name, value, group=group)


def _noted(conf: cfg.ConfigOpts, group: str, name: str) -> object:
    """Return a value that ``_note`` kept, or None."""
    if group not in conf or name not in conf[group]:
        return None
    return typing.cast(object, conf[group][name])


class _AsItIs(types.ConfigType):
    """The type of a value that no file has."""

    def __call__(self, value: object) -> object:
        """Return the value."""
        return value

    def _formatter(self, value: object) -> str:
        return str(value)


# --- mistakes in clouds.yaml and secure.yaml, each with its line ---------------


def _check_files(cloud: str) -> None:
    """Refuse files in which openstacksdk would not find a cloud.

    :param cloud: the name of the cloud; '' if none is named
    :raises errors.ConfigError: a file cannot be parsed, or what belongs to
        the cloud is no mapping
    """
    from openstack.config import loader  # noqa: PLC0415 (slow)

    for variable, files in (
        ('OS_CLIENT_CONFIG_FILE', loader.CONFIG_FILES),
        ('OS_CLIENT_SECURE_FILE', loader.SECURE_FILES),
    ):
        named = os.environ.get(variable)
        _check_first([named, *files] if named else files, cloud)


def _check_first(files: Iterable[str], cloud: str) -> None:
    """Check the first of these files that can be opened."""
    for path in files:
        try:
            data = _parsed(path)
        except OSError:
            continue  # openstacksdk skips it, too
        _check_shape(path, data, cloud)
        return


def _parsed(path: str) -> typing.Any:
    """Return the content of a file.

    openstacksdk would read a device without end.

    :raises OSError: it cannot be opened
    :raises errors.ConfigError: it is not YAML or JSON, or no regular file
    """
    import yaml  # noqa: PLC0415 (slow)

    try:
        text = file_trust.read(path, yaml_file.LARGEST, named=True).decode()
        return (
            json.loads(text) if path.endswith('json') else yaml.safe_load(text)
        )
    except file_trust.Refused as exc:
        raise yaml_file.FileError(path, 0, exc.strerror) from exc
    except yaml.YAMLError as exc:
        raise yaml_file.FileError(
            path, *yaml_problems.parser_problem(exc)
        ) from exc
    except json.JSONDecodeError as exc:
        raise yaml_file.FileError(
            path, exc.lineno, f'not JSON: {exc.msg}; correct it here'
        ) from exc
    except UnicodeDecodeError:
        yaml_file.read_text(path, named=True)  # this names the line
        raise


def _check_shape(path: str, data: typing.Any, cloud: str) -> None:
    """Refuse a file in which a part that must be a mapping is none.

    :raises errors.ConfigError: a part of the file has the wrong type
    """
    if not data:
        return  # an empty file has no cloud
    place: list[str] = []
    for step in _PLACES:
        if not isinstance(data, Mapping):
            break
        key = step or cloud
        if key not in data:
            return
        place.append(key)
        data = data[key]
    if not isinstance(data, Mapping):
        raise _no_mapping(path, place, data)


def _no_mapping(
    path: str, place: list[str], data: typing.Any
) -> errors.ConfigError:
    problem = (
        f'{yaml_problems.place(place)}{yaml_problems.shown(data)} is wrong '
        'here; write a mapping: lines of "name: value", indented alike'
    )
    if path.endswith('json'):
        return errors.ConfigError(f'{path}: {problem}')
    return yaml_file.read(path, {}, named=True).error(problem, *place)
