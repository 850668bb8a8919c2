# SPDX-License-Identifier: Apache-2.0
"""The connections to placement and to Ironic as the commands make them."""

import pathlib
import typing
from collections.abc import Mapping

from ironic_agents import ironic_driver

from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import placement
from compute_agent.virt import driver
from report_client.http import placement as placement_api

PASSWORD = 'pass-of-the-agent'


def by_token(url: str) -> dict[str, object]:
    """Return the options of a placement without keystone."""
    return {
        'auth_type': 'admin_token',
        'token': 'TOKEN-0',
        'endpoint': url,
    }


def by_password(url: str) -> dict[str, object]:
    """Return the options of a user of the keystone at this address."""
    return {
        'auth_type': 'password',
        'auth_url': url,
        'username': 'agent',
        'password': PASSWORD,
        'project_name': 'service',
        'user_domain_name': 'Default',
        'project_domain_name': 'Default',
    }


def to_placement(
    folder: pathlib.Path,
    options: Mapping[str, object],
    agent: Mapping[str, object] | None = None,
    **how: typing.Any,
) -> placement_api.Placement:
    """Return placement's API with these options of ``[placement]``.

    :param agent: options of ``[compute_agent]``
    :param how: as for ``placement_service``
    """
    lines = ['[placement]', *(f'{k} = {v}' for k, v in options.items())]
    lines += ['[compute_agent]']
    lines += [f'{k} = {v}' for k, v in (agent or {}).items()]
    file = folder / 'connected.conf'
    file.write_text('\n'.join([*lines, '']))
    given = main.GlobalOptions(
        config_files=[str(file)], config_dirs=[], debug=False
    )
    return placement.placement_service(configuration.load(given), **how)


def to_ironic(url: str, **options: object) -> driver.ComputeDriver:
    """Return the Ironic driver, which repeats no request."""
    return ironic_driver(
        url, **{'api_max_retries': 0, 'api_retry_interval': 0, **options}
    )
