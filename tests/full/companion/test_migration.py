# SPDX-License-Identifier: Apache-2.0
"""A host with a guest goes from nova-compute to the agent, and back.

What docs/in-place-of-nova.md has an operator type, with the real nova-compute.
The end is the beginning: placement has what nova-compute reported before.
"""

import pytest
import test_nova_reports_nothing as silent

pytestmark = pytest.mark.long

GUEST = {'VCPU': 1, 'MEMORY_MB': 64}
LINE = '[DEFAULT]\ncompute_driver = {}\n'
NOVAS_OWN_DRIVER = 'libvirt.LibvirtDriver'


def content(host):
    """Return all of the host in placement, but generations."""
    return (
        set(host.providers()),
        host.traits(),
        host.steady_inventory(),
        host.reserved_memory(),
    )


def set_driver(host, line, driver):
    """Write the line into nova.conf and restart nova-compute."""
    line.write_text(LINE.format(driver))
    host.nova.stop()
    host.nova.start()
    host.wait_for_refreshes(1)


def test_there_and_back(host, tmp_path):
    line = tmp_path / 'driver.conf'
    line.write_text(LINE.format(NOVAS_OWN_DRIVER))
    host.add_to_conf(line)
    host.nova.start()
    host.wait(lambda: silent.has_inventory(host), 'nova reports')
    host.wait_for_refreshes(1)
    host.allocate_of(host.name, GUEST)
    before = content(host)

    # There: the plan is seen before anything is changed.
    host.agent.become_reporter()
    shown = host.agent.run('plan', code=1)
    assert 'the first write to its root provider waits for approval' in shown
    assert 'remove' not in shown.partition('the write would')[0]
    assert content(host) == before
    set_driver(host, line, 'compute_agent.LibvirtDriver')
    assert content(host) == before
    host.agent.run('sync', '--yes')
    host.start_agent()
    host.be_quiet()
    there = content(host)
    assert there[1] >= {'COMPUTE_NODE', 'OWNER_NOVA'}
    assert there[2].keys() == before[2].keys()
    assert host.allocated() == GUEST

    # And back.
    host.agent.stop()
    left = host.agent.run('leave', '--yes')
    assert 'prune' not in left
    assert host.allocated() == GUEST
    set_driver(host, line, NOVAS_OWN_DRIVER)
    host.wait(lambda: content(host) == before, 'nova reports as before')
    assert host.allocated() == GUEST
