# SPDX-License-Identifier: Apache-2.0
"""The proofs in the package say what the contract suite finds today.

The contract class of each driver lists exactly the rules that are not tried,
and its own test fails if another one is not, or is broken. So a file that has
the rules of today and leaves out exactly these is true. ``make driver-checks``
writes the files.
"""

import importlib.metadata
import json

import driver_checks
import pytest

from compute_agent import testing
from compute_agent.testing.contract import capability, making
from compute_agent.testing.contract.rules import catalogue
from compute_agent.virt import loader
from drivers.exec import driver as programs
from drivers.nova import driver as nova

CONTRACTS = [driver_checks.contract_class(n) for n in driver_checks.DRIVERS]
AGAIN = 'run make driver-checks'


@pytest.fixture(params=CONTRACTS, ids=lambda contract: contract.driver)
def contract(request):
    """The contract class of a driver of this package."""
    return request.param


@pytest.fixture
def proof(contract):
    """The proof in the package."""
    return json.loads(driver_checks.file_of(contract.driver).read_text())


def test_it_is_of_this_contract_and_this_version(proof):
    assert proof['contract'] == testing.CONTRACT_VERSION, AGAIN
    releases = {
        version.partition('.dev')[0]
        for version in (
            importlib.metadata.version('compute-agent'),
            proof['driver']['version'],
        )
    }
    assert len(releases) == 1, AGAIN


def test_it_has_the_rules_of_today(proof):
    assert [(row['number'], row['title']) for row in proof['rules']] == [
        (one.number, one.title) for one in catalogue.RULES
    ], AGAIN


def test_it_passes_each_rule_but_those_that_the_contract_class_leaves_out(
    contract, proof
):
    passed = {r['number'] for r in proof['rules'] if r['status'] == 'passed'}
    assert passed == {
        number
        for number in catalogue.BY_NUMBER
        if number not in contract.skips
    }, AGAIN
    assert proof['result']['failed'] == 0
    assert proof['result']['passed'] == len(passed)


def test_it_is_of_this_driver_and_its_capabilities(contract, proof):
    found = making.driver_class(contract.driver)
    shown = {*contract.capabilities, *capability.shown_by(found)}
    assert proof['driver']['class'] == f'{found.__module__}:{found.__name__}'
    assert proof['capabilities'] == sorted(one.name for one in shown), AGAIN


def test_each_driver_of_this_package_has_one():
    """Except nova's drivers and programs, which are not of this package."""
    ours = {
        one.target
        for one in loader.installed()
        if one.distribution == 'compute-agent'
    } - {f'{nova.__name__}:NovaDriver', f'{programs.__name__}:ExecDriver'}
    assert {
        f'{found.__module__}:{found.__name__}'
        for found in (making.driver_class(c.driver) for c in CONTRACTS)
    } == ours
