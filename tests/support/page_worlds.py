# SPDX-License-Identifier: Apache-2.0
"""The worlds in which the commands of the pages run (``page_world.py``)."""

import contextlib
import sqlite3
import typing

import many_providers
import pages
import small_cloud
from page_world import CN1, WORLDS, World, node, world
from small_cloud import Made

from compute_agent.cmd.app import person

__all__ = ['WORLDS', 'World']
CN2 = '22222222-2222-4222-8222-222222222222'
CHILD = '33333333-3333-4333-8333-333333333333'
INSTANCE = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'


@world('README.md', 'alias ca=')
def _readme(world: World) -> None:
    world.monkeypatch.setattr(person, 'name', lambda: 'you')
    world.describe(node('vm', inventories={'VCPU': 2, 'MEMORY_MB': 24105}))
    world.sync()


@world('docs/audit.md', 'compute-agent audit')
def _audit(world: World) -> None:
    nova = world.request.getfixturevalue('nova')
    ironic = world.request.getfixturevalue('ironic_list')
    gone, other, again, instance = (
        f'c0ffee00-0000-4000-8000-00000000000{n}' for n in '214a'
    )
    host = frozenset({'COMPUTE_NODE'})
    rack = '44444444-4444-4444-8444-444444444444'
    cpus = {'VCPU': 8}
    world.build(
        Made(name='cn1', uuid=CN1, inventories=cpus, traits=host),
        Made(name='cn1_pci_0000_41_00_0', uuid=CHILD, parent='cn1'),
        Made(name='cn1.example.com', uuid=other, traits=host),
        Made(name='cn2', uuid=CN2, inventories=cpus, traits=host),
        Made(name='cn3', uuid=gone, inventories=cpus, traits=host),
        Made(name=rack, uuid=rack, traits=host),
    )
    world.others.allocate(CN1, INSTANCE, {'VCPU': 1})
    for trait in ('CUSTOM_OLD', 'CUSTOM_GOLD'):
        world.cli.placement(f'/traits/{trait}', 'PUT')
    nova.hypervisor('cn1', CN1)
    nova.hypervisor('cn3', instance)
    nova.hypervisor('cn4', again)
    nova.flavors = {'m1.gold': {'trait:CUSTOM_GOLD': 'required'}}
    ironic.instances[rack] = None
    many_providers.age(
        world.request.getfixturevalue('placement_server').database
    )
    for name, service in (('nova', nova), ('ironic', ironic)):
        world.append(f"""
            [{name}]
            auth_type = none
            endpoint_override = {service.url}
            """)


@world(
    'docs/candidates.md', 'compute-agent allocation candidate list --property'
)
@world('docs/candidates.md', 'compute-agent allocation candidate why-not')
def _candidates(world: World) -> None:
    world.build(*small_cloud.RACK)


def _beside_nova(world: World) -> None:
    card = {
        'name': 'vm_fpga',
        'inventories': {'CUSTOM_FPGA': 2},
    }
    traits = ['CUSTOM_RACK_7', 'HW_CPU_X86_AVX2']
    world.describe(node('vm', traits=traits, children=[card]))
    world.build(
        Made(
            name='vm',
            uuid=CN1,
            inventories={'VCPU': 8},
            traits=frozenset({'COMPUTE_NODE', 'OWNER_NOVA'}),
        )
    )
    world.cli.configure(agent={'mode': 'companion'})


@world('docs/companion.md', 'compute-agent plan')
def _companion(world: World) -> None:
    _beside_nova(world)


@world('docs/companion.md', 'compute-agent leave')
def _leaving(world: World) -> None:
    _beside_nova(world)
    world.sync()


@world('docs/control.md', 'compute-agent status\n')
def _two_nodes(world: World) -> None:
    nodes = [node('cn1', traits=['CUSTOM_GOLD']), node('cn2', CN2)]
    world.describe(*nodes)
    world.daemon()
    world.build(Made(name='card', uuid=CHILD))
    nodes[1]['children'] = [{'name': 'card'}]
    world.describe(*nodes)
    world.sync()


@world('docs/control.md', 'compute-agent status cn1')
@world('docs/control.md', 'compute-agent sync')
def _one_node(world: World) -> None:
    world.daemon()


def _gold(*more: str) -> dict[str, typing.Any]:
    return node('cn1', inventories={'VCPU': 8}, traits=['CUSTOM_GOLD', *more])


@world('docs/history.md', 'compute-agent drift')
def _drifted(world: World) -> None:
    world.describe(_gold())
    world.sync()
    world.others.add_traits(CN1, 'CUSTOM_HAND')
    world.sync()
    world.others.remove_traits(CN1, 'CUSTOM_GOLD')
    world.cli.run(
        'resource',
        'provider',
        'inventory',
        'set',
        'cn1',
        '--amend',
        '--resource=VCPU:reserved=2',
    )


@world('docs/history.md', 'compute-agent history')
def _yesterday(world: World) -> None:
    world.monkeypatch.setattr(person, 'name', lambda: 'alice')
    world.describe(_gold('HW_NIC_SRIOV'))
    daemon = world.daemon()
    _let_pass(world, days=1)
    world.others.remove_traits(CN1, 'CUSTOM_GOLD')
    world.sync()
    world.cli.run(
        'resource',
        'provider',
        'inventory',
        'set',
        'cn1',
        '--amend',
        '--resource=VCPU:reserved=2',
    )
    world.sync()
    world.describe(_gold())
    world.sync()
    # Without a farewell in the history.
    daemon.process.kill()
    daemon.process.wait()
    _let_pass(world, days=1)


def _let_pass(world: World, days: int) -> None:
    """Make all entries of the history so much older."""
    path = world.cli.state_path / 'state.sqlite'
    with contextlib.closing(sqlite3.connect(path)) as opened, opened:
        opened.execute('update history set at = at - ?', [days * 86_400])


@world('docs/monitoring.md', 'compute-agent status')
def _with_metrics(world: World) -> None:
    port = world.request.getfixturevalue('unused_port')
    world.daemon(metrics_bind=f'127.0.0.1:{port}')
    world.replaced['127.0.0.1:9733'] = f'127.0.0.1:{port}'


@world('docs/host-facts.md', 'compute-agent facts')
@world('docs/rules.md', 'compute-agent facts')
def _this_host(world: World) -> None:
    """Prepare nothing: the facts are of this machine."""


@world('docs/ironic.md', 'compute-agent state export')
def _recorded(world: World) -> None:
    world.describe(node('NODE'))
    world.sync()


@world('docs/ownership.md', 'compute-agent sync\n')
def _first_write(world: World) -> None:
    world.describe(node('cn1', inventories={'VCPU': 8, 'DISK_GB': 251}))
    world.build(
        Made(
            name='cn1',
            uuid=CN1,
            inventories={'VCPU': 8, 'PCPU': 4, 'DISK_GB': 81920},
            traits=frozenset({'COMPUTE_NODE', 'OWNER_NOVA'}),
        )
    )


@world('docs/ownership.md', 'compute-agent plan')
def _two_removals(world: World) -> None:
    world.describe(node('cn1', traits=['HW_NIC_SRIOV'], exclusive=True))
    world.sync()
    world.others.add_traits(CN1, 'CUSTOM_HAND')
    world.describe(node('cn1', traits=[], exclusive=True))


@world('docs/ownership.md', 'compute-agent state show')
def _a_record(world: World) -> None:
    world.others.create(CN1, 'cn1')
    world.others.add_traits(CN1, 'CUSTOM_GOLD')
    world.sync()


@world('docs/ownership.md', 'compute-agent sync --prune')
def _leftovers(world: World) -> None:
    world.describe(node('cn1'))
    world.sync()
    world.others.add_traits(CN1, 'CUSTOM_GOLD', 'CUSTOM_SILVER')


@world(
    'docs/provider-commands.md',
    'compute-agent resource provider show cn1 --long\n',
)
def _a_guest(world: World) -> None:
    world.describe(
        node(
            'cn1',
            inventories={
                'MEMORY_MB': {'total': 24105, 'reserved': 512},
                'VCPU': {'total': 2, 'allocation_ratio': 4.0},
            },
            traits=['HW_CPU_X86_AVX2'],
            children=[{'name': 'numa0'}],
        )
    )
    world.sync()
    world.others.allocate(CN1, INSTANCE, {'MEMORY_MB': 4096, 'VCPU': 2})


@world(
    'docs/provider-commands.md',
    'compute-agent resource provider show cn1 --long -f json',
)
def _a_reader(world: World) -> None:
    world.sync()
    world.others.remove_traits(CN1, 'CUSTOM_GOLD')


@world('docs/provider-commands.md', 'cat gold.txt')
def _lists(world: World) -> None:
    folder = world.cli.folder / 'reader'
    folder.mkdir(exist_ok=True)
    (shown,) = (
        one.shown
        for one in pages.commands(world.page)
        if one.text == 'cat gold.txt'
    )
    (folder / 'gold.txt').write_text(shown)
    (folder / 'names.txt').write_text('CUSTOM_A\nCUSTOM_B\n')
    aggregate = small_cloud.AGGREGATE
    world.monkeypatch.setenv('AGG', aggregate)
    world.build(
        Made(
            name='cn1',
            uuid=CN1,
            inventories={'VCPU': 8},
            aggregates=frozenset({aggregate}),
        ),
        Made(name='cn 2', uuid=CN2),
    )
    world.cli.placement('/traits/CUSTOM_GOLD', 'PUT')
    for generation in range(world.others.generation(CN2), 7):
        world.others.set_inventories(CN2, {'VCPU': {'total': generation + 1}})


@world('docs/provider-config.md', 'compute-agent explain')
def _gold_file(world: World) -> None:
    text = (pages.ROOT / world.page).read_text()
    block = text.partition('```yaml\n')[2].partition('```')[0]
    folder = world.cli.provider_configs
    (folder / 'gold.yaml').write_text(block)
    world.replaced['/etc/nova/provider_config'] = str(folder)
    world.describe(node('cn1', children=[{'name': 'cn1_ens3'}]))
    world.sync()


@world('docs/traits-api.md', 'AGG=')
def _shared_storage(world: World) -> None:
    world.sync()
