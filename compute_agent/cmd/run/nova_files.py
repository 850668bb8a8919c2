# SPDX-License-Identifier: Apache-2.0
"""The daemon's notices about files that nova-compute uses too.

With nova.conf as its configuration, the agent shares ``state_path`` and
``log_file`` with nova-compute unless other options say otherwise. The daemon
logs these lines at its start, so that nobody is surprised.
"""

import pathlib

from oslo_config import cfg


def lines(conf: cfg.ConfigOpts) -> list[str]:
    """Return a line for each path that the agent shares with nova-compute.

    :param conf: with the options of oslo.log registered
    """
    found = []
    source = _nova_file(conf, 'state_path')
    if source and not conf.compute_agent.state_path:
        found.append(
            f'the state of this agent is kept in {conf.state_path}, because '
            f'{source} sets [DEFAULT] state_path for nova-compute; to keep it '
            'elsewhere, set [compute_agent] state_path (compute_id is still '
            'read there)'
        )
    source = _nova_file(conf, 'log_file')
    if source and conf.log_file:
        found.append(
            f'the log of this agent goes to {conf.log_file}, because {source} '
            'sets [DEFAULT] log_file for nova-compute; to keep it elsewhere, '
            'set log_file in a file that is read later (--config-file may be '
            'repeated)'
        )
    return found


def _nova_file(conf: cfg.ConfigOpts, option: str) -> str:
    """Return nova's configuration file if it sets this option, else ''."""
    found = conf.get_location(option)
    if found is None or not found.location.is_user_controlled:
        return ''
    path = pathlib.Path(found.detail)
    is_nova_s = path.name.startswith('nova') or path.parent.name == 'nova'
    return str(path) if is_nova_s else ''
