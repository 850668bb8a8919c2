# SPDX-License-Identifier: Apache-2.0
"""The fake driver keeps the contract, with the nodes of a file."""

from typing import ClassVar

import pytest
import shipped
import yaml

from compute_agent import file_trust, testing

CUT = 'the first half of a YAML text may be a whole document'


def node(number):
    name = f'node-{number}'
    return {
        'name': name,
        'moves': ['VGPU'],
        'foreign_children': 'leave',
        'inventories': {'VCPU': {'total': 16, 'reserved': 1}, 'VGPU': 8},
        'traits': ['HW_CPU_X86_AVX2', 'CUSTOM_GOLD'],
        'aggregates': ['0c2b7b52-5a3e-4d58-8d0f-0b1d2c1a9e01'],
        'children': [
            {
                'name': f'{name}-card',
                'foreign_children': 'leave',
                'inventories': {'SRIOV_NET_VF': 8},
                'traits': ['CUSTOM_PHYSNET_1'],
            }
        ],
    }


class File:
    """The file of the driver."""

    def __init__(self, path):
        self.path = path
        self.nodes(1)

    def nodes(self, count):
        self._write([node(number) for number in range(count)])

    def change(self):
        changed = node(0)
        changed['traits'].append('CUSTOM_SILVER')
        changed['children'][0]['inventories'] = {'SRIOV_NET_VF': 4}
        self._write([changed])

    def reshape(self):
        moved = node(0)
        del moved['inventories']['VGPU']
        moved['children'].append(
            {'name': 'node-0-gpu', 'inventories': {'VGPU': 8}}
        )
        self._write([moved])

    def _write(self, nodes):
        said = {'nodes': nodes, 'authority': ['HW_CPU_X86_AVX2']}
        self.path.write_text(yaml.safe_dump(said))


class TestFake(shipped.ShippedContract):
    driver = 'fake'
    skips: ClassVar = {
        **shipped.NO_SERVER,
        'CA011': CUT,
        'CA022': 'its file sends no events',
        'CA023': 'it reads its file anew in each cycle, and promises no facts',
        'CA027': 'its one option is a path, and any text is one',
        'CA033': 'an edited file may have changed any node',
    }
    capabilities = (
        testing.Capability.SEVERAL_NODES,
        testing.Capability.RESHAPE,
    )

    @pytest.fixture
    def world(self, tmp_path):
        file = File(tmp_path / 'fake.yaml')
        return testing.World(
            conf={'fake': {'file': file.path}},
            seams=[
                testing.Seam(
                    'file',
                    file_trust,
                    'read',
                    silent={testing.Fault.HALF: CUT},
                    is_remote=False,
                )
            ],
            change=file.change,
            nodes=file.nodes,
            reshape=file.reshape,
            expected={
                'node-0': {
                    'inventories': {'VCPU': {'total': 16, 'reserved': 1}},
                    'traits': ['CUSTOM_GOLD'],
                }
            },
            is_shared=True,
        )
