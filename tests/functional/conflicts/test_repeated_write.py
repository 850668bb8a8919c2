# SPDX-License-Identifier: Apache-2.0
"""A write that is committed and then answered 409 is still our own.

So it looks when something on the way repeats a request: keystoneauth with
status_code_retries, a load balancer, a proxy.
"""

import pytest

CONFLICT = (
    409,
    {
        'errors': [
            {
                'status': 409,
                'code': 'placement.concurrent_update',
                'detail': 'the generation moved',
            }
        ]
    },
)


def wants(*traits):
    def describe(tree, node):
        tree.declare_traits(node, *traits)

    return describe


@pytest.mark.parametrize('answer', [CONFLICT, 503, 502])
def test_what_was_written_so_is_ours_to_remove(
    placement, agent_factory, operator, answer
):
    agent = agent_factory(wants('CUSTOM_A'))
    agent.done()
    agent.driver.describe = wants('CUSTOM_A', 'CUSTOM_B')
    placement.fault(
        'PUT /resource_providers/*/traits', answer, after_commit=True
    )
    agent.sync()
    agent.done()
    assert {'CUSTOM_A', 'CUSTOM_B'} <= operator.traits()
    agent.driver.describe = wants('CUSTOM_A')
    agent.done()
    assert 'CUSTOM_B' not in operator.traits()


def test_what_another_wrote_at_that_moment_is_not(
    placement, agent_factory, operator
):
    agent = agent_factory(wants('CUSTOM_A'))
    agent.done()
    agent.driver.describe = wants('CUSTOM_A', 'CUSTOM_B')
    placement.fault('PUT /resource_providers/*/traits', CONFLICT)
    operator.add_traits('CUSTOM_B')
    agent.sync()
    agent.done()
    agent.driver.describe = wants('CUSTOM_A')
    agent.done()
    assert 'CUSTOM_B' in operator.traits()
