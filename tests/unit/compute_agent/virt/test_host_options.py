# SPDX-License-Identifier: Apache-2.0
"""A driver has nova's ways to the ratios and to what is the host's."""

import pytest

from compute_agent.tree import host_inventory, inventory
from compute_agent.virt import driver


class Pasted(driver.ComputeDriver):
    """The body of a nova driver."""

    @classmethod
    def from_conf(cls, conf):
        return cls()

    def get_available_nodes(self):
        return ['cn1']

    def ask(self, held):
        return (
            self._get_allocation_ratios(held),
            self._get_reserved_host_disk_gb_from_config(),
        )


def test_without_an_agent_nova_s_defaults_count():
    ratios, disk = Pasted().ask({})
    assert ratios == {'VCPU': 4.0, 'MEMORY_MB': 1.0, 'DISK_GB': 1.0}
    assert disk == 0


@pytest.mark.parametrize(
    ('forced', 'held', 'ratio'),
    [
        ({}, {}, 2.0),
        ({}, {'VCPU': {'total': 8, 'allocation_ratio': 16.0}}, 16.0),
        ({'VCPU': 8.0}, {'VCPU': {'total': 8, 'allocation_ratio': 1.0}}, 8.0),
    ],
    ids=['a new inventory', 'an operator', 'an option'],
)
def test_the_agent_s_options_decide_as_nova_s_do(forced, held, ratio):
    made = Pasted()
    made.host_options = driver.HostOptions(
        ratios=inventory.Ratios(forced=forced, initial={'VCPU': 2.0}),
        reserved=host_inventory.Reserved(disk_mb=1025),
    )
    ratios, disk = made.ask(held)
    assert ratios['VCPU'] == ratio
    assert disk == 2
