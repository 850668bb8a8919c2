# SPDX-License-Identifier: Apache-2.0
"""Stage a request on a node of Ironic, or take it back.

Each call takes one read and one patch. ``staging.py`` decides what the patch
contains. The node is read again only if Ironic refuses the patch.
``driver.py`` calls this with its API.
"""

from collections.abc import Callable, Collection

from compute_agent import error_text, errors, extra_specs
from compute_agent.tree import names
from compute_agent.virt.values import requested

from .client import api as client
from .nodes import node as ironic
from .nodes import staging

_Compute = Callable[[staging.Target], staging.Change]


def stage(
    api: client.Api,
    node: str,
    wanted: extra_specs.ExtraSpecs,
    instance_uuid: str | None = None,
    *,
    elsewhere: Collection[str] | None = None,
    dry_run: bool = False,
) -> requested.Staging:
    """Hand the request's requirements to the node.

    :param node: a name or a uuid
    :param instance_uuid: the instance on the node, if there is one
    :param elsewhere: the traits that other sources than Ironic and this driver
        give the node in placement; None if anybody may give it more
    :raises requested.Unconfirmed: it is unknown if the patch was applied;
        repeat the call
    :raises errors.AgentError: any other error; as far as is known, nothing
        was changed
    """
    instance = _instance(instance_uuid)
    return _carry_out(
        api,
        node,
        lambda target: staging.stage(target, wanted, instance, elsewhere),
        dry_run=dry_run,
    )


def unstage(
    api: client.Api,
    node: str,
    instance_uuid: str | None = None,
    *,
    dry_run: bool = False,
) -> requested.Staging:
    """Take back exactly what was staged; succeed if nothing was staged.

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
    api: client.Api, node: str, compute: _Compute, *, dry_run: bool
) -> requested.Staging:
    target = _read(api, node)
    change = compute(target)
    if change.patch and not dry_run:
        try:
            api.patch(target.ident, change.patch)
        except errors.Refused:
            if not _is_done(api, target.ident, compute):
                raise
        except (errors.Unavailable, errors.UnknownState) as exc:
            raise requested.Unconfirmed(
                f'{exc}; it is unknown if node {target.node} was changed: '
                'repeat the command',
                change.staging,
            ) from exc
    return change.staging


def _is_done(api: client.Api, ident: str, compute: _Compute) -> bool:
    """Return True if a refused patch had already been carried out.

    If the answer to a patch is lost, the connection sends it again. Ironic
    then refuses to remove a field that is already removed.
    """
    try:
        return not compute(_read(api, ident)).patch
    except errors.AgentError:
        return False


def _read(api: client.Api, node: str) -> staging.Target:
    """Return the node.

    :raises errors.DriverError: Ironic has no node of this name or uuid
    :raises errors.UnknownState: the answer is another node, or malformed
    """
    for ident in ironic.spellings(node) if node else ():
        row = api.node(ident, staging.FIELDS)
        if row is not None:
            break
    else:
        raise errors.DriverError(
            f'Ironic has no node {node!r}, or hides it: give a name or a '
            'uuid from "baremetal node list"'
        )
    try:
        target = staging.Target.from_row(row)
    except errors.UnknownState as exc:
        raise errors.UnknownState(f'Ironic answered {exc}') from exc
    if ident.lower() not in (target.ident.lower(), target.node.called.lower()):
        raise errors.UnknownState(
            f'Ironic was asked for node {error_text.printable(node)} and answered '
            f'{target.node}'
        )
    return target


def _instance(uuid: str | None) -> str | None:
    return None if uuid is None else names.check_uuid(uuid, 'instance')
