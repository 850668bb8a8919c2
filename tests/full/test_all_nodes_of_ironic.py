# SPDX-License-Identifier: Apache-2.0
"""An audit hears of all nodes of a real Ironic, whoever describes them."""

from ironic_agents import ironic_driver


def test_all_nodes_are_listed_whatever_the_driver_describes(ironic):
    mine = ironic.available('mine', conductor_group='')
    other = ironic.available('other', conductor_group='')
    instance = ironic.deploy('other')
    driver = ironic_driver(ironic.url, conductor_group='elsewhere')
    assert driver.get_available_nodes() == []
    found = {one.uuid: one.instance_uuid for one in driver.cloud_nodes()}
    assert found == {mine: None, other: instance}
