# SPDX-License-Identifier: Apache-2.0
"""Cycles of the libvirt driver between a real libvirtd and placement."""

import contextlib
import os
import shutil

import local_libvirt
import pytest

from compute_agent.cycle import resource_tracker

DONE = resource_tracker.Status.DONE
GIB, MIB = 1 << 30, 1 << 20


def cycle(agent):
    (result,) = agent.tracker.sync()
    return result


def done(agent):
    """Run one cycle, which must be done; return what it wrote."""
    result = cycle(agent)
    assert result.status is DONE, result
    return result.applied


def test_the_host_is_in_placement_as_libvirt_sees_it(libvirt_host, libvirtd):
    with libvirt_host.agent() as agent:
        done(agent)
        assert done(agent) == ()
    root = libvirt_host.root()
    with contextlib.closing(
        local_libvirt.binding().open(libvirtd.uri)
    ) as opened:
        now = opened.getInfo()[1]
    assert root.inventory['VCPU']['total'] == os.cpu_count()
    kernel = os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') // MIB
    assert root.inventory['MEMORY_MB']['total'] == max(now, kernel)
    size = shutil.disk_usage('/').total // GIB
    assert root.inventory['DISK_GB']['total'] <= size
    assert {'COMPUTE_NODE', 'OWNER_NOVA', 'HW_ARCH_X86_64'} <= root.traits


def test_a_restart_of_libvirtd_changes_nothing(libvirt_host, libvirtd):
    with libvirt_host.agent() as agent:
        done(agent)
        libvirtd.restart()
        assert done(agent) == ()


def test_without_libvirtd_nothing_changes(libvirt_host, libvirtd):
    """The agent tells it; when libvirtd is back, nothing changes either."""
    with libvirt_host.agent() as agent:
        done(agent)
        before = libvirt_host.report()
        libvirtd.kill()
        results = [cycle(agent) for _ in range(3)]
        assert [result.applied for result in results] == [()] * 3
        for result in results:
            told = [t for t in (result.reason, *result.notes) if t]
            assert len(told) == 1, told
            assert 'libvirt' in told[0]
        libvirtd.restart()
        assert done(agent) == ()
        assert libvirt_host.report() == before


def test_an_agent_that_starts_without_libvirtd_changes_nothing(
    libvirt_host, libvirtd
):
    libvirt_host.sync()
    before = libvirt_host.report()
    libvirtd.kill()
    assert libvirt_host.sync().applied == ()
    assert libvirt_host.report() == before


@pytest.mark.parametrize('end', ['stop', 'kill'])
def test_the_daemon_tells_once_that_libvirtd_is_away(
    libvirt_host, libvirtd, cli, daemon, end
):
    libvirt_host.configure(update_resources_interval=1, debug=True)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    getattr(libvirtd, end)()
    one.wait_for('libvirt does not answer')
    count = one.said.count('cycle: ')
    one.wait_for('cycle: ', times=count + 3)
    warnings = [
        line
        for line in one.said.splitlines()
        if ' WARNING ' in line and 'libvirt' in line
    ]
    assert len(warnings) == 1
    before = libvirt_host.report()
    libvirtd.restart()
    count = one.said.count('cycle: ')
    one.wait_for('cycle: ', times=count + 3)
    assert libvirt_host.report() == before
    assert one.end() == 0
    assert 'Traceback' not in one.said


def test_the_daemon_ends_while_libvirtd_hangs(
    libvirt_host, libvirtd, cli, daemon
):
    libvirt_host.configure(update_resources_interval=1, debug=True)
    one = daemon(cli.config)
    one.wait_for('cycle: ')
    libvirtd.freeze()
    try:
        assert one.end() == 0, one.said
    finally:
        libvirtd.thaw()
    assert 'Traceback' not in one.said


def test_other_cpu_models_have_other_traits(libvirt_host):
    """Each model is usable in an emulated guest, whatever this host is."""
    found = {}
    for model in ('Nehalem', 'Conroe'):
        libvirt_host.configure(f'cpu_mode = custom\ncpu_models = {model}\n')
        result = libvirt_host.sync()
        assert (result.status, result.notes) == (DONE, ()), result
        found[model] = libvirt_host.root().traits
    assert {'HW_CPU_X86_SSE42', 'HW_CPU_X86_SSE41'} <= found['Nehalem']
    assert 'HW_CPU_X86_SSSE3' in found['Conroe']
    assert not {'HW_CPU_X86_SSE42', 'HW_CPU_X86_SSE41'} & found['Conroe']
