# SPDX-License-Identifier: Apache-2.0
"""Ask the running daemon for a cycle, and report the result as ``sync`` does.

``sync`` and ``approve`` call it.
"""

import pathlib
import typing

from ... import errors
from ..app import command
from . import client, protocol

Reported = tuple[typing.Any, str | None, int]


def cycle(
    asking: command.AgentCommand,
    folder: pathlib.Path,
    request: protocol.Request,
) -> Reported:
    """Return the data, the text and the exit code of a cycle of the daemon.

    :param request: ``CYCLE`` or ``APPROVE``
    :raises errors.AgentError: it was not asked for, or did not end
    """
    approved = ''
    try:
        for answer in client.ask(folder, request):
            data = answer.data
            if answer.kind is protocol.Kind.APPROVED:
                approved = f'approved: {data["changes"]} changes'
            elif answer.kind is protocol.Kind.REQUESTED:
                _say_what_runs(asking, data['running_since'])
            else:
                text = '\n'.join(filter(None, [approved, data['text']]))
                return data['results'], text, data['code']
    except errors.Unavailable as exc:
        if not approved:
            raise
        raise errors.Unavailable(
            f'{exc}; the changes are approved, and the next daemon makes them'
        ) from exc
    raise errors.Unavailable('the daemon told no result')


def _say_what_runs(
    asking: command.AgentCommand, running_since: str | None
) -> None:
    """Say why the answer takes longer than a cycle."""
    if running_since:
        asking.say(
            f'a cycle has run since {running_since}; the daemon begins the '
            'next one when it ends'
        )
