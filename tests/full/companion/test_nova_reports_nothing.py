# SPDX-License-Identifier: Apache-2.0
"""nova-compute with the class of compute-agent-nova, and a reporter beside it.

nova-compute loads its libvirt driver without the resources, so the agent reports
the host. What matters to an operator: neither undoes the other's work, whoever
starts first, and the guests' part of nova finds what the agent reported.
"""

import itertools
import os
import subprocess
import sys

import local_nova
import pytest
import request_log

from compute_agent.identity import nova_compute
from compute_agent.identity.nova_compute import NovaState

pytestmark = pytest.mark.long

# make in-place has more of both.
ROUNDS = int(os.environ.get('COMPUTE_AGENT_COMPANION_RESTARTS', '2'))
PEACE = int(os.environ.get('COMPUTE_AGENT_COMPANION_SECONDS', '0'))
# What nova-compute adds by itself.
NOVAS_OWN = {'COMPUTE_NODE', 'OWNER_NOVA'}
AGENTS = {'VCPU', 'MEMORY_MB', 'DISK_GB'}


@pytest.fixture
def reported(host):
    """The host, whose nova-compute reports its capabilities only."""
    host.report_in_place()
    return host


def has_inventory(host):
    return set(host.inventory(host.name)) >= AGENTS


def restarted(host):
    """Restart both again and again; return what they wrote meanwhile."""
    mark, memory = len(host.requests), host.memory()
    starts = {'nova': host.nova.start, 'agent': host.start_agent}
    stops = {'nova': host.nova.stop, 'agent': host.agent.stop}
    orders = itertools.product(itertools.permutations(stops), repeat=2)
    for first, then in itertools.islice(itertools.cycle(orders), ROUNDS):
        for name in first:
            stops[name]()
        for name in then:
            starts[name]()
        host.wait_for_refreshes(1)
        host.wait_for_cycles(1)
    written = host.requests.writes(mark)
    if host.memory() != memory:  # the kernel added some
        written = [one for one in written if 'inventories' not in one.path]
    return written


def test_nova_first_and_neither_undoes_the_other(reported, capsys):
    host = reported
    host.nova.start()
    host.wait(lambda: host.traits() >= NOVAS_OWN, 'nova reports')
    host.wait_for_refreshes(1)
    novas = host.traits()
    assert host.inventory(host.name) == {}
    assert not any(trait.startswith('HW_CPU_') for trait in novas)
    assert 'compute-agent reports the resources of' in host.nova.log
    host.nova.stop()
    alone = host.nova.troubles()
    host.nova.start()
    host.wait_for_refreshes(1)

    planned = host.agent.run('plan', code=2)
    assert '+VCPU' in planned
    assert not [
        line for line in planned.split('\n') if line.strip()[:1] == '-'
    ]
    host.start_agent()
    host.wait(lambda: has_inventory(host), 'the agent reports')
    both = host.traits()
    assert both > novas
    watched = host.watch(PEACE)
    with capsys.disabled():
        for writer in request_log.WRITERS:
            own = [one for one in watched.requests if one.writer == writer]
            sys.stdout.write(f'\n{writer}: {len(own)} requests, ')
            sys.stdout.write(f'{sum(one.is_write for one in own)} writes\n')
    watched.check()

    content = host.providers(), both, host.steady_inventory()
    assert restarted(host) == []
    assert content == (
        host.providers(),
        host.traits(),
        host.steady_inventory(),
    )
    assert host.requests.conflicts() == []
    assert host.nova.troubles() <= alone

    the_service_is_disabled_and_enabled(host, both)
    the_service_is_deleted_and_registered_anew(host, both)


def the_service_is_disabled_and_enabled(host, both):
    """The trait of a disabled service comes and goes, and no other."""
    disabled = 'COMPUTE_STATUS_DISABLED'
    host.nova.disable_service(disabled=True)
    host.nova.stop()
    host.nova.start()
    host.wait(lambda: disabled in host.traits(), 'it is disabled')
    assert host.traits() == both | {disabled}
    host.be_quiet()
    host.nova.disable_service(disabled=False)
    host.nova.stop()
    host.nova.start()
    host.wait(lambda: disabled not in host.traits(), 'it is enabled')
    assert host.traits() == both
    assert has_inventory(host)
    host.be_quiet()


def the_service_is_deleted_and_registered_anew(host, both):
    """Nova deletes the root; both report all that they have again."""
    host.nova.stop()
    host.nova.delete_service(keeps_identity=True)
    host.nova.start()
    host.wait(
        lambda: host.traits() >= both and has_inventory(host),
        'both report again',
    )
    host.be_quiet()


def test_the_agent_first_on_an_empty_placement(reported):
    """nova-compute ran once, so that the host has nova's uuid and name."""
    host = reported
    host.nova.call_service(host.name)
    host.nova.start()
    host.wait(lambda: host.traits() >= NOVAS_OWN, 'nova reports')
    uuid = host.providers()[host.name]['uuid']
    host.nova.stop()
    host.nova.delete_service(keeps_identity=True)
    assert host.providers() == {}

    host.start_agent()
    host.wait_for_cycles(2)
    assert host.providers() == {}
    host.nova.start()
    host.wait(lambda: has_inventory(host), 'the agent reports')
    assert host.providers()[host.name]['uuid'] == uuid
    assert host.traits() > NOVAS_OWN
    host.be_quiet()
    assert host.requests.conflicts() == []
    assert host.agent.log.count('nova-compute creates it') == 1


def of_host(host, folder):
    """Return the sign that a host gives whose programs have their names."""
    proc = folder / 'proc'
    nova = proc / str(host.nova.number)
    nova.mkdir(parents=True)
    (nova / 'cmdline').write_bytes(b'nova-compute\0')
    (nova / 'stat').symlink_to(f'/proc/{host.nova.number}/stat')
    (proc / 'sys').symlink_to('/proc/sys')
    (proc / 'uptime').write_text('99999999.0 1.0\n')  # no process is young
    return nova_compute.look([host.nova.state_path], proc).state


def test_the_line_is_taken_out_and_put_back(reported, tmp_path):
    """The two want different values, as after a change of one nova.conf."""
    host = reported
    with host.agent.conf.open('a') as conf:
        conf.write('[DEFAULT]\nreserved_host_memory_mb = 1024\n')
    host.nova.start()
    host.wait(lambda: host.traits() >= NOVAS_OWN, 'nova reports')
    host.start_agent()
    host.wait(lambda: has_inventory(host), 'the agent reports')
    assert host.reserved_memory() == 1024
    assert of_host(host, tmp_path / 'with') is NovaState.SILENT

    host.nova.stop()
    line = host.nova.more.pop()
    host.nova.start()
    said = 'nova-compute seems to report this node'
    host.wait(lambda: said in host.agent.log, 'the agent steps back')
    assert of_host(host, tmp_path / 'without') is NovaState.REPORTS
    host.wait_for_refreshes(1)
    host.be_quiet()
    assert host.reserved_memory() == 512
    assert host.agent.log.count(said) == 1

    host.nova.stop()
    host.nova.more.append(line)
    host.nova.start()
    host.agent.stop()
    host.start_agent()
    host.wait(lambda: host.reserved_memory() == 1024, 'the agent reports')
    host.be_quiet()


LOAD = """
import sys
from nova import conf
conf.CONF([], default_config_files=[])
conf.CONF.set_override('provider_config_location', sys.argv[2], 'compute')
conf.CONF.set_override('state_path', sys.argv[3])
from nova.compute import provider_tree
from nova.virt import driver
{planted}
made = driver.load_compute_driver(None, 'compute_agent.' + sys.argv[1])
tree = provider_tree.ProviderTree()
uuid = '11111111-1111-4111-8111-111111111111'
tree.new_root('host', uuid)
tree.update_inventory(uuid, {{'VCPU': {{'total': 4}}}})
tree.update_traits(uuid, ['CUSTOM_A'])
made.update_provider_tree(tree, 'host')
assert tree.data(uuid).inventory == {{'VCPU': {{'total': 4}}}}
assert tree.data(uuid).traits == {{'CUSTOM_A'}}
if sys.argv[1] == 'LibvirtDriver':
    assert tree.data(uuid).resources == {{}}  # no persistent memory
    assert made.provider_tree is not tree
    assert made.provider_tree.data(uuid).inventory['VCPU']['total'] == 4
print(sorted(made.capabilities_as_traits())[0])
"""
PLANTED = """
from nova.virt.libvirt import driver as libvirt
from nova.virt.ironic import driver as ironic
for one in (libvirt.LibvirtDriver, ironic.IronicDriver):
    one.update_provider_tree = lambda self, tree, node, more, allocations: 0
"""


GOLD = """
meta:
  schema_version: '1.0'
providers:
- identification:
    uuid: $COMPUTE_NODE
  {}
"""
INVENTORIES = """inventories:
    additional:
    - CUSTOM_LICENSE: {total: 4, reserved: 0, min_unit: 1, max_unit: 4,
        step_size: 1, allocation_ratio: 1.0}"""
TRAITS = """traits:
    additional: [CUSTOM_GOLD]"""


def load(driver, folder, planted=''):
    return subprocess.run(
        [
            str(local_nova.PROGRAMS / 'python'), '-W', 'ignore', '-c',
            LOAD.format(planted=planted), driver, str(folder),
            str(folder / 'state'),
        ],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize('driver', ['LibvirtDriver', 'IronicDriver'])
def test_nova_loads_a_driver_that_leaves_the_tree_as_it_is(driver, tmp_path):
    (tmp_path / 'gold.yaml').write_text(GOLD.format(TRAITS))
    done = load(driver, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('COMPUTE_')


@pytest.mark.parametrize('driver', ['LibvirtDriver', 'IronicDriver'])
def test_nova_does_not_start_with_inventories_in_its_files(driver, tmp_path):
    """It would refuse them itself in its second cycle, and each one after."""
    (tmp_path / 'gold.yaml').write_text(GOLD.format(INVENTORIES))
    done = load(driver, tmp_path)
    assert done.returncode == 1
    assert 'gold.yaml of nova-compute have inventories' in done.stderr


@pytest.mark.parametrize('driver', ['LibvirtDriver', 'IronicDriver'])
def test_nova_does_not_start_with_a_method_that_is_not_known(driver, tmp_path):
    done = load(driver, tmp_path, PLANTED)
    assert done.returncode == 1
    assert 'upgrade compute-agent-nova' in done.stderr
