# SPDX-License-Identifier: Apache-2.0
"""Requested traits to a node of Ironic and back: one read, then one patch.

What is to be written is ``staging.py``'s; the driver calls this with its API.
After the patch nothing is read again.
"""

import typing
from collections.abc import Mapping, Sequence

from compute_agent import errors, extra_specs, names
from compute_agent.virt import requested

from . import node as ironic
from . import staging


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
    :raises errors.AgentError: nothing was changed, as far as is known
    """
    target = _read(api, node)
    change = staging.stage(target, wanted, _instance(instance_uuid))
    if change.patch and not dry_run:
        api.patch(target.ident, change.patch)
    return change.staging


def unstage(
    api: Api,
    node: str,
    instance_uuid: str | None = None,
    *,
    dry_run: bool = False,
) -> requested.Staging:
    """Take back exactly what was staged; done if nothing was.

    :raises errors.AgentError: nothing was changed, as far as is known
    """
    target = _read(api, node)
    change = staging.unstage(target, _instance(instance_uuid))
    if change.patch and not dry_run:
        api.patch(target.ident, change.patch)
    return change.staging


def _read(api: Api, node: str) -> staging.Target:
    """Return the node.

    :raises errors.DriverError: Ironic has none of this name or uuid
    :raises errors.UnknownState: the answer is not that node
    """
    for ident in _idents(node):
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
            f'Ironic was asked for node {node} and answered {target.node}'
        )
    return target


def _idents(node: str) -> tuple[str, ...]:
    """Return what to ask for: Ironic may spell a uuid in its own way."""
    if not names.is_uuid(node):
        return (node,) if node else ()
    return tuple(dict.fromkeys((node, *ironic.spellings(node.lower()))))


def _instance(uuid: str | None) -> str | None:
    return None if uuid is None else names.check_uuid(uuid, 'instance')
