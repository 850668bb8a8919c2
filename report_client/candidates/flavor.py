# SPDX-License-Identifier: Apache-2.0
"""What a flavor asks placement for.

Pure: no I/O, configuration, logging or clock. ``resources:RC``,
``trait:NAME`` and ``group_policy`` are read as nova reads them, each in the
group that its key names; so are the flavor's own amounts, which an extra spec
of that class replaces. Other extra specs that nova turns into demands on
placement by itself are not: ``unread`` names them, so that nobody takes an
answer for nova's.
"""

import difflib
import re
from collections.abc import Iterator, Mapping

import os_resource_classes

from compute_agent import errors, extra_specs

from . import query
from .query import Group, TraitQuery

RESOURCES = 'resources'
GROUP_POLICY = 'group_policy'

_RESOURCE_KEY = re.compile(
    f'{RESOURCES}(?P<group>{extra_specs.SUFFIX})?:(?P<rc>.*)', re.DOTALL
)
_ALIKE = 0.85
_ANY: tuple[str, ...] = ()
# Nova's own translations (nova.scheduler.utils of nova 34), with the values
# that have one; none are all. An image spells them with "_" for ":".
_TRANSLATED = {
    'accel:device_profile': _ANY,
    'hw:cpu_policy': ('dedicated', 'mixed'),
    'hw:cpu_thread_policy': ('isolate', 'require'),
    'hw:firmware_stateless': _ANY,
    'hw:maxphysaddr_mode': _ANY,
    'hw:mem_encryption': _ANY,
    'hw:pci_numa_affinity_policy': ('socket',),
    'hw:pmem': _ANY,
    'hw:tpm_model': _ANY,
    'hw:tpm_version': _ANY,
    'os:secure_boot': ('required',),
    'pci_passthrough:alias': _ANY,
}


def groups(
    wanted: extra_specs.ExtraSpecs, own: Mapping[str, int] | None = None
) -> tuple[Group, ...]:
    """Return the groups of the request that is meant.

    :param own: the amounts of the flavor itself, by resource class
    :raises errors.ConfigError: an amount is none, or a key is misspelt
    :raises errors.InvalidName: a name is outside the grammar
    """
    amounts = dict(_amounts(wanted))
    replaced = {rc for _, rc in amounts}
    if os_resource_classes.PCPU in replaced:
        replaced.add(os_resource_classes.VCPU)
    for rc, amount in (own or {}).items():
        if rc not in replaced:
            amounts['', rc] = amount
    return query.merged(
        [
            *(
                Group(name=group, resources={rc: amount})
                for (group, rc), amount in amounts.items()
                if amount
            ),
            *(_of_trait(one) for one in wanted.traits),
        ]
    )


def group_policy(wanted: extra_specs.ExtraSpecs) -> str | None:
    """Return the policy that the flavor sets, if it does."""
    found = [p for p in wanted.others if p.key == GROUP_POLICY]
    return next((p.value for p in found if not p.of_image), None)


def unread(wanted: extra_specs.ExtraSpecs) -> list[str]:
    """Return what nova would ask for, and is not asked for here."""
    found = []
    for one in wanted.others:
        key = one.key.replace('_', ':', 1) if one.of_image else one.key
        if key in _TRANSLATED:
            values = _TRANSLATED[key]
            if not values or one.value.lower() in values:
                found.append(str(one))
    return found


def _amounts(
    wanted: extra_specs.ExtraSpecs,
) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield group, resource class and amount; an amount may be 0."""
    for one in wanted.others:
        if one.of_image:
            continue
        key = _RESOURCE_KEY.fullmatch(one.key)
        if key is None:
            _check_key(one.key)
            continue
        if not (one.value.isascii() and one.value.isdigit()):
            raise errors.ConfigError(
                f'{one}: write a whole number after the "="'
            )
        rc = query.check_class(key['rc'])
        yield (key['group'] or '', rc), int(one.value)


def _check_key(key: str) -> None:
    """Refuse a key that is nearly one of those read.

    :raises errors.ConfigError: it is, with the right spelling
    """
    family, colon, rest = key.partition(':')
    if colon and _is_like(family, RESOURCES):
        number = re.search(r'\d*$', family)
        group = number[0] if number else ''
        raise errors.ConfigError(
            f'{key}: did you mean {RESOURCES}{group}:{rest}?'
        )
    if key != GROUP_POLICY and _is_like(key, GROUP_POLICY):
        raise errors.ConfigError(f'{key}: did you mean {GROUP_POLICY}?')


def _is_like(text: str, word: str) -> bool:
    letters = re.sub(r'[^a-z]', '', text.lower())
    plain = re.sub(r'[^a-z]', '', word)
    return difflib.SequenceMatcher(None, letters, plain).ratio() > _ALIKE


def _of_trait(one: extra_specs.TraitRequest) -> Group:
    if one.need is extra_specs.Need.REQUIRED:
        return Group(name=one.group, traits=TraitQuery(required=(one.name,)))
    return Group(name=one.group, traits=TraitQuery(forbidden=(one.name,)))
