# SPDX-License-Identifier: Apache-2.0
"""The answers of drivers about their nodes, checked where they come in.

Pure: no I/O, configuration, logging or clock. An answer of a wrong type would
otherwise count as something else: a text as a list of its letters, a boolean
as "I cannot tell". Each function returns the answer, or raises a line that
names the driver's class and method, and says what to return instead. The list
of nodes and ``drivers.py`` call it.
"""

import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .. import error_text, errors
from ..tree import names
from .driver import Existence

MOST_METRICS = 100
_METRIC = re.compile(r'[a-z][a-z0-9_]{0,62}')
_RESOURCES = ('vcpus', 'memory_mb', 'local_gb')


def node_names(driver: str, answer: object) -> list[str]:
    """Return the names of ``get_available_nodes``.

    :param driver: the name of its class
    :raises errors.DriverError: these are no names
    """
    call = 'get_available_nodes()'
    if isinstance(answer, str):
        _refuse(driver, call, answer, f'give a list of names, [{answer!r}]')
    if not isinstance(answer, Iterable):
        _refuse(driver, call, answer, 'give a list of names, [] for no node')
    listed = list(answer)
    for name in listed:
        if not isinstance(name, str) or not name:
            advice = 'give the name of each node as a text'
            _refuse(driver, call, name, advice, 'among the nodes')
    return listed


def names_by_uuid(driver: str, answer: object) -> Mapping[str, str]:
    """Return the mapping of ``get_nodenames_by_uuid``.

    :raises errors.DriverError: the answer is no mapping, or maps names to
        uuids
    """
    call = 'get_nodenames_by_uuid()'
    for key, name in _pairs(driver, call, answer, 'uuid → node name'):
        if names.is_uuid(name) and not names.is_uuid(key):
            advice = f'give uuid → node name: {{{name!r}: {key!r}}}'
            _refuse(driver, call, f'{key} → {name}', advice)
        if not isinstance(key, (str, uuid.UUID)):
            _refuse(driver, call, key, 'give uuid → node name', 'as a uuid')
        if not isinstance(name, str) or not name:
            _refuse(driver, call, name, 'give uuid → node name', 'as a name')
    return dict(answer)  # type: ignore[call-overload, no-any-return]


def texts(driver: str, call: str, answer: object) -> Mapping[str, str]:
    """Return the mapping of ``get_titles`` or ``get_hypervisor_hostnames``.

    :param call: the method
    :raises errors.DriverError: the answer is no mapping of texts
    """
    call = f'{call}()'
    for key, text in _pairs(driver, call, answer, 'node name → text'):
        for one in (key, text):
            if not isinstance(one, str):
                advice = 'give node name → text, each of them a string'
                _refuse(driver, call, one, advice)
    return dict(answer)  # type: ignore[call-overload, no-any-return]


def existence(driver: str, answer: object) -> Existence:
    """Return the answer of ``node_exists``.

    :raises errors.DriverError: the answer is no ``Existence``
    """
    if isinstance(answer, Existence):
        return answer
    meant = {True: 'Existence.YES', False: 'Existence.NO'}
    known = meant[answer] if isinstance(answer, bool) else 'an Existence'
    advice = f'give {known}, or Existence.UNKNOWN if the driver cannot tell'
    return _refuse(driver, 'node_exists()', answer, advice)


def node_filter(driver: str, answer: object) -> Mapping[str, str] | None:
    """Return the options of ``node_filter``.

    :raises errors.DriverError: the options are no mapping
    """
    if answer is None:
        return None
    if not isinstance(answer, Mapping):
        advice = "give option → value, such as {'shard': 'rack1'}"
        _refuse(driver, 'node_filter', answer, advice)
    return {str(key): str(value) for key, value in answer.items()}


def available_resource(driver: str, answer: object) -> Mapping[str, Any]:
    """Return the resources of ``get_available_resource``.

    :raises errors.DriverError: the resources are no mapping, or an amount is
        no number
    """
    call = 'get_available_resource()'
    advice = 'give vcpus, memory_mb and local_gb as whole numbers'
    if not isinstance(answer, Mapping):
        _refuse(driver, call, answer, advice)
    for key in _RESOURCES:
        amount = answer.get(key, 0)
        if isinstance(amount, bool) or not isinstance(amount, int):
            _refuse(driver, call, amount, advice, f'as {key}')
    return answer


def trait_names(driver: str, answer: object) -> frozenset[str]:
    """Return the names of ``get_traits``.

    :raises errors.DriverError: the names are no collection of traits
    """
    try:
        return names.check_traits(answer)  # type: ignore[arg-type]
    except errors.InvalidName as exc:
        raise errors.DriverError(f'{driver}: get_traits(): {exc}') from exc


def metrics(driver: str, answer: object) -> Mapping[str, float]:
    """Return the numbers of ``metrics``.

    :raises errors.DriverError: the metrics are no mapping, too many, or no
        numbers
    """
    call = 'metrics()'
    advice = (
        f'give at most {MOST_METRICS} numbers by names of small letters, '
        'digits and underscores'
    )
    pairs = list(_pairs(driver, call, answer, 'name → number'))
    if len(pairs) > MOST_METRICS:
        _refuse(driver, call, len(pairs), advice, 'numbers')
    for name, value in pairs:
        if not isinstance(name, str) or not _METRIC.fullmatch(name):
            _refuse(driver, call, name, advice, 'as a name')
        is_number = isinstance(value, (int, float))
        if not is_number or isinstance(value, bool):
            _refuse(driver, call, value, advice, f'as {name}')
    return dict(answer)  # type: ignore[call-overload, no-any-return]


def _pairs(
    driver: str, call: str, answer: object, shape: str
) -> Iterable[tuple[object, object]]:
    if not isinstance(answer, Mapping):
        _refuse(driver, call, answer, f'give a mapping, {shape}')
    return answer.items()


def _refuse(
    driver: str, call: str, answer: object, advice: str, part: str = ''
) -> NoReturn:
    shown = error_text.excerpt(answer)
    where = f' {part}' if part else ''
    raise errors.DriverError(
        f'{driver}: {call} returned {shown}{where}: {advice}'
    )
