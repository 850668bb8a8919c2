# SPDX-License-Identifier: Apache-2.0
"""A bad driver whose module changes the process when it is imported."""

import os

from bad import breaks
from rack import Rack
from variants import Plant

from compute_agent.testing.contract.rules import guests

os.environ['RACKS_COLOUR'] = 'never'


@breaks(
    'CA042',
    call='import bad_import: the environment has another RACKS_COLOUR',
    fix="leave the process as it is: it is the agent's",
    weak=('imports nothing', Plant(guests._check_import, lambda _: None)),
)
class SetsTheEnvironmentAtImport(Rack):
    """Its import is enough."""
