# SPDX-License-Identifier: Apache-2.0
"""``sync --yes`` beside a daemon: approve the changes that it holds back.

The daemon holds the lock of the state directory, so the command cannot run a
cycle. It plans one, shows the removals and the first writes that wait for a
person, asks, and writes an approval of exactly these into the state database.
The daemon uses it in its next cycle.
"""

import contextlib
import getpass
import os
import time
import typing
from collections.abc import Collection

from ..app import command, confirm
from ..plan import plan_view

if typing.TYPE_CHECKING:
    from ..wiring.agent import NodeResult

_APPROVED = (
    'approved: the daemon makes exactly these changes in its next cycle, which '
    'SIGHUP starts at once; the approval of removals covers no others, that of '
    'a first write no other provider; it expires after a day'
)
_ALREADY = (
    'nothing more waits for confirmation; what was approved before is made in '
    "the daemon's next cycle, which SIGHUP starts at once"
)


def approve(
    asking: command.AgentCommand, in_use: str, only: Collection[str]
) -> tuple[typing.Any, str | None, int]:
    """Show what is held back, ask, and record the approval.

    :param in_use: the process that uses the state directory, for a message
    :param only: the names, uuids or titles of the nodes whose changes are
        approved; empty for all nodes
    """
    from ...state import state  # noqa: PLC0415 (quick --help)
    from ...tree import node  # noqa: PLC0415
    from ..app import progress  # noqa: PLC0415
    from ..wiring import agent_settings  # noqa: PLC0415
    from ..wiring.agent import open_agent  # noqa: PLC0415

    conf = asking.conf()
    with (
        open_agent(conf, read_only=True) as agent,
        progress.bar(asking.app.stderr, 'nodes') as advance,
    ):
        # Limits hold back a mass of all nodes, so all of them are planned.
        results = agent.tracker.plan(advance)
    chosen = node.selected([r.node for r in results], only)
    results = [r for r in results if r.node in chosen]
    held = [r for r in results if r.held]
    if not held and any(r.approved for r in results):
        return [], _ALREADY, 0
    if not held:
        return [], f'nothing waits for confirmation; {in_use}', 0
    shown = plan_view.text(held, every=True) or ''
    stdin = asking.app.stdin
    asks = stdin is not None and stdin.isatty()
    refused = confirm.refused(asking, shown.split('\n'), yes=not asks)
    if refused:
        return [], *refused
    directory = agent_settings.state_path(conf)
    with contextlib.closing(state.State.open_beside(directory)) as beside:
        beside.approvals.grant(
            {subject for result in held for subject in result.held},
            now=time.time(),
            who=_person(),
        )
    text = _APPROVED if asks else f'{shown}\n{_APPROVED}'
    return [_data(result) for result in held], text, 0


def _person() -> str:
    """Return the name of the person, as far as the system tells it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = f'user {os.getuid()}'
    sudo = os.environ.get('SUDO_USER')
    return f'{sudo} (as {user})' if sudo and sudo != user else user


def _data(result: 'NodeResult') -> dict[str, typing.Any]:
    from report_client.plan import render  # noqa: PLC0415 (quick --help)

    return {
        'node': result.node.called,
        'uuid': result.node.uuid,
        'approved': [
            render.operation_data(op)
            for op in (result.plan.operations if result.plan else ())
        ],
    }
