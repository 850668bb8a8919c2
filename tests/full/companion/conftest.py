# SPDX-License-Identifier: Apache-2.0
"""A real nova-compute and a companion on this host, with one placement."""

import collections.abc
import contextlib
import pathlib
import sys

import command_line
import local_libvirt
import pytest

# Test folders are no packages; modules are found by path.
HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'parity')]

import host_with_nova  # type: ignore[import-not-found] # noqa: E402


@pytest.fixture
def host(
    cli: command_line.CommandLine,
    libvirtd: local_libvirt.LocalLibvirt,
) -> collections.abc.Iterator[host_with_nova.HostWithNova]:
    """This host: neither nova-compute nor the companion runs yet."""
    if not host_with_nova.is_installed():
        pytest.fail(
            'nova is not installed; run "make .servers/nova-libvirt.stamp"',
            pytrace=False,
        )
    with contextlib.closing(
        host_with_nova.HostWithNova(cli, libvirtd)
    ) as made:
        yield made
