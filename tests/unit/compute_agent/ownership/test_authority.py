# SPDX-License-Identifier: Apache-2.0
"""An authority claims what it names, and never more by a slip."""

import pytest

from compute_agent import errors
from compute_agent.ownership.policy import Policy

UUID = '11111111-1111-4111-8111-111111111111'


@pytest.mark.parametrize(
    'authority',
    ['CUSTOM_MINE_*', ('*',), ('',), ('HW_*_X',), ('hw_cpu_*',), (None,)],
)
def test_what_is_neither_trait_nor_prefix_is_refused(authority):
    with pytest.raises(errors.DriverError, match='authority'):
        Policy(authority={'driver': authority})


def test_names_and_prefixes_decide_what_they_say():
    policy = Policy(authority={'driver': ['HW_CPU_*', 'HW_ARCH_X86_64']})
    assert policy.decides('driver', 'HW_CPU_X86_AVX')
    assert policy.decides('driver', 'HW_ARCH_X86_64')
    assert not policy.decides('driver', 'HW_ARCH_X86_64_V2')
    assert not policy.decides('driver', 'CUSTOM_HW_CPU_')


def test_no_prefix_reaches_what_others_decide_by():
    policy = Policy(authority={'driver': ['COMPUTE_*', 'O*']})
    assert not policy.decides('driver', 'COMPUTE_STATUS_DISABLED')
    assert not policy.decides('driver', 'OWNER_CYBORG')
