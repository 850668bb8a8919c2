# SPDX-License-Identifier: Apache-2.0
"""The numbers of drivers for the metrics; a driver that fails has none."""

from compute_agent.cmd.run import monitors
from compute_agent.virt import driver, drivers


class Rack(driver.ComputeDriver):
    """A driver whose numbers a test changes."""

    def __init__(self, numbers):
        self.numbers = numbers

    @classmethod
    def from_conf(cls, conf):
        return cls({})

    def get_available_nodes(self):
        return []

    def metrics(self):
        if isinstance(self.numbers, Exception):
            raise self.numbers
        return self.numbers


def test_the_numbers_are_by_driver_and_name():
    every = drivers.Drivers({'rack': Rack({'fans': 3}), 'row': Rack({})})
    assert monitors.DriverValues(every)() == {('rack', 'fans'): 3.0}


def test_a_failure_is_said_once_and_spares_the_others(caplog):
    rack = Rack(OSError('no answer'))
    every = drivers.Drivers({'rack': rack, 'row': Rack({'fans': 1})})
    values = monitors.DriverValues(every)
    for _ in range(2):
        assert values() == {('row', 'fans'): 1.0}
    (line,) = caplog.messages
    assert line.startswith('no metrics of the driver: Rack failed in metrics')
    rack.numbers = {'fans': 2}
    assert values()['rack', 'fans'] == 2.0
