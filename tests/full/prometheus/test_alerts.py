# SPDX-License-Identifier: Apache-2.0
"""Each alert fires, and does not fire just below its limit.

The series are written by hand in ``alerts.yaml``; ``test_scraped.py`` has those
of agents.
"""

import pathlib

import promtool
import pytest
import yaml

FILE = pathlib.Path(__file__).with_name('alerts.yaml')
# All scalars are strings: 0x10 is eleven zeros here, and no number.
CASES = yaml.load(FILE.read_text(), yaml.BaseLoader)


def test_promtool_accepts_the_rules():
    printed = promtool.run('check', 'rules', '--lint=all', str(promtool.RULES))
    assert f'{len(promtool.ALERTS)} rules found' in printed


@pytest.mark.parametrize('alert', promtool.ALERTS)
def test_each_alert_has_cases_in_which_it_fires_and_does_not(alert):
    assert any(case.get('fires') for case in CASES[alert])
    assert any(case.get('quiet') for case in CASES[alert])


def test_each_case_is_of_an_alert():
    assert list(CASES) == promtool.ALERTS


@pytest.mark.parametrize(
    ('alert', 'case'),
    [
        pytest.param(alert, case, id=f'{alert}: {case["case"]}')
        for alert, cases in CASES.items()
        for case in cases
    ],
)
def test_an_alert_fires_when_it_should(alert, case, tmp_path):
    firing = {
        **{moment: [alert] for moment in case.get('fires', ())},
        **{moment: [] for moment in case.get('quiet', ())},
    }
    assert firing
    promtool.judge(case['series'], tmp_path, alerts=alert, firing=firing)
