# SPDX-License-Identifier: Apache-2.0
"""The contract of a driver of this package, which skips no rule unnoticed."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pytest

from compute_agent import testing

ONE_NODE = 'it describes the host that it runs on, and no other node'
ONE_NODE_RULES = dict.fromkeys(('CA028', 'CA029', 'CA030'), ONE_NODE)
NO_CHANGES = dict.fromkeys(
    ('CA032', 'CA033', 'CA034', 'CA035', 'CA036'),
    'it cannot tell which nodes changed',
)
NO_SERVER = {'CA039': 'it connects to no server over TCP'}
_UNTRIED = {'skipped', 'not tried'}
OUTCOME = 'compute_driver_rule'  # the property that the suite records


class ShippedContract(testing.DriverContract):
    """A contract with the exact list of the rules that it skips.

    :cvar skips: number of a rule → why this driver need not be tried by it
    """

    skips: ClassVar[Mapping[str, str]] = {}

    @pytest.fixture(autouse=True)
    def _skips_only_what_is_permitted(
        self, request: pytest.FixtureRequest
    ) -> Iterator[None]:
        yield
        ((number, is_skipped, reason),) = [
            (value['number'], value['status'] in _UNTRIED, value['reason'])
            for name, value in request.node.user_properties
            if name == OUTCOME
        ]
        if is_skipped and number not in self.skips:
            pytest.fail(
                f'{number} is skipped ({reason}): give the world what the rule '
                'needs, or name the rule in skips with the reason'
            )
        if number in self.skips and not is_skipped:
            pytest.fail(f'{number} is tried: take it out of skips')
