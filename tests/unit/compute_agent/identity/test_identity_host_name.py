# SPDX-License-Identifier: Apache-2.0
"""The node has the name that placement knows it by."""

import types

from compute_agent.identity import identity
from compute_agent.tree.node import Node

NODE = Node(name='service', uuid='5f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11')


def test_a_name_that_was_guessed_is_settled_anew_when_libvirt_tells_it():
    known = types.SimpleNamespace(name='cn1.example', uuid=NODE.uuid)
    asked = []

    def by_uuid(uuid):
        asked.append(uuid)
        return [known]

    names = identity.HostName(by_uuid, lambda name: [])
    assert names.named(NODE, 'cn1').name == 'service'
    assert names.named(NODE, 'cn1.example').name == 'cn1.example'
    assert names.named(NODE, 'cn1.example').name == 'cn1.example'
    assert len(asked) == 2
