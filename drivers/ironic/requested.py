# SPDX-License-Identifier: Apache-2.0
"""Requested traits to a node of Ironic and back: one read, then one patch.

What is to be written is ``staging.py``'s; the driver calls this with its API.
After the patch nothing is read again, unless Ironic refuses it.
"""

import typing
from collections.abc import Callable, Mapping, Sequence

from compute_agent import errors, extra_specs
from compute_agent.tree import names
from compute_agent.virt import requested

from . import node as ironic
from . import plain, staging

_Compute = Callable[[staging.Target], staging.Change]


class Api(typing.Protocol):
    """What is needed of Ironic."""

    def node(
        self, ident: str, fields: Sequence[str]
    ) -> Mapping[str, typing.Any] | None:
        """Return these fields of the node; None if Ironic has no such node."""
        ...

    def patch(self, uuid: str, patch: Sequence[Mapping[str, object]]) -> None:
        """Send a JSON patch of the node."""
        ...


def stage(
    api: Api,
    node: str,
    wanted: extra_specs.ExtraSpecs,
    instance_uuid: str | None = None,
    *,
    dry_run: bool = False,
) -> requested.Staging:
    """Hand the node what the request requires of it; repeatable.

    :param node: a name or a uuid
    :param instance_uuid: the instance that holds the node, if one does
    :raises errors.Unavailable: whether it was done is not known: do it again
    :raises errors.UnknownState: the same
    :raises errors.AgentError: nothing was changed, as far as is known
    """
    instance = _instance(instance_uuid)
    return _carry_out(
        api,
        node,
        lambda target: staging.stage(target, wanted, instance),
        dry_run=dry_run,
    )


def unstage(
    api: Api,
    node: str,
    instance_uuid: str | None = None,
    *,
    dry_run: bool = False,
) -> requested.Staging:
    """Take back exactly what was staged; done if nothing was.

    :raises errors.AgentError: as ``stage`` does
    """
    instance = _instance(instance_uuid)
    return _carry_out(
        api,
        node,
        lambda target: staging.unstage(target, instance),
        dry_run=dry_run,
    )


def _carry_out(
    api: Api, node: str, compute: _Compute, *, dry_run: bool
) -> requested.Staging:
    target = _read(api, node)
    change = compute(target)
    if change.patch and not dry_run:
        try:
            api.patch(target.ident, change.patch)
        except errors.Refused:
            if not _is_done(api, target.ident, compute):
                raise
    return change.staging


def _is_done(api: Api, ident: str, compute: _Compute) -> bool:
    """Whether nothing is left to do, though the patch was refused.

    A patch that was carried out, but whose answer was lost, is sent again from
    below, and what is removed already cannot be removed.
    """
    try:
        return not compute(_read(api, ident)).patch
    except errors.AgentError:
        return False


def _read(api: Api, node: str) -> staging.Target:
    """Return the node.

    :raises errors.DriverError: Ironic has none of this name or uuid
    :raises errors.UnknownState: the answer is not that node
    """
    for ident in ironic.spellings(node) if node else ():
        row = api.node(ident, staging.FIELDS)
        if row is not None:
            break
    else:
        raise errors.DriverError(
            f'Ironic has no node {node!r}, or does not show it: give a name '
            'or a uuid as "baremetal node list" has them'
        )
    try:
        target = staging.Target.from_row(row)
    except errors.UnknownState as exc:
        raise errors.UnknownState(f'Ironic answered {exc}') from exc
    if ident.lower() not in (target.ident.lower(), target.node.called.lower()):
        raise errors.UnknownState(
            f'Ironic was asked for node {plain.shown(node)} and answered '
            f'{target.node}'
        )
    return target


def _instance(uuid: str | None) -> str | None:
    return None if uuid is None else names.check_uuid(uuid, 'instance')
