# SPDX-License-Identifier: Apache-2.0
"""The history, for commands that write to placement without the state.

Such a command also works where no agent has its state, and beside a daemon.
It adds entries if this host has a history that its user may write.
"""

import contextlib
import logging
from collections.abc import Sequence

from oslo_config import cfg

from ... import errors
from ...plan.history_entry import Entry
from ...state import state
from . import agent_settings

LOG = logging.getLogger(__name__)


def add(conf: cfg.ConfigOpts, by: str, entries: Sequence[Entry]) -> None:
    """Add entries about a command to the history on this host.

    :param by: the command and the person
    """
    directory = agent_settings.state_path(conf)
    try:
        beside = state.State.open_beside(directory)
    except errors.AgentError as exc:
        LOG.debug('no history on this host: %s', exc)
        return
    with contextlib.closing(beside):
        beside.history.by = by
        beside.history.keep(agent_settings.history_bounds(conf))
        beside.history.add(entries)
