# SPDX-License-Identifier: Apache-2.0
"""A real nova-compute and a companion on this host, with one placement."""

import collections.abc
import contextlib
import pathlib
import sys

import local_libvirt
import placement_fixture
import pytest

# Test folders are no packages; modules are found by path.
HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / 'parity')]

# Their asserts tell as much as those of a test.
pytest.register_assert_rewrite('host_with_nova')

import companion  # type: ignore[import-not-found] # noqa: E402
import host_with_nova  # type: ignore[import-not-found] # noqa: E402
import local_nova  # type: ignore[import-not-found] # noqa: E402
import real_nova  # type: ignore[import-not-found] # noqa: E402
import request_log  # type: ignore[import-not-found] # noqa: E402


@pytest.fixture(scope='session')
def novas_databases(
    _libvirtd: local_libvirt.LocalLibvirt,
    tmp_path_factory: pytest.TempPathFactory,
) -> local_nova.LocalNova:
    """nova's databases; to make them takes several seconds."""
    if not real_nova.is_installed():
        pytest.fail(
            'nova is not installed; run "make .servers/nova-libvirt.stamp"',
            pytrace=False,
        )
    folder = tmp_path_factory.mktemp('nova') / 'databases'
    # Each test has a placement of its own, which a second file names.
    local = local_nova.LocalNova(folder, '', _libvirtd.uri)
    local.create_databases()
    return local


@pytest.fixture
def host(
    novas_databases: local_nova.LocalNova,
    libvirtd: local_libvirt.LocalLibvirt,
    placement_server: placement_fixture.ServedPlacement,
    tmp_path: pathlib.Path,
) -> collections.abc.Iterator[host_with_nova.HostWithNova]:
    """This host: neither nova-compute nor the companion runs yet."""
    log = request_log.RequestLog()
    url = placement_server.listen(before=log.watch)
    folder = tmp_path / 'nova'
    folder.mkdir()
    nova = real_nova.RealNova(
        novas_databases, folder, f'{url}/{request_log.NOVA}'
    )
    agent = companion.Companion(
        tmp_path / 'agent', f'{url}/{request_log.AGENT}', nova.files
    )
    made = host_with_nova.HostWithNova(nova, agent, libvirtd, url, log)
    with contextlib.ExitStack() as undo:
        undo.callback(log.save, tmp_path / 'requests.jsonl')
        undo.callback(made.stop)
        yield made
