# SPDX-License-Identifier: Apache-2.0
"""The agent sees of a recorded driver what it sees of the driver itself."""

import agents
import pytest

from compute_agent.testing.contract import recorder
from compute_agent.virt import drivers
from compute_agent.virt.values.changes import Changes


class Telling(agents.Driver):
    """Tells a change; it fails without a ``since``."""

    def changes(self, since):
        if since is None:
            raise OSError('away')
        return Changes(names=['a'], since=since + 1)


def recorded(driver_class):
    """Return a recorder of a driver, and the driver as the agent names it."""
    made = recorder.Recorder.around(driver_class(bool))
    (named,) = drivers.Drivers.only(made)
    return made, named


@pytest.mark.catches('the suite has the agent ask every driver for changes')
def test_the_agent_asks_only_drivers_that_tell_changes():
    assert recorded(Telling)[1].tells_changes
    assert not recorded(agents.Driver)[1].tells_changes


def test_the_answer_is_that_of_the_driver():
    assert recorded(Telling)[1].changes(6) == Changes(
        names=frozenset('a'), since=7
    )
    assert recorded(agents.Driver)[0].changes(6) is None


def test_an_error_of_changes_is_recorded():
    made, _ = recorded(Telling)
    with pytest.raises(OSError, match='away'):
        made.changes(None)
    ((call, exc),) = made.raised
    assert (call, str(exc)) == ('changes(None)', 'away')
