# SPDX-License-Identifier: Apache-2.0
"""A companion beside the real nova-compute, through what happens to a host.

``make companion`` runs this with longer intervals and half an hour of peace.
"""

import os
import time

import host_with_nova
import pytest

pytestmark = pytest.mark.long

OURS = {'CUSTOM_RACK_7'}
# Seconds for which both are watched while nothing happens.
PEACE = int(os.environ.get('COMPUTE_AGENT_COMPANION_SECONDS', '0'))


def be_quiet(host, refreshes=1, seconds=0):
    """See that neither program writes or complains while nothing happens."""
    host.wait_for_refreshes(1)  # what is left of the last event settles
    before = host.generations()
    since = len(host.nova_log.read_text(errors='replace'))
    said = host.agent_log.read_text()
    deadline = time.monotonic() + seconds
    host.wait_for_refreshes(refreshes)
    while time.monotonic() < deadline:
        host.wait_for_refreshes(1)
    assert host.generations() == before
    assert host.troubles(since) == []
    assert host.agent_log.read_text() == said


def test_neither_program_disturbs_the_other(host):
    # The agent first, on an empty placement and without a file of nova's.
    host.start_agent()
    host.wait(host.agent_waits, 'the companion waits')
    assert host.providers() == {}
    host.start_nova()
    host.wait(host.is_complete, 'the companion adds to the root of nova')
    assert host.agent_log.read_text().count(host_with_nova.WAITS) == 1
    novas = host.traits() - OURS
    assert list(host.cli.folder.rglob('state/compute_id')) == [
        host.cli.folder / 'nova' / 'state' / 'compute_id'
    ]
    be_quiet(host, refreshes=2, seconds=PEACE)

    the_host_driver_plans(host)
    restarts_change_nothing(host, novas)
    the_service_is_disabled_and_enabled(host, novas)
    a_consumer_of_the_child_disturbs_nobody(host)
    the_service_is_deleted_and_registered_anew(host, novas)
    the_companion_leaves(host, novas)


def the_host_driver_plans(host):
    planned = host.plan_with_host_driver()
    root = host.providers()[host.name]['uuid']
    assert f'{host.name} ({root})\n' in planned
    assert '+CUSTOM_RACK_8' in planned
    assert '-' not in {line.strip()[:1] for line in planned.split('\n')}


def restarts_change_nothing(host, novas):
    host.stop('nova', 'agent')
    host.start_nova()
    host.start_agent()
    be_quiet(host)
    host.stop('agent', 'nova')
    host.start_agent()
    host.start_nova()
    be_quiet(host)
    assert host.traits() == novas | OURS
    assert host.is_complete()


def the_service_is_disabled_and_enabled(host, novas):
    status = 'COMPUTE_STATUS_DISABLED'
    host.disable_service(disabled=True)
    host.wait(lambda: status in host.traits(), 'nova reports it disabled')
    be_quiet(host)
    host.disable_service(disabled=False)
    host.wait(lambda: status not in host.traits(), 'nova reports it enabled')
    assert host.traits() == novas | OURS


def a_consumer_of_the_child_disturbs_nobody(host):
    host.allocate(1)
    be_quiet(host)
    host.run_nova('nova-manage', '--config-file', 'CONF', 'placement', 'audit')
    host.allocate(0)


def the_service_is_deleted_and_registered_anew(host, novas):
    host.stop('nova')
    host.delete_service()
    host.wait(host.agent_waits, 'the companion waits')
    assert host.providers() == {}
    host.start_nova()
    host.wait(host.is_complete, 'both report the host again')
    be_quiet(host)
    assert host.traits() == novas | OURS


def the_companion_leaves(host, novas):
    """And nova can delete the root."""
    host.stop('agent')
    assert 'delete provider' in host.run_agent('leave', '--yes')
    assert set(host.providers()) == {host.name}
    assert host.traits() == novas
    host.stop('nova')
    host.delete_service()
    assert host.providers() == {}
