# SPDX-License-Identifier: Apache-2.0
"""A libvirtd for each test worker; a pytest plugin."""

import collections.abc
import contextlib

import local_libvirt
import pytest

from compute_agent import errors


@pytest.fixture(scope='session')
def _libvirtd() -> collections.abc.Iterator[local_libvirt.LocalLibvirt]:
    with contextlib.ExitStack() as stack:
        problem = ''
        try:
            server = stack.enter_context(local_libvirt.running())
        except errors.ConfigError as exc:
            problem = str(exc)
        if problem:
            pytest.fail(problem, pytrace=False)
        yield server


@pytest.fixture
def libvirtd(
    _libvirtd: local_libvirt.LocalLibvirt,
) -> collections.abc.Iterator[local_libvirt.LocalLibvirt]:
    """A libvirtd; a test may stop, kill or restart it."""
    yield _libvirtd
    _libvirtd.restart_if_ended()
