# SPDX-License-Identifier: Apache-2.0
"""A node's root that another writer deleted: to wait, or to create it again.

Pure: no I/O, configuration, logging or clock. Nova deletes the root provider
of a host whose service is deleted, so the operator may want the host gone.
``cycle/planning/node_planner.py`` asks before it describes a node; the state
database remembers the deleted roots.
"""

from collections.abc import Container

_WHAT = (
    'another writer deleted its root provider, which had the traits '
    'COMPUTE_NODE and OWNER_NOVA ("openstack compute service delete" does so)'
)
_NEXT = (
    f'{_WHAT}; the agent creates it again in its next cycle if it is still '
    'gone. To prevent that, set [compute_agent] recreate_roots = false and '
    'send SIGHUP to the daemon'
)
_NEVER = (
    f'{_WHAT}, and [compute_agent] recreate_roots is false, so nothing is '
    'created. To have it created again, set recreate_roots = true and send '
    'SIGHUP to the daemon; to give the host up, stop the agent there'
)


def reason_to_wait(
    uuid: str,
    *,
    lost: Container[str],
    lost_before: Container[str],
    recreates: bool,
) -> str:
    """Return the reason why an absent root is not created now, or ''.

    :param lost: the roots that other writers deleted
    :param lost_before: those among them that were gone in an earlier cycle
    :param recreates: True if the operator wants them created again
    """
    if uuid not in lost:
        return ''
    if not recreates:
        return _NEVER
    return '' if uuid in lost_before else _NEXT
