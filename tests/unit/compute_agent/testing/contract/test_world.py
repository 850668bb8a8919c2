# SPDX-License-Identifier: Apache-2.0
"""A world that is written wrong is refused with a line about the field."""

import pytest
from oslo_config import cfg

from compute_agent import errors, testing
from compute_agent.testing.contract import making, world
from compute_agent.virt import driver


class Rack(driver.ComputeDriver):
    @classmethod
    def register_opts(cls, conf):
        conf.register_opts(
            [cfg.StrOpt('file', deprecated_name='path'), cfg.MultiStrOpt('s')],
            group='rack',
        )

    @classmethod
    def from_conf(cls, conf):
        if conf.rack.file == 'more':
            conf.register_opt(cfg.StrOpt('more'), group='rack')
        return cls()

    def get_available_nodes(self):
        return ['rack1']

    def update_provider_tree(self, tree, nodename, allocations=None):
        pass


@pytest.mark.parametrize(
    ('fields', 'problem'),
    [
        ({'conf': 5}, r'^World\.conf = 5: write \{group: \{option'),
        ({'conf': {'DEFAULT': 5}}, r"^World\.conf: 'DEFAULT' has 5: write"),
        ({'conf': {'rack': {5: 1}}}, r'^World\.conf: \[rack\] has 5: write'),
        ({'seams': 5}, r'^World\.seams = 5: write a list of testing\.Seam$'),
        ({'seams': ['read']}, r"^World\.seams = \['read'\]: write a list"),
        ({'expected': 5}, r'^World\.expected: these are no providers: '),
        ({'change': 5}, r'^World\.change = 5: write a function, or None$'),
    ],
)
def test_a_field_of_another_type_is_refused(fields, problem):
    with pytest.raises(errors.ConfigError, match=problem):
        testing.World(**fields)


def test_a_fixture_that_returns_no_world_is_told():
    with pytest.raises(
        errors.ConfigError, match='fixture world returned None'
    ):
        world.checked(None)
    given = testing.World()
    assert world.checked(given) is given


def test_a_driver_that_is_neither_a_name_nor_a_class_is_refused():
    with pytest.raises(
        errors.ConfigError, match='^driver = 5: write the name'
    ):
        making.driver_class(5)


@pytest.mark.parametrize(
    ('conf', 'problem'),
    [
        (
            {'rack': {'filf': 'x'}},
            r'^World\.conf: \[rack\] has no option filf \(did you mean file\?',
        ),
        (
            {'rak': {'file': 'x'}},
            r'^World\.conf: there is no group \[rak\] \(did you mean rack\?\)$',
        ),
        ({'rack': {'file': 'a\rb'}}, r'^World\.conf: the option file has a'),
        ({'rack': {'file': 'a\n'}}, r'^World\.conf: the option file has a'),
    ],
)
def test_an_option_without_effect_is_refused(tmp_path, conf, problem):
    with pytest.raises(errors.ConfigError, match=problem):
        making.make(Rack, testing.World(conf=conf), tmp_path)


@pytest.mark.parametrize(
    'options',
    [
        {'file': 'x'},
        {'path': ''},
        {'s': ('a', 'b')},
        {'file': 'more', 'more': 1},
    ],
)
def test_registered_options_are_taken(tmp_path, options):
    given = {'rack': options, 'compute_agent': {'masked_traits': []}}
    assert making.make(Rack, testing.World(conf=given), tmp_path)
