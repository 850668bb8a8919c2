# SPDX-License-Identifier: Apache-2.0
"""What several runs come to. The benchmarks are no part of the wheel."""

import importlib.util
import pathlib
import sys

import pytest

PATH = pathlib.Path(__file__).parents[3] / 'benchmarks' / 'measure.py'


@pytest.fixture(scope='module')
def measure():
    """The module, from its file: the checkout need not be importable."""
    spec = importlib.util.spec_from_file_location('measure', PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules['measure'] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules['measure']


def runs(measure, *walls, cpu=0.1, requests=1):
    return [
        measure.Run(wall=wall, cpu=cpu, requests=requests) for wall in walls
    ]


def test_the_median_is_not_moved_by_one_slow_run(measure):
    found = measure.summary(runs(measure, 0.4, 0.5, 60.0))
    assert (found.count, found.wall) == (3, 0.5)
    assert (found.least, found.most) == (0.4, 60.0)
    assert (found.cpu, found.requests) == (0.1, 1)


def test_the_ratio_is_the_first_one_s_time_by_the_row_s(measure):
    found = {
        'ours': measure.summary(runs(measure, 0.4, cpu=0.25)),
        'another': measure.summary(runs(measure, 0.8, cpu=0.7, requests=2)),
    }
    header, ours, another = measure.table(found).splitlines()
    named = ['runs', 'wall', 'least', 'most', 'CPU', 'requests', 'ratio']
    assert header.split() == named
    assert ours.split()[-4:] == ['0.250', 's', '1', '1.00']
    assert another.split()[-4:] == ['0.700', 's', '2', '0.50']
    assert len({len(header), len(ours), len(another)}) == 1
