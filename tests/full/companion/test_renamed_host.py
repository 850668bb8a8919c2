# SPDX-License-Identifier: Apache-2.0
"""The names of a host change: nova's option ``host``, and libvirt's host name.

nova-compute does not follow a rename, so its operator takes it back, or deletes
the service and registers the host anew. The companion waits for either.
"""

import collections.abc

import host_with_nova
import pytest
import real_nova
import request_log

from compute_agent import errors

pytestmark = pytest.mark.long

NEW = 'renamed.example'
REFUSES = 'Possible rename detected, refusing to start'


@pytest.fixture(autouse=True)
def _old_name_again(
    host: host_with_nova.HostWithNova,
) -> collections.abc.Iterator[None]:
    """Libvirt's host has its old name after the test."""
    old = host.name
    try:
        host.libvirtd.rename_host(old)
    except errors.ConfigError as exc:
        pytest.skip(str(exc))
    yield
    host.libvirtd.rename_host(old)


def test_a_renamed_host_is_reported_again_by_both(host):
    host.nova.start()
    host.start_agent()
    host.wait(host.is_complete, 'both report the host')
    host.wait_for_refreshes(1)

    the_service_has_another_name(host)
    libvirt_gives_the_host_another_name(host)
    the_host_is_named_back(host)
    the_host_is_registered_anew(host)


def the_service_has_another_name(host):
    mark, said = len(host.requests), host.agent.log
    host.nova.stop()
    host.nova.call_service('another-service-s-name')
    host.nova.start()
    host.wait(lambda: REFUSES in host.nova.log, 'nova refuses')
    host.wait_for_cycles(2)
    assert host.requests.writes(mark) == []
    assert host.agent.log == said
    host.nova.stop()
    host.nova.call_service(real_nova.SERVICE)


def libvirt_gives_the_host_another_name(host):
    """First while nova-compute runs, and then it starts anew."""
    host.nova.start()
    host.wait_for_refreshes(1)
    mark = len(host.requests)
    before = host.traits()
    host.libvirtd.rename_host(NEW)
    host.wait(lambda: NEW in host.agent.log, 'the companion notices')
    host.agent.write_facts({'rack': 8, 'fpgas': 3})
    host.wait_for_refreshes(1)
    assert 'Hostname has changed' in host.nova.log
    host.nova.stop()
    since = len(host.nova.log)
    host.nova.start()
    host.wait(lambda: REFUSES in host.nova.log[since:], 'nova refuses')
    host.wait_for_cycles(2)
    assert host.requests.writes(mark, request_log.AGENT) == []
    assert host.agent.log.count(f'is {NEW} now') == 1
    assert host.traits() == before


def the_host_is_named_back(host):
    host.nova.stop()
    host.libvirtd.rename_host(host.name)
    host.nova.start()
    host.wait(
        lambda: (
            'CUSTOM_RACK_8' in host.traits()
            and host.inventory(host.child)['CUSTOM_FPGA'] == 3
        ),
        'the companion goes on',
    )
    host.be_quiet()


def the_host_is_registered_anew(host):
    """Under its new name, after the service with the old one was deleted."""
    before = host.traits()
    host.nova.stop()
    host.nova.delete_service()
    host.libvirtd.rename_host(NEW)
    host.nova.call_service(NEW)
    host.name = host.libvirt_name()
    assert host.name == NEW
    host.nova.start()
    host.wait(host.is_complete, 'both report the host by its new name')
    host.be_quiet()
    assert host.traits() == before
    assert set(host.providers()) == {NEW, f'{NEW}_fpga'}
