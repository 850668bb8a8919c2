# SPDX-License-Identifier: Apache-2.0
"""A cloud of ``clouds.yaml`` or of OS_* variables, and keystoneauth's options.

openstacksdk finds and reads it. It skips a file that it cannot parse, and takes
the next one: then a cloud seems to be missing, or is that of another file. So
the files are checked first, up to the first that counts; a mistake has its line.
``clouds.py`` imports this module if a cloud's account counts, because the import
is slow. Nothing is sent.
"""

import dataclasses
import json
import os
import typing
from collections.abc import Iterable, Mapping

import yaml
from keystoneauth1 import loading
from openstack.config import cloud_region, loader
from oslo_config import cfg

from .. import error_text, errors, file_trust, yaml_file, yaml_problems

_PLACES = ('clouds', '', 'auth')  # the second key is the cloud's name
# The names that openstacksdk uses where no file gives a name.
_UNNAMED = ('defaults', 'envvars')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """A cloud with its region.

    :ivar name: empty for the account of the environment
    :ivar file: empty if it is not known
    """

    region: cloud_region.CloudRegion
    name: str
    file: str = ''

    def options(self, service: str) -> tuple[list[cfg.Opt], dict[str, object]]:
        """Return the options of its authentication, and all values.

        :param service: the type of the service that is asked
        """
        config = self.region.config
        kind = str(config['auth_type'])
        account = config.get('auth') or {}
        plugin = loading.get_auth_plugin_conf_options(kind)
        values = {
            **{opt.dest: account.get(opt.dest) for opt in plugin},
            **_session_values(self.region),
            **_endpoint_values(self.region, service),
            'auth_type': kind,
            'auth_section': None,
        }
        return [*loading.get_auth_common_conf_options(), *plugin], values


def lent(region: cloud_region.CloudRegion) -> Cloud:
    """Return a cloud that OpenStack's client found."""
    name = region.name or ''
    return Cloud(region=region, name='' if name in _UNNAMED else name)


def find(name: str | None) -> Cloud:
    """Return a cloud of the files; the environment's for None.

    :raises errors.ConfigError: the cloud is not known, or not complete
    """
    if name and name != os.environ.get('OS_CLOUD_NAME', 'envvars'):
        _check_files(name)
    clouds = _clouds()
    found = _region(clouds, name)
    if found.name == clouds.envvar_key:
        return Cloud(region=found, name='')
    return Cloud(
        region=found, name=found.name, file=clouds.config_filename or ''
    )


def _clouds() -> loader.OpenStackConfig:
    try:
        return loader.OpenStackConfig()
    except Exception as exc:
        _check_files('')  # that error names the line
        raise errors.ConfigError(
            f'clouds.yaml cannot be used: {error_text.one_line(exc)}'
        ) from exc


def _region(
    clouds: loader.OpenStackConfig, name: str | None
) -> cloud_region.CloudRegion:
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


def _region_asked(name: str, clouds: loader.OpenStackConfig) -> str:
    """Return OS_REGION_NAME if the environment chose the cloud, too."""
    is_chosen = name in {os.environ.get('OS_CLOUD'), clouds.envvar_key}
    return os.environ.get('OS_REGION_NAME', '') if is_chosen else ''


def _unknown(name: str, clouds: loader.OpenStackConfig) -> str:
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


def _session_values(found: cloud_region.CloudRegion) -> dict[str, object]:
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
    found: cloud_region.CloudRegion, service: str
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


# --- mistakes in clouds.yaml and secure.yaml, each with its line ---------------


def _check_files(cloud: str) -> None:
    """Refuse files in which openstacksdk would not find a cloud.

    :param cloud: the name of the cloud; '' if none is named
    :raises errors.ConfigError: a file cannot be parsed, or what belongs to
        the cloud is no mapping
    """
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
