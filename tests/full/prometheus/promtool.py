# SPDX-License-Identifier: Apache-2.0
"""The alert rules in the hands of promtool, Prometheus' own judge of them.

``ask()`` feeds it series and compares its answers, ``judge()`` the alerts that
fire at each moment. A wrong answer fails the test with promtool's words.
"""

import pathlib
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence

import yaml

ROOT = pathlib.Path(__file__).parents[3]
RULES = ROOT / 'etc/prometheus/compute-agent.rules.yaml'
FETCHED = ROOT / '.servers/prometheus/promtool'
ALERTS = [
    rule['alert']
    for group in yaml.safe_load(RULES.read_text())['groups']
    for rule in group['rules']
]
# What a scrape adds to the samples.
TARGET = {'job': 'compute-agent', 'instance': 'cn1'}


def run(*arguments: str, given: str | None = None) -> str:
    """Run promtool; return what it printed, or fail with it."""
    program = str(FETCHED) if FETCHED.exists() else shutil.which('promtool')
    assert program, '"make .servers/prometheus.stamp" fetches promtool'
    ended = subprocess.run(
        [program, *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # seconds; a case takes a tenth of one on a machine at rest
    )
    printed = ended.stdout + ended.stderr
    assert ended.returncode == 0, printed
    return printed


def series(name: str) -> str:
    """Return a series with the labels of a scrape that it lacks."""
    found = re.fullmatch(r'(\w+)(?:\{(.*)\})?', name)
    assert found, name
    metric, labels = found.groups()
    added = [
        f'{key}="{value}"'
        for key, value in TARGET.items()
        if f'{key}="' not in (labels or '')
    ]
    return f'{metric}{{{",".join([*filter(None, [labels]), *added])}}}'


def judge(
    values: Mapping[str, str],
    tmp_path: pathlib.Path,
    *,
    alerts: str,
    firing: Mapping[str, Sequence[str]],
) -> None:
    """Fail unless alerts fire at these moments, and no others of them.

    :param values: series → values, one a minute
    :param alerts: a regular expression of the alerts that are looked at
    :param firing: moment → the alerts that fire then
    """
    firing_then = f'ALERTS{{alertstate="firing",alertname=~"{alerts}"}}'
    ask(
        values,
        tmp_path,
        {
            f'group by (alertname) ({firing_then})': {
                moment: [(f'{{alertname="{name}"}}', 1) for name in names]
                for moment, names in firing.items()
            }
        },
    )


def ask(
    values: Mapping[str, str],
    tmp_path: pathlib.Path,
    queries: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]],
) -> None:
    """Fail unless each query has these answers.

    :param values: series → values, one a minute
    :param queries: expression → moment → the labels and values of its samples
    """
    cases = {
        'rule_files': [str(RULES)],
        'evaluation_interval': '1m',
        'tests': [
            {
                'interval': '1m',
                'input_series': [
                    {'series': series(name), 'values': numbers}
                    for name, numbers in values.items()
                ],
                'promql_expr_test': [
                    _case(expr, moment, samples)
                    for expr, moments in queries.items()
                    for moment, samples in moments.items()
                ],
            }
        ],
    }
    file = tmp_path / 'cases.yaml'
    file.write_text(yaml.safe_dump(cases))
    run('test', 'rules', str(file))


def _case(
    expr: str, moment: str, samples: Sequence[tuple[str, float]]
) -> dict[str, object]:
    return {
        'expr': expr,
        'eval_time': moment,
        'exp_samples': [
            {'labels': labels, 'value': value} for labels, value in samples
        ],
    }
