# SPDX-License-Identifier: Apache-2.0
"""The mark ``long_except`` leaves some cases of a test to ``make test-full``."""

import pytest


@pytest.mark.long_except(every=3)
@pytest.mark.parametrize('number', range(5))
def test_all_cases_but_every_third_are_long(request, number):
    is_long = request.node.get_closest_marker('long') is not None
    assert is_long is (number not in {0, 3})
