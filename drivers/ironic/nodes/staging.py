# SPDX-License-Identifier: Apache-2.0
"""The patch and the report for staging a request on a node.

Pure: it turns a node as Ironic's API returns it into one JSON patch and a
report. ``instance_info.py`` reads and writes the fields; ``requested.py``
reads the node and sends the patch.
"""

import dataclasses
import json
from collections.abc import Collection
from typing import Self

from oslo_utils import strutils

from compute_agent import error_text, errors, extra_specs
from compute_agent.tree import names
from compute_agent.virt.values import requested

from . import instance_info, node
from . import node as ironic
from . import node as node_traits

SERVICE = 'Ironic'
FIELDS = (*ironic.FIELDS, 'instance_info')


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The node of the request, with its instance_info."""

    node: ironic.Node
    info: instance_info.InstanceInfo

    @property
    def ident(self) -> str:
        """The node's uuid as Ironic spells it."""
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
                f'node {node} with invalid instance_info '
                f'{error_text.excerpt(fields)}'
            )
        info = instance_info.InstanceInfo(
            node=str(node), ident=node.ident, fields=fields
        )
        return cls(node=node, info=info)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The JSON patch of a node, empty if nothing has to be sent, and the report."""

    patch: tuple[instance_info.Operation, ...]
    staging: requested.Staging


def stage(
    target: Target,
    wanted: extra_specs.ExtraSpecs,
    instance_uuid: str | None = None,
    elsewhere: Collection[str] | None = None,
) -> Change:
    """Return the change that hands the request's requirements to the node.

    The same patch takes back the staged values of another request.

    :param elsewhere: the traits that other sources than Ironic and this driver
        give the node in placement; None if anybody may give it more
    :raises errors.Refused: the node is not available or does not satisfy the
        request, Ironic would refuse the traits that others requested, or a
        field of its instance_info could not be kept
    """
    _check_free(target, instance_uuid)
    _check_forbidden(target, wanted)
    if elsewhere is not None:
        _check_required(target, wanted, elsewhere)
    _check_visible(wanted)
    sent = tuple(t for t in wanted.required if t in target.node.traits)
    after = target.info.with_staged(
        {
            instance_info.TRAITS: dict.fromkeys(sent),
            instance_info.CAPABILITIES: dict(wanted.capabilities),
        }
    )
    kept = tuple(t for t in target.info.traits(after) if t not in sent)
    _check_kept(target, kept)
    patch = target.info.patch(after)
    staging = _report_of_stage(target, wanted, sent, changed=bool(patch))
    staging = dataclasses.replace(staging, kept=kept)
    return Change(patch=patch, staging=staging)


def unstage(target: Target, instance_uuid: str | None = None) -> Change:
    """Return the change that takes back exactly what was staged.

    The node may be in any state, but must not have another instance.

    :raises errors.Refused: it has another instance, or a field of its
        instance_info could not be kept
    """
    if target.info.record() is not None:
        _check_instance(target, instance_uuid)
    patch = target.info.patch(target.info.without_staged())
    staging = _report_of_unstage(target, changed=bool(patch))
    return Change(patch=patch, staging=staging)


def _check_free(target: Target, instance_uuid: str | None) -> None:
    """Refuse a node that is not available, except to its own instance."""
    _check_instance(target, instance_uuid)
    why = node.why_reserved(target.node, skip_in_use=True)
    if why is not None and instance_uuid is None:
        raise errors.Refused(f'node {target.node} is not available: {why}')


def _check_instance(target: Target, instance_uuid: str | None) -> None:
    """Refuse a node that does not have exactly the given instance."""
    has = (target.node.instance_uuid or '').lower()
    if has == (instance_uuid or ''):
        return
    has = error_text.printable(has)
    if not has:
        how = f'no instance, so it does not have {instance_uuid}'
    elif instance_uuid is None:
        how = f'the instance {has}: add --instance {has} if you mean it'
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


def _check_required(
    target: Target, wanted: extra_specs.ExtraSpecs, elsewhere: Collection[str]
) -> None:
    """Refuse a trait that the node has nowhere, so that none would be kept."""
    reported = node_traits.reported(target.node)
    has = reported.union(names.AGENT_TRAITS, elsewhere)
    lacks = [
        trait
        for trait in wanted.required
        # Other projects' OWNER_ traits stay in placement.
        if trait not in has and not trait.startswith(names.OWNER_PREFIX)
    ]
    if lacks:
        raise errors.Refused(
            f'node {target.node} does not satisfy the request, which requires '
            f'{", ".join(lacks)}: neither Ironic nor the driver has this of '
            'the node, and nothing was changed; add it in Ironic ("baremetal '
            f'node add trait {target.ident} {" ".join(lacks)}"), or correct '
            'the request'
        )


def _check_kept(target: Target, kept: Collection[str]) -> None:
    """Refuse a node that Ironic would refuse to deploy because of others' names.

    Ironic's validation wants each requested trait to be one of the node's.
    """
    lacks = [
        error_text.printable(t) for t in kept if t not in target.node.traits
    ]
    if lacks:
        raise errors.Refused(
            f'node {target.node}: instance_info/traits has '
            f'{", ".join(lacks)}, set by another program and no trait of the '
            'node in Ironic, so Ironic would refuse to deploy the node, and '
            'nothing was changed; correct the list ("baremetal node set '
            f'{target.ident} --instance-info traits=..."), or add the trait '
            f'("baremetal node add trait {target.ident} ...")'
        )


def _check_visible(wanted: extra_specs.ExtraSpecs) -> None:
    """Refuse capabilities that could not be read back and removed."""
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
        ignored=tuple(map(str, wanted.others)),
        notes=_notes(target.info),
    )


def _report_of_unstage(target: Target, *, changed: bool) -> requested.Staging:
    staged = target.info.unchanged()
    capabilities = staged.get(instance_info.CAPABILITIES, {})
    return requested.Staging(
        service=SERVICE,
        uuid=target.node.uuid,
        name=_name(target),
        summary='taken back' if changed else 'nothing was staged',
        changed=changed,
        traits=tuple(
            map(error_text.printable, staged.get(instance_info.TRAITS, ()))
        ),
        capabilities=tuple(
            (error_text.printable(k), error_text.printable(str(v)))
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
    """Return a sentence for each capability that was changed since."""
    return tuple(
        error_text.printable(
            f'capability {name} was staged as {staged} and is now {now}: it '
            'stays'
        )
        for name, (staged, now) in info.changed().items()
    )
