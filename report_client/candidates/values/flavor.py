# SPDX-License-Identifier: Apache-2.0
"""Turn a flavor into the groups of a request for candidates.

Pure: no I/O, configuration, logging or clock. ``resources:RC``,
``trait:NAME`` and ``group_policy`` mean the same as in nova, each for the
group that its key names. The flavor's own amounts count too, unless an extra
spec of the same class replaces them. Nova turns some other extra specs into
further requirements. They are not translated here; ``untranslated`` returns
them, so that a caller can say that nova would ask for more.
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
# Extra specs that nova translates (nova.scheduler.utils of nova 34), with the
# values that it translates; an empty tuple means all values. Image properties
# have "_" instead of ":".
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
    """Return the groups of the request that the extra specs describe.

    :param own: the amounts of the flavor itself, by resource class
    :raises errors.ConfigError: an amount is not a whole number, or a key is
        misspelt
    :raises errors.InvalidName: a name is outside the grammar
    """
    amounts = dict(_amounts(wanted))
    replaced = {rc for _, rc in amounts}
    if os_resource_classes.PCPU in replaced:
        replaced.add(os_resource_classes.VCPU)
    for rc, amount in (own or {}).items():
        if rc not in replaced:
            amounts['', rc] = amount
    return query.merge_groups(
        [
            *(
                Group(name=group, resources={rc: amount})
                for (group, rc), amount in amounts.items()
                if amount
            ),
            *(_trait_group(trait) for trait in wanted.traits),
        ]
    )


def group_policy(wanted: extra_specs.ExtraSpecs) -> str | None:
    """Return the policy that the flavor sets, or None."""
    found = [p for p in wanted.others if p.key == GROUP_POLICY]
    return next((p.value for p in found if not p.of_image), None)


def untranslated(wanted: extra_specs.ExtraSpecs) -> list[str]:
    """Return the extra specs that nova translates and this module does not."""
    found = []
    for spec in wanted.others:
        key = spec.key.replace('_', ':', 1) if spec.of_image else spec.key
        if key in _TRANSLATED:
            values = _TRANSLATED[key]
            if not values or spec.value.lower() in values:
                found.append(str(spec))
    return found


def _amounts(
    wanted: extra_specs.ExtraSpecs,
) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield group, resource class and amount; an amount may be 0."""
    for spec in wanted.others:
        if spec.of_image:
            continue
        key = _RESOURCE_KEY.fullmatch(spec.key)
        if key is None:
            _check_key(spec.key)
            continue
        if not (spec.value.isascii() and spec.value.isdigit()):
            raise errors.ConfigError(
                f'{spec}: write a whole number after the "="'
            )
        rc = query.check_class(key['rc'])
        yield (key['group'] or '', rc), int(spec.value)


def _check_key(key: str) -> None:
    """Refuse a key that looks like a misspelling of a known key.

    :raises errors.ConfigError: the key is misspelt; the message has the right
        spelling
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


def _trait_group(trait: extra_specs.TraitRequest) -> Group:
    if trait.need is extra_specs.Need.REQUIRED:
        traits = TraitQuery(required=(trait.name,))
    else:
        traits = TraitQuery(forbidden=(trait.name,))
    return Group(name=trait.group, traits=traits)
