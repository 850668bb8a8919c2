# SPDX-License-Identifier: Apache-2.0
"""Whatever happens to Ironic and the agent, what Ironic can tell is right.

``ironic_sequences.py`` says what happens and what must be right. With
COMPUTE_AGENT_EXAMPLES=10 there are 10,000 sequences.
"""

import pytest
from examples import examples
from ironic_sequences import Sequence

SEQUENCES = 1000
GROUPS = 10


@pytest.mark.parametrize('group', range(GROUPS))
@pytest.mark.catches('a walk ends where the one before it began', case='0')
@pytest.mark.catches(
    'a walk is settled before it has read the overlap again', case='0'
)
@pytest.mark.catches('a list goes down no further than a question', case='0')
@pytest.mark.catches('a page begins behind a node without a time', case='0')
@pytest.mark.catches('new nodes wait for the list', case='0')
@pytest.mark.catches('an older database is not noticed', case='0')
@pytest.mark.catches('a question that failed is forgotten', case='0')
def test_what_ironic_can_tell_is_right(group):
    each = examples(SEQUENCES) // GROUPS
    for number in range(group * each, (group + 1) * each):
        sequence = Sequence(number)
        try:
            sequence.run()
        except AssertionError as exc:
            happened = '\n'.join(sequence.done)
            raise AssertionError(
                f'sequence {number}: {exc}\n{happened}'
            ) from exc
