# SPDX-License-Identifier: Apache-2.0
"""The drivers of one agent: their names as sources, and calls of each."""

import types

import agents
import pytest

from compute_agent import errors
from compute_agent.virt import drivers
from compute_agent.virt.values.changes import Changes


def said(message=None):
    """Return a driver whose reload raises, if there is a message."""
    calls = []

    def reload():
        calls.append('reload')
        if message:
            raise errors.ConfigError(message)

    return types.SimpleNamespace(
        reload=reload, subscribe=calls.append, calls=calls
    )


@pytest.mark.parametrize(
    ('names', 'sources'),
    [
        (['libvirt'], ['driver']),
        (['libvirt', 'host'], ['driver:libvirt', 'driver:host']),
    ],
)
def test_only_several_drivers_are_named_as_sources(names, sources):
    made = drivers.Drivers({name: said() for name in names})
    assert [one.source for one in made] == sources


@pytest.mark.catches('an event is for the drivers of all nodes')
def test_every_driver_is_subscribed_and_reloaded_whatever_another_says():
    one, two = said('rules.yaml:3: wrong'), said()
    made = drivers.Drivers({'a': one, 'b': two})
    woken = []
    made.subscribe(woken.append)
    with pytest.raises(errors.ConfigError, match='^driver a: rules.yaml:3'):
        made.reload()
    for each in (one, two):
        wake, reload = each.calls
        wake()
        assert reload == 'reload'
    assert woken == [*made]


class Telling(agents.Driver):
    """A driver that tells changes: what a test gives it, or raises that."""

    answer = None

    def changes(self, since):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def telling(answer):
    one = Telling(bool)
    one.answer = answer
    return next(iter(drivers.Drivers({'a': one})))


def test_a_driver_that_overrides_changes_tells_them():
    assert telling(None).tells_changes
    (silent,) = drivers.Drivers({'a': agents.Driver(bool)})
    assert not silent.tells_changes
    assert silent.changes(None) is None


def test_names_of_changes_are_a_set():
    given = Changes(names=['a', 'b', 'a'], since=[7])
    assert telling(given).changes(None) == Changes(
        names=frozenset('ab'), since=[7]
    )


@pytest.mark.parametrize(
    ('answer', 'why'),
    [
        (['a'], 'no Changes, but list'),
        (Changes(names=[1], since=0), 'a name that is no text'),
        (Changes(names=None, since=0), 'not iterable'),
        (Changes(names='rack', since=0), "one text as the names: 'rack'"),
        (OSError('away'), 'away'),
        (SystemExit(1), 'SystemExit'),
    ],
)
def test_an_answer_that_is_no_changes_is_the_drivers_mistake(answer, why):
    with pytest.raises(errors.DriverError, match=f'^Telling failed.*{why}'):
        telling(answer).changes(None)


def test_the_mistake_of_the_only_driver_is_told_as_it_is():
    with pytest.raises(errors.ConfigError, match='^rules.yaml:3: wrong$'):
        drivers.Drivers({'a': said('rules.yaml:3: wrong')}).reload()


def test_the_first_value_counts_when_mappings_are_merged():
    merged = drivers.merged([{'a': 1, 'b': 2}, {'b': 3, 'c': 4}])
    assert merged == {'a': 1, 'b': 2, 'c': 4}


@pytest.mark.parametrize(
    ('given', 'found'), [(None, None), ({}, {}), ({'rack': 1}, {'rack': '1'})]
)
def test_the_filter_of_its_nodes_is_a_mapping_of_texts(given, found):
    one = types.SimpleNamespace(node_filter=given)

    assert drivers.Drivers({'racks': one}).filters == [('racks', found)]


def test_a_filter_that_is_no_mapping_is_the_drivers_mistake():
    made = drivers.Drivers({'racks': types.SimpleNamespace(node_filter='r1')})

    with pytest.raises(errors.DriverError, match='node_filter returned'):
        _ = made.filters
