# SPDX-License-Identifier: Apache-2.0
"""Made-up measurements, for the tests of what benchmarks make of them."""

import typing

from benchmarks.sync_cycles import measurement, scenarios

FLAT = measurement.Place(
    database='postgresql', shape=scenarios.Shape.FLAT, nodes=100
)


def measured(
    scenario: str = 'steady', agent: str = scenarios.OURS, **fields: typing.Any
) -> measurement.Measurement:
    """Return a measurement, of these fields where they matter."""
    values: dict[str, typing.Any] = {
        'place': FLAT,
        'repeat': 0,
        'wall': 0.5,
        'cpu': 0.1,
        'peak_mib': 80.0,
        'placement_cpu': 0.2,
        'database_cpu': 0.05,
        'routes': {'GET /resource_providers': 1},
        **fields,
    }
    return measurement.Measurement(scenario=scenario, agent=agent, **values)


def nova(
    scenario: str = 'steady', **fields: typing.Any
) -> measurement.Measurement:
    """Return one of nova's."""
    return measured(scenario, scenarios.NOVA, **fields)


def results(
    *measurements: measurement.Measurement, **fields: typing.Any
) -> measurement.Results:
    """Return a run's results."""
    return measurement.Results(
        machine={'machine': 'a small one'},
        measurements=list(measurements),
        **fields,
    )
