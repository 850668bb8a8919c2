# SPDX-License-Identifier: Apache-2.0
"""OpenStack's real client, with this distribution as its plugin.

``make .servers/openstackclient-agent.stamp`` installs both in an environment
of their own.
"""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get(
    'COMPUTE_AGENT_OPENSTACK',
    str(ROOT / '.servers/openstackclient/bin/openstack'),
)
MISSING = (
    f'there is no {PROGRAM}: "make .servers/openstackclient-agent.stamp" '
    "installs OpenStack's client"
)
