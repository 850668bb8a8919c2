# SPDX-License-Identifier: Apache-2.0
"""Tells OpenStack's client that this distribution has commands for it.

The client imports this module each time it starts, so it imports nothing. It
reads the names below, and then the group of entry points
``openstack.compute_agent.v1``, whose classes are in ``client_commands.py``.
"""

import argparse

API_NAME = 'compute_agent'
API_VERSION_OPTION = 'os_compute_agent_api_version'
API_VERSIONS = ('1',)
DEFAULT_API_VERSION = '1'


def make_client(instance: object) -> None:
    """Return nothing: the commands use the client's account themselves."""
    del instance


def build_option_parser(
    parser: argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Return the client's parser; there is no option to add."""
    return parser
