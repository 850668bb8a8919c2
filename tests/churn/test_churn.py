# SPDX-License-Identifier: Apache-2.0
"""Two agents and twenty operators at one provider: nobody loses anything.

The agents are processes with states and drivers of their own, which change
their minds; placement is a process too. ``make churn`` runs it for long.
"""

import sys

import churn
import pytest


@pytest.mark.long
def test_two_agents_and_twenty_operators_lose_nothing_and_come_to_rest(
    tmp_path,
):
    plan = churn.Plan(seconds=8, least=20, edits=30, rewrites=0.8)
    outcome = churn.run(tmp_path, plan)
    sys.stdout.write(f'{outcome}\n')
    assert outcome.problems() == []
    assert outcome.edits >= plan.least
    assert all(one.writes for one in outcome.agents)
