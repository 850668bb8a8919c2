# SPDX-License-Identifier: Apache-2.0
"""A cloud to look at: three trees, a pool, allocations, and changes that wait.

``build`` makes it with the command line of a test: an agent reports cn1 and cn2
and a pool of storage, another writer has made cn3, and an operator has
changed things that the next cycle restores.
"""

import command_line
import yaml

CN1 = '11111111-1111-4111-8111-111111111111'
CN2 = '22222222-2222-4222-8222-222222222222'
CN3 = '33333333-3333-4333-8333-333333333333'
GPU = '44444444-4444-4444-8444-444444444444'
POOL = '55555555-5555-4555-8555-555555555555'
STORAGE = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
INSTANCES = [f'bbbbbbbb-bbbb-4bbb-8bbb-00000000000{n}' for n in range(6)]
AVX512 = ['HW_CPU_X86_AVX512F', 'HW_CPU_X86_AVX512BW', 'HW_CPU_X86_AVX512VL']
# What a page must never take for markup.
HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(2)>{{7*7}}'


def _numa(host: str, number: int, **more: object) -> dict[str, object]:
    return {
        'name': f'{host}_NUMA{number}',
        'inventories': {
            'VCPU': {'total': 32, 'reserved': 2, 'allocation_ratio': 4.0},
            'MEMORY_MB': {'total': 131072, 'reserved': 4096},
        },
        'traits': ['HW_NUMA_ROOT'],
        **more,
    }


def description(*, gold: bool = True) -> dict[str, object]:
    """Return what the driver describes.

    :param gold: cn1 and cn2 have CUSTOM_GOLD
    """
    custom = ['CUSTOM_GOLD'] if gold else []
    gpu = {
        'name': 'cn1_gpu0',
        'uuid': GPU,
        'inventories': {'VGPU': 8},
        'traits': ['CUSTOM_GPU_A40'],
    }
    return {
        'nodes': [
            {
                'name': 'cn1',
                'uuid': CN1,
                'inventories': {},
                'traits': [
                    'HW_CPU_X86_AVX2', 'HW_CPU_X86_AESNI', 'HW_ARCH_X86_64',
                    'COMPUTE_NODE', *AVX512, *custom,
                ],
                'aggregates': [STORAGE],
                'children': [_numa('cn1', 0, children=[gpu]), _numa('cn1', 1)],
            },
            {
                'name': 'cn2',
                'uuid': CN2,
                'inventories': {
                    'VCPU': {'total': 16, 'allocation_ratio': 2.0},
                    'MEMORY_MB': {'total': 65536, 'reserved': 2048},
                },
                'traits': [
                    'HW_CPU_X86_AVX2', 'HW_ARCH_X86_64', 'COMPUTE_NODE',
                    *custom,
                ],
                'aggregates': [STORAGE],
            },
        ],
        'sharing_providers': [
            {
                'name': 'ceph-ssd',
                'uuid': POOL,
                'inventories': {'DISK_GB': {'total': 40000, 'reserved': 2000}},
                'traits': ['STORAGE_DISK_SSD'],
                'aggregates': [STORAGE],
            }
        ],
    }  # fmt: skip


def describe(cli: command_line.CommandLine, data: dict[str, object]) -> None:
    """Have the driver describe this."""
    cli.fake_file.write_text(yaml.safe_dump(data))


def build(cli: command_line.CommandLine) -> None:
    """Make the cloud, and what the next cycle would do to it."""
    cli.configure(agent={'max_removed_percent': 0})
    describe(cli, description())
    assert cli.run('sync', '--yes').code == 0, cli.run('sync', '--yes').err
    others = cli.others
    others.create(CN3, 'cn3')
    others.set_inventories(
        CN3,
        {'VCPU': {'total': 8}, 'MEMORY_MB': {'total': 16384, 'reserved': 512}},
    )
    others.add_traits(CN3, 'COMPUTE_NODE', 'OWNER_NOVA', 'HW_ARCH_X86_64')
    for number, (where, amounts) in enumerate(
        (
            (f'cn1_NUMA{0}', {'VCPU': 40, 'MEMORY_MB': 98304}),
            (f'cn1_NUMA{1}', {'VCPU': 6, 'MEMORY_MB': 8192}),
            ('cn1_gpu0', {'VGPU': 5}),
            ('cn2', {'VCPU': 30, 'MEMORY_MB': 30720}),
            ('ceph-ssd', {'DISK_GB': 17000}),
            ('cn3', {'VCPU': 8, 'MEMORY_MB': 8192}),
        )
    ):
        others.allocate(where, INSTANCES[number], amounts)
    # Used above its capacity, as after a change of the ratio.
    others.change_inventory('cn2', 'VCPU', allocation_ratio=1.5)
    done = cli.run(
        'resource', 'provider', 'trait', 'remove', 'cn2', 'CUSTOM_GOLD'
    )
    assert done.code == 0, done.err
    # cn1 and cn2 lose it in the next cycle, which is a mass.
    describe(cli, description(gold=False))
