# SPDX-License-Identifier: Apache-2.0
"""Ask the running daemon for a cycle, and report the result as ``sync`` does.

``sync`` and ``approve`` call it. With a share, the daemon that reports may run on
another machine (``requests_of_share.py``). ``approve`` and ``waiting_changes``
also work without a daemon (``without_daemon.py``).
"""

import contextlib
import dataclasses
import typing
from collections.abc import Collection, Iterator

from oslo_config import cfg

from ... import errors
from ..app import command, progress
from ..plan import waiting
from ..wiring import agent_settings
from . import (
    client,
    daemon_data,
    protocol,
    requests_of_share,
    without_daemon,
)


def waiting_changes(
    asks: command.AgentCommand, conf: cfg.ConfigOpts, nodes: Collection[str]
) -> waiting.Data:
    """Return the list of the daemon, or of a plan if there is no daemon."""
    request = protocol.Request(
        command=protocol.Command.HELD, nodes=tuple(nodes)
    )
    try:
        *_, last = answers(asks, conf, request)
    except client.NoDaemon:
        return waiting.data(without_daemon.planned(asks, conf, nodes))
    return last.data


def approve(
    asks: command.AgentCommand,
    conf: cfg.ConfigOpts,
    nodes: Collection[str],
    digests: Collection[str] = (),
) -> command.Reported:
    """Approve changes, and have a cycle make them; return its results.

    :param nodes: the names, uuids or titles of the nodes whose changes may be
        approved; empty for all nodes
    :param digests: the digests of the changes; empty for all changes that wait
    :raises errors.AgentError: other changes wait now, or no cycle can be run
    """
    request = protocol.Request(
        command=protocol.Command.APPROVE,
        nodes=tuple(nodes),
        digests=tuple(digests),
        person=client.person(),
    )
    try:
        return cycle(asks, conf, request)
    except client.NoDaemon:
        return without_daemon.approve(asks, conf, nodes, digests)


def answers(
    asks: command.AgentCommand, conf: cfg.ConfigOpts, request: protocol.Request
) -> Iterator[protocol.Answer]:
    """Yield the answers of the daemon here, or of the holder of its share.

    :raises client.NoDaemon: no daemon runs here
    """
    if conf.compute_agent.state_connection and _is_elsewhere(conf):
        return requests_of_share.ask(conf, request, asks.say)
    return client.ask(agent_settings.state_path(conf), request)


def has_daemon(conf: cfg.ConfigOpts) -> bool:
    """Return True if a daemon runs here, or another agent holds its share.

    :raises errors.AgentError: it cannot be known
    """
    if _status(conf) is not None:
        return True
    return bool(conf.compute_agent.state_connection) and _is_held(conf)


def _is_elsewhere(conf: cfg.ConfigOpts) -> bool:
    """Return True if another agent than that of this machine holds the share.

    :raises errors.AgentError: it cannot be known
    """
    found = _status(conf)
    if found is None:
        return _is_held(conf)
    return bool((found['membership'] or {}).get('role') == 'standby')


def _status(conf: cfg.ConfigOpts) -> daemon_data.Data | None:
    """Return the status of the daemon here; None if there is none."""
    request = protocol.Request(command=protocol.Command.STATUS)
    try:
        return client.only(agent_settings.state_path(conf), request).data
    except client.NoDaemon:
        return None


def _is_held(conf: cfg.ConfigOpts) -> bool:
    """Return True if an agent holds the share, as its database says."""
    with requests_of_share.share_of(conf) as share:
        return bool(share.holder())


def cycle(
    asking: command.AgentCommand,
    conf: cfg.ConfigOpts,
    request: protocol.Request,
) -> command.Reported:
    """Return the data, the text and the exit code of a cycle of the daemon.

    :param request: ``CYCLE`` or ``APPROVE``
    :raises errors.AgentError: the daemon did not begin the cycle, or the cycle
        did not end
    """
    has_approved, said, result = False, '', None
    request = dataclasses.replace(request, progress=asking.app.stderr.isatty())
    try:
        with _Bars(asking.app.stderr) as bars:
            for answer in answers(asking, conf, request):
                data = answer.data
                if answer.kind is protocol.Kind.APPROVED:
                    has_approved = bool(data['changes'])
                    said = waiting.approved(data, shows=not request.digests)
                elif answer.kind is protocol.Kind.REQUESTED:
                    _say_what_runs(asking, data['running_since'])
                elif answer.kind is protocol.Kind.PROGRESS:
                    bars.show(data)
                else:
                    result = data
    except errors.Unavailable as exc:
        if not has_approved:
            raise
        raise errors.Unavailable(
            f'{exc}; the changes are approved, and the next daemon makes them'
        ) from exc
    if result is None:
        raise errors.Unavailable('the daemon told no result')
    for line in result['unmet']:
        asking.say(line)
    text = '\n'.join(filter(None, [said, result['text']]))
    return result['results'], text, result['code']


def _say_what_runs(
    asking: command.AgentCommand, running_since: str | None
) -> None:
    """Say why the answer takes longer than a cycle."""
    if running_since:
        asking.say(
            f'a cycle has run since {running_since}; the daemon begins the '
            'next one when it ends'
        )


class _Bars(contextlib.ExitStack):
    """A progress bar for each cycle that is waited for, one after the other."""

    def __init__(self, out: typing.TextIO) -> None:
        super().__init__()
        self._out = out
        self._since = ''
        self._done = self._writes = 0

    def show(self, told: daemon_data.Data) -> None:
        """Show how far the daemon's cycle is."""
        if told['since'] != self._since:
            self.close()
            self._since, self._done, self._writes = told['since'], 0, 0
            self._advance = self.enter_context(
                progress.bar(self._out, 'nodes')
            )
        self._advance(
            told['nodes'],
            told['writes'] - self._writes,
            told['done'] - self._done,
        )
        self._done, self._writes = told['done'], told['writes']
