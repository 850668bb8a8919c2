# SPDX-License-Identifier: Apache-2.0
"""A companion beside the real nova-compute, through what happens to a host.

``make companion`` runs this with longer intervals and half an hour of peace.
"""

import os
import sys

import companion
import pytest
import request_log

pytestmark = pytest.mark.long

# Seconds for which both are watched while nothing happens.
PEACE = int(os.environ.get('COMPUTE_AGENT_COMPANION_SECONDS', '0'))
MORE_RULES = f"""{companion.RULES}
- name: row
  traits: [CUSTOM_ROW_2]
- name: fpga-memory
  child: '{{node}}_fpga'
  inventory: {{CUSTOM_FPGA_GB: 16}}
"""


def test_neither_program_disturbs_the_other(host, capsys):
    novas, alone = nova_reports_alone(host)
    ours = both_report(host, novas)
    with capsys.disabled():
        be_told('both reports', host.requests.since(0))
        watched = host.watch(PEACE)
        be_told('nothing happens', watched.requests)
    watched.check()

    an_agent_without_novas_files_finds_the_root(host)
    the_agent_starts_anew(host)
    ours |= rules_are_reloaded(host)
    the_service_is_disabled_and_enabled(host, novas | ours)
    a_consumer_of_the_child_disturbs_nobody(host)
    assert host.requests.conflicts() == []
    assert host.nova.troubles() <= alone

    facts_change_while_the_root_is_gone(host, novas, ours)
    the_agent_is_first_on_an_empty_placement(host)
    be_alike(host, alone)
    the_companion_leaves(host, novas)


def nova_reports_alone(host):
    """Return the traits of nova's root, and what its log complains of."""
    host.nova.start()
    host.wait(lambda: 'COMPUTE_NODE' in host.traits(), 'nova reports')
    host.wait_for_refreshes(1)
    host.nova.stop()
    assert host.requests.writes(0, request_log.NOVA)
    return host.traits(), host.nova.troubles()


def both_report(host, novas):
    """Return the traits that the companion adds to the root."""
    host.start_agent()
    host.wait(host.is_complete, 'the companion adds to the root')
    assert host.requests.writes(0, request_log.AGENT)
    host.nova.start()
    host.wait_for_refreshes(1)
    ours = host.traits() - novas
    assert {'CUSTOM_RACK_7', 'CUSTOM_GUESTS_OF_QEMU'} <= ours
    assert host.traits() > novas
    return ours


def be_told(what, requests):
    """Print the requests of a while by writer, for a person."""
    for writer in request_log.WRITERS:
        own = [one for one in requests if one.writer == writer]
        sys.stdout.write(
            f'\n{what}, {requests[-1].at - requests[0].at:.0f} s: {writer}: '
            f'{len(own)} requests, {sum(one.is_write for one in own)} writes, '
            f'{sum(one.is_conflict for one in own)} conflicts, '
            f'{sum(one.is_refresh for one in own)} refreshes'
        )
    sys.stdout.write('\n')


def an_agent_without_novas_files_finds_the_root(host):
    other = companion.Companion(
        host.agent.folder / 'other', host.agent.placement, []
    )
    other.read_no_files_of_novas(host.libvirtd.uri)
    other.write_facts({'rack': 8, 'fpgas': 2})
    planned = other.run('plan', code=2)
    root = host.providers()[host.name]['uuid']
    assert f'{host.name} ({root})\n' in planned
    assert '+CUSTOM_RACK_8' in planned
    assert '-' not in {line.strip()[:1] for line in planned.split('\n')}
    assert not list(other.folder.rglob('compute_id'))


def the_agent_starts_anew(host):
    mark = len(host.requests)
    host.agent.stop()
    host.start_agent()
    host.be_quiet()
    assert host.requests.writes(mark) == []


def rules_are_reloaded(host):
    """Return the trait that the new rules give to the root.

    A file with a mistake comes first: then the rules stay as they are.
    """
    mark = len(host.requests)
    host.agent.write_rules(f'{MORE_RULES}  when: cpu.flag\n')
    host.agent.reload()
    host.wait(lambda: 'there is no fact cpu.flag' in host.agent.log, 'mistake')
    host.wait_for_cycles(2)
    assert host.requests.writes(mark) == []
    host.agent.write_rules(MORE_RULES)
    host.agent.reload()
    host.wait(lambda: 'CUSTOM_ROW_2' in host.traits(), 'rules are reloaded')
    host.be_quiet()
    assert host.inventory(host.child) == {
        'CUSTOM_FPGA': 2,
        'CUSTOM_FPGA_GB': 16,
    }
    assert host.requests.writes(mark, request_log.NOVA) == []
    return {'CUSTOM_ROW_2'}


def the_service_is_disabled_and_enabled(host, traits):
    status = 'COMPUTE_STATUS_DISABLED'
    host.nova.disable_service(disabled=True)
    host.wait(lambda: status in host.traits(), 'nova reports it disabled')
    host.be_quiet()
    host.nova.disable_service(disabled=False)
    host.wait(lambda: status not in host.traits(), 'nova reports it enabled')
    assert host.traits() == traits


def a_consumer_of_the_child_disturbs_nobody(host):
    host.allocate(1)
    host.be_quiet()
    host.nova.run('nova-manage', 'CONF', 'placement', 'audit')
    host.allocate(0)


def facts_change_while_the_root_is_gone(host, novas, ours):
    """The service is deleted, and registered anew."""
    host.nova.stop()
    host.nova.delete_service()
    host.wait(lambda: host.agent.waits, 'the companion waits')
    assert host.providers() == {}
    host.agent.write_facts({'rack': 8, 'fpgas': 3})
    host.nova.start()
    host.wait(host.is_complete, 'both report the host again')
    host.be_quiet()
    assert host.agent.log.count(companion.WAITS) == 1
    assert host.traits() == novas | ours - {'CUSTOM_RACK_7'} | {
        'CUSTOM_RACK_8'
    }
    assert host.inventory(host.child)['CUSTOM_FPGA'] == 3


def the_agent_is_first_on_an_empty_placement(host):
    """And there is no file of nova's."""
    host.stop()
    host.nova.delete_service(keeps_identity=False)
    host.agent.forget()
    host.agent.start()
    host.wait(lambda: host.agent.waits, 'the companion waits')
    assert host.providers() == {}
    host.nova.start()
    host.wait(host.is_complete, 'the companion adds to the root of nova')
    host.be_quiet()
    assert host.agent.log.count(companion.WAITS) == 1
    assert not list(host.agent.folder.rglob('compute_id'))


def be_alike(host, alone):
    """See that nova complained of nothing but a conflict it got over.

    The companion adds to a new root while nova-compute still reports it, so
    the next write of either may be too late.
    """
    conflicts = [
        one
        for one in host.requests.conflicts()
        if one.writer == request_log.NOVA
    ]
    more = host.nova.troubles() - alone
    assert len(more) <= len(conflicts)
    assert all('409' in line or 'onflict' in line for line in more)


def the_companion_leaves(host, novas):
    """And nova can delete the root."""
    host.agent.stop()
    assert 'delete provider' in host.agent.run('leave', '--yes')
    assert set(host.providers()) == {host.name}
    assert host.traits() == novas
    host.nova.stop()
    host.nova.delete_service()
    assert host.providers() == {}
