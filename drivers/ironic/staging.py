# SPDX-License-Identifier: Apache-2.0
"""Whether a node is told what a request requires of it, and what is reported.

Pure: from a node as Ironic's API gives it to one JSON patch and a report.
``instance_info.py`` knows what stands there and how it is written,
``requested.py`` reads the node and sends the patch.
"""

import dataclasses
import json
from typing import Self

from oslo_utils import strutils

from compute_agent import error_text, errors, extra_specs
from compute_agent.virt import requested

from . import instance_info, inventory, plain
from . import node as ironic

SERVICE = 'Ironic'
FIELDS = (*ironic.FIELDS, 'instance_info')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The node that is told, with what it has been told already."""

    node: ironic.Node
    info: instance_info.InstanceInfo

    @property
    def ident(self) -> str:
        """Its uuid as Ironic spells it."""
        return self.info.ident

    @classmethod
    def from_row(cls, row: ironic.Row) -> Self:
        """Return the node of this row.

        :raises errors.UnknownState: a field is missing, or of another type
        """
        node = ironic.Node.from_row(row)
        fields = row.get('instance_info')
        if not isinstance(fields, dict):
            raise errors.UnknownState(
                f'node {node} with instance_info {error_text.excerpt(fields)}, which is none'
            )
        info = instance_info.InstanceInfo(
            node=str(node), ident=node.ident, fields=fields
        )
        return cls(node=node, info=info)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One JSON patch, empty if there is nothing to send, and the report."""

    patch: tuple[instance_info.Operation, ...]
    staging: requested.Staging


def stage(
    target: Target,
    wanted: extra_specs.ExtraSpecs,
    instance_uuid: str | None = None,
) -> Change:
    """Return how the node is told what the request requires of it.

    What was staged for another request is taken back in the same patch.

    :raises errors.Refused: the node is not free for the request or does not
        fit it, or what stands in its instance_info could not be kept
    """
    _check_free(target, instance_uuid)
    _check_forbidden(target, wanted)
    _check_visible(wanted)
    sent = tuple(t for t in wanted.required if t in target.node.traits)
    after = target.info.with_staged(
        {
            instance_info.TRAITS: dict.fromkeys(sent),
            instance_info.CAPABILITIES: dict(wanted.capabilities),
        }
    )
    patch = target.info.patch(after)
    staging = _report_of_stage(target, wanted, sent, changed=bool(patch))
    return Change(patch=patch, staging=staging)


def unstage(target: Target, instance_uuid: str | None = None) -> Change:
    """Return how exactly what was staged is taken back.

    The node may be in any state, but must not be another instance's.

    :raises errors.Refused: it is, or what stands in its instance_info could
        not be kept
    """
    if target.info.record() is not None:
        _check_instance(target, instance_uuid)
    patch = target.info.patch(target.info.without_staged())
    staging = _report_of_unstage(target, changed=bool(patch))
    return Change(patch=patch, staging=staging)


def _check_free(target: Target, instance_uuid: str | None) -> None:
    """Refuse a node that is not available; its own instance may hold it."""
    _check_instance(target, instance_uuid)
    why = inventory.why_reserved(target.node, skip_in_use=True)
    if why is not None and instance_uuid is None:
        raise errors.Refused(f'node {target.node} is not available: {why}')


def _check_instance(target: Target, instance_uuid: str | None) -> None:
    """Refuse a node that another has, or that is not the one meant."""
    has = (target.node.instance_uuid or '').lower()
    if has == (instance_uuid or ''):
        return
    has = plain.shown(has)
    if not has:
        how = f'no instance, so not {instance_uuid} either'
    elif instance_uuid is None:
        how = f'the instance {has}: say --instance {has} if that is meant'
    else:
        how = f'the instance {has}, not {instance_uuid}'
    raise errors.Refused(f'node {target.node} has {how}')


def _check_forbidden(target: Target, wanted: extra_specs.ExtraSpecs) -> None:
    has = [t for t in wanted.forbidden if t in target.node.traits]
    if has:
        raise errors.Refused(
            f'node {target.node} does not satisfy the request, which forbids '
            f'{", ".join(has)}'
        )


def _check_visible(wanted: extra_specs.ExtraSpecs) -> None:
    """Refuse what could not be read again, and so not be taken back."""
    hidden = instance_info.HIDDEN
    for name, value in wanted.capabilities:
        both = {'object': {name: value}, 'text': json.dumps({name: value})}
        if strutils.mask_dict_password(both, hidden) != both:
            raise errors.Refused(
                f'capability {name} looks like a secret to Ironic, which '
                f'shows {hidden} in its place: it could not be taken back; '
                'set it with Ironic itself'
            )


def _report_of_stage(
    target: Target,
    wanted: extra_specs.ExtraSpecs,
    sent: tuple[str, ...],
    *,
    changed: bool,
) -> requested.Staging:
    return requested.Staging(
        service=SERVICE,
        uuid=target.node.uuid,
        name=_name(target),
        summary=_summary(
            target.info,
            asked=bool(sent or wanted.capabilities),
            changed=changed,
        ),
        changed=changed,
        traits=sent,
        placement_only=tuple(t for t in wanted.required if t not in sent),
        capabilities=wanted.capabilities,
        ignored=tuple(str(one) for one in wanted.others),
        notes=_notes(target.info),
    )


def _report_of_unstage(target: Target, *, changed: bool) -> requested.Staging:
    standing = target.info.standing()
    capabilities = standing.get(instance_info.CAPABILITIES, {})
    return requested.Staging(
        service=SERVICE,
        uuid=target.node.uuid,
        name=_name(target),
        summary='taken back' if changed else 'nothing was staged',
        changed=changed,
        traits=tuple(map(plain.shown, standing.get(instance_info.TRAITS, ()))),
        capabilities=tuple(
            (plain.shown(k), plain.shown(str(v)))
            for k, v in capabilities.items()
        ),
        notes=_notes(target.info),
    )


def _name(target: Target) -> str | None:
    return target.node.called if target.node.name else None


def _summary(
    info: instance_info.InstanceInfo, *, asked: bool, changed: bool
) -> str:
    if asked and changed:
        return 'staged'
    if asked:
        if info.record() is None:
            return 'already there, and not staged by this agent'
        return 'already staged'
    if changed:
        return 'nothing to stage; what was staged before is taken back'
    return 'nothing to stage'


def _notes(info: instance_info.InstanceInfo) -> tuple[str, ...]:
    """Return a sentence for each capability that is not as it was staged."""
    return tuple(
        plain.shown(
            f'capability {name} was staged as {staged} and is {now} now: it '
            'stays'
        )
        for name, (staged, now) in info.changed().items()
    )
