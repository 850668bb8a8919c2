# SPDX-License-Identifier: Apache-2.0
"""Each rule fails a bad driver, and bites: a weaker check lets it pass.

White-box: the weak variants replace private parts of the checks.
"""

import contextlib
import dataclasses

import bad
import bad_answers
import bad_changes
import bad_cycles
import bad_facts
import bad_guests
import bad_import
import bad_nodes
import bad_servers
import bad_words
import bad_worlds
import pytest

from compute_agent import testing
from compute_agent.testing.contract import runner
from compute_agent.testing.contract.rules import catalogue

MODULES = (
    bad_answers,
    bad_changes,
    bad_cycles,
    bad_facts,
    bad_guests,
    bad_import,
    bad_nodes,
    bad_servers,
    bad_words,
    bad_worlds,
)


@pytest.fixture(params=bad.DRIVERS, ids=str)
def one(request, monkeypatch):
    """A bad driver."""
    for plant in request.param.always:
        plant.plant(monkeypatch)
    return request.param


@pytest.fixture
def world(one):
    """The world of the bad driver."""
    made = one.world()
    if isinstance(made, contextlib.AbstractContextManager):
        with made as found:
            yield found
    else:
        yield made


def test_the_suite_names_the_rule_the_call_and_the_fix(one, world):
    class Suite(testing.DriverContract):
        driver = one.driver
        capabilities = one.capabilities

    with pytest.raises(pytest.fail.Exception) as failed:
        Suite().test_rule(one.finder, world, lambda *_: None)
    line = failed.value.msg
    assert line.startswith(f'{one.rule}: {one.call}')
    assert one.fix in line.partition('; ')[2]
    assert '\n' not in line


@pytest.mark.long  # it tests the tests
def test_a_weaker_check_lets_the_driver_pass(one, world, monkeypatch):
    weaker = dataclasses.replace(
        one.finder, check=one.check or one.finder.check
    )
    one.weak.plant(monkeypatch)
    found = runner.check(weaker, one.driver, world, one.capabilities)
    assert found.status is runner.Status.PASSED, found.reason


def test_each_rule_has_a_bad_driver_and_a_weak_variant():
    assert {one.number for one in bad.DRIVERS} == set(catalogue.BY_NUMBER)


def test_each_module_has_bad_drivers():
    modules = {module.__name__ for module in MODULES}
    assert {one.driver.__module__ for one in bad.DRIVERS} == modules
