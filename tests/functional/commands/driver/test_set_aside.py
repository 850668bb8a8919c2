# SPDX-License-Identifier: Apache-2.0
"""The commands say which provider a driver set aside, and why.

They run in processes of their own, beside an installed package.
"""

import json

import installed_package
import pytest

DRIVER = """
from compute_agent.virt import driver


class Cards(driver.ComputeDriver):
    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return ['cn1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        tree.declare_inventory(nodename, {'VCPU': {'total': 4}})
        tree.reconcile_children(
            nodename, {'cn1_gpu': {'inventory': {'VGPU': {'total': 2}}}}
        )
        tree.unhealthy('cn1_gpu', 'its fan stands still')
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    """An installed package with the driver."""
    installed_package.install(
        tmp_path / 'site',
        'cards',
        points='[compute_agent.drivers]\ncards = cards:Cards\n',
        modules={'cards': DRIVER},
    )
    monkeypatch.setenv('PYTHONPATH', str(tmp_path / 'site'))


def test_each_command_tells_the_reason(cli):
    cli.configure(compute_driver='cards')
    said = (
        'cn1_gpu: unhealthy (its fan stands still), so all of it is reserved'
    )
    synced = cli.process('sync')
    assert synced.returncode == 0, synced
    assert f'note: {said}' in synced.stdout
    shown = cli.process('tree', 'show', 'cn1').stdout
    assert 'VGPU: 2, 2 reserved' in shown
    assert 'unhealthy: its fan stands still' in shown
    (tree,) = json.loads(
        cli.process('tree', 'show', 'cn1', '-f', 'json').stdout
    )
    aside = {one['name']: one['set_aside'] for one in tree['providers']}
    assert aside == {'cn1': None, 'cn1_gpu': said}
    explained = cli.process('explain', 'COMPUTE_NODE')
    assert f'note: {said}' in explained.stdout
