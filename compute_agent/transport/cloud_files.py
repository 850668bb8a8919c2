# SPDX-License-Identifier: Apache-2.0
"""The mistakes in ``clouds.yaml`` and ``secure.yaml``, each with its line.

openstacksdk skips a file that it cannot parse, and takes the next one: then a
cloud seems to be missing, or is that of another file. So the files are looked
at before openstacksdk reads them, in its order, up to the first that counts.
"""

import json
import os
import pathlib
import typing
from collections.abc import Iterable, Mapping

from .. import errors, yaml_file, yaml_problems

_PLACES = ('clouds', '', 'auth')  # the second one is the name of the cloud


def check(cloud: str) -> None:
    """Refuse files in which openstacksdk would not find a cloud.

    :param cloud: its name, '' for none
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
            continue  # openstacksdk goes on, too
        _check_shape(path, data, cloud)
        return


def _parsed(path: str) -> typing.Any:
    """Return the content of a file.

    :raises OSError: it cannot be opened
    :raises errors.ConfigError: it is not YAML or JSON
    """
    import yaml  # noqa: PLC0415 (slow)

    try:
        with pathlib.Path(path).open(encoding='utf-8') as file:
            if path.endswith('json'):
                return json.load(file)
            return yaml.safe_load(file)
    except yaml.YAMLError as exc:
        raise yaml_file.FileError(path, *yaml_problems.of_parser(exc)) from exc
    except json.JSONDecodeError as exc:
        raise yaml_file.FileError(
            path, exc.lineno, f'not JSON: {exc.msg}; correct it here'
        ) from exc
    except UnicodeDecodeError:
        yaml_file.read_text(path)  # this names the line
        raise


def _check_shape(path: str, data: typing.Any, cloud: str) -> None:
    """Refuse a file in which a part that must be a mapping is none.

    :raises errors.ConfigError: there is such a part
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
    return yaml_file.read(path, {}).error(problem, *place)
