# SPDX-License-Identifier: Apache-2.0
"""A node that left is looked for in placement.

White-box: no driver alone can give the provider of its node another name.
"""

import types

from compute_agent.testing.contract.rules import many_nodes

UUID = '1c0a7c52-6f0e-4d0b-8f65-2d6f7a7c9b10'


def trial(held, contents):
    return types.SimpleNamespace(
        held=lambda: held,
        placement=types.SimpleNamespace(contents=lambda: contents),
    )


def test_a_provider_with_the_name_that_nova_gave_it_is_found_by_its_uuid():
    of = trial(held={'cn1.example': {}}, contents={UUID: object()})
    assert many_nodes._is_held(of, 'cn1', UUID)


def test_another_node_with_the_name_of_the_one_that_left_is_not_it():
    of = trial(held={'cn1': {}}, contents={'another': object()})
    assert not many_nodes._is_held(of, 'cn1', UUID)


def test_a_node_without_a_uuid_is_found_by_its_name():
    of = trial(held={'cn1': {}}, contents={})
    assert many_nodes._is_held(of, 'cn1', None)
