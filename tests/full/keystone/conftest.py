# SPDX-License-Identifier: Apache-2.0
"""A real keystone and placement behind TLS, for the tests of this folder."""

import collections.abc
import gc
import importlib
import pathlib
import sys
import typing
import warnings

import openstack_server
import pytest
import secure_cloud

# Test folders are no packages; modules are found by path.
sys.path.insert(0, str(pathlib.Path(__file__).parent))

agents: typing.Any = importlib.import_module('agent_setup')


@pytest.fixture(scope='session')
def cloud(
    tmp_path_factory: pytest.TempPathFactory,
) -> collections.abc.Iterator[secure_cloud.SecureCloud]:
    """The servers; one start serves all tests."""
    if not pathlib.Path(openstack_server.PYTHON).exists():
        pytest.fail(openstack_server.MISSING)
    with secure_cloud.secure_cloud(tmp_path_factory.mktemp('cloud')) as made:
        yield made


@pytest.fixture
def setup(
    tmp_path: pathlib.Path,
    cloud: typing.Any,
    capsys: pytest.CaptureFixture[str],
) -> typing.Any:
    """The configuration of an agent, and the commands that read it."""
    return agents.Setup(tmp_path, cloud, capsys)


@pytest.fixture(autouse=True)
def connections_of_commands() -> collections.abc.Iterator[None]:
    """Close the connections that commands left open, for their process to end.

    A later test would be told of them, whichever it is.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', ResourceWarning)
        gc.collect()
