# SPDX-License-Identifier: Apache-2.0
"""The contract suite of the agent's drivers, on drivers of nova's."""


def test_novas_drivers_keep_the_contract(beside_nova):
    done = beside_nova.pytest('contract_of_nova.py')
    assert done.returncode == 0, done.stdout
    assert ' passed' in done.stdout
