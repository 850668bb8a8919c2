# SPDX-License-Identifier: Apache-2.0
"""A reporter leaves PCI devices to nova-compute, and accepts nova's options."""

import pytest
from oslo_config import cfg

from compute_agent.conf import compute_agent
from drivers.libvirt import conf as libvirt_conf
from drivers.libvirt.options import devices

SPEC = '{"address": "0000:00:05.0", "one_time_use": "true"}'


@pytest.fixture
def conf():
    made = cfg.ConfigOpts()
    compute_agent.register_opts(made)
    libvirt_conf.register_opts(made)
    made([])
    made.set_override('report_in_placement', True, 'pci')
    made.set_override('device_spec', [SPEC], 'pci')
    return made


@pytest.mark.parametrize('mode', ['owner', 'reporter'])
def test_options_that_need_placement_are_accepted(conf, mode):
    conf.set_override('mode', mode, 'compute_agent')
    found = devices.settings(conf)
    assert len(found.all_specs) == 1
    assert found.leaves_pci == (mode == 'reporter')
    assert bool(found.specs) == (mode == 'owner')
