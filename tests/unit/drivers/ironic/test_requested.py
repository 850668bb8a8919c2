# SPDX-License-Identifier: Apache-2.0
"""A patch without an answer is told apart from a node that was not read."""

import pytest

from compute_agent import errors, extra_specs
from compute_agent.virt.values import requested as virt
from drivers.ironic import requested

UUID = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'
ROW = {
    'uuid': UUID,
    'name': 'rack1-node01',
    'resource_class': 'gold',
    'traits': ['CUSTOM_A'],
    'instance_info': {},
    'instance_uuid': None,
    'provision_state': 'available',
    'power_state': 'power off',
    'maintenance': False,
}
WANTED = extra_specs.parse([('trait:CUSTOM_A', 'required')], [])


class Api:
    """An Ironic with one node; calls fail as a test says."""

    def __init__(self, **failures):
        self.failures = failures
        self.row = ROW

    def node(self, _ident, _fields):
        if 'node' in self.failures:
            raise self.failures['node']
        return self.row

    def patch(self, _uuid, patch):
        self.row = {
            **ROW,
            'instance_info': {
                one['path'].rsplit('/', 1)[1]: one['value']
                for one in patch
                if 'value' in one
            },
        }
        if 'patch' in self.failures:
            raise self.failures['patch']


@pytest.mark.parametrize(
    'failure',
    [
        errors.Unavailable('Ironic does not answer'),
        errors.UnknownState('the answer of Ironic is cut off'),
    ],
)
def test_a_change_whose_answer_was_lost_is_unconfirmed(failure):
    api = Api(patch=failure)
    said = f'{failure}; it is unknown if node .* was changed: repeat'
    with pytest.raises(virt.Unconfirmed, match=said) as caught:
        requested.stage(api, UUID, WANTED)
    assert caught.value.staging.traits == ('CUSTOM_A',)
    with pytest.raises(virt.Unconfirmed, match=said) as caught:
        requested.unstage(api, UUID)
    assert caught.value.staging.summary == 'taken back'


def test_a_node_that_was_not_read_is_not_a_change():
    api = Api(node=errors.Unavailable('Ironic does not answer'))
    for call in (
        lambda: requested.stage(api, UUID, WANTED),
        lambda: requested.unstage(api, UUID),
    ):
        with pytest.raises(errors.Unavailable) as caught:
            call()
        assert not isinstance(caught.value, virt.Unconfirmed)


def test_a_dry_run_sends_nothing_so_no_answer_is_lost():
    api = Api(patch=errors.Unavailable('Ironic does not answer'))
    assert requested.stage(api, UUID, WANTED, dry_run=True).changed
    assert api.row == ROW
