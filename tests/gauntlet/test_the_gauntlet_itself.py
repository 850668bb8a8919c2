# SPDX-License-Identifier: Apache-2.0
"""A variant counts as found out only by what a check looks at."""

import logging

import pytest
from gauntlet import Variant, Weakness, against, verdict

LOG = logging.getLogger('compute_agent.variant')
HARMLESS = Variant('nothing')


def run(check, bench, monkeypatch, caplog):
    against(HARMLESS)(check)(bench, HARMLESS, monkeypatch, caplog)


def test_a_check_that_finds_something_is_content(bench, monkeypatch, caplog):
    def check(_bench):
        with verdict():
            assert not LOG.name

    run(check, bench, monkeypatch, caplog)


def test_a_check_that_cannot_fail_is_found_out(bench, monkeypatch, caplog):
    with pytest.raises(pytest.fail.Exception, match='DID NOT RAISE'):
        run(lambda _bench: None, bench, monkeypatch, caplog)


def test_an_accident_outside_of_the_verdict_is_none(
    bench, monkeypatch, caplog
):
    def check(_bench):
        assert not LOG.name

    with pytest.raises(AssertionError) as caught:
        run(check, bench, monkeypatch, caplog)
    assert not isinstance(caught.value, Weakness)


def test_a_part_that_breaks_is_no_weakness(bench, monkeypatch, caplog):
    """It would end a node's cycle, and so look like one."""

    def check(_bench):
        try:
            [].pop()
        except IndexError:
            LOG.debug('driver failed', exc_info=True)
        with verdict():
            assert not LOG.name

    with pytest.raises(AssertionError, match='driver failed'):
        run(check, bench, monkeypatch, caplog)


def test_the_agent_itself_has_to_pass(bench, monkeypatch, caplog):
    def check(_bench):
        with verdict():
            assert not LOG.name

    with pytest.raises(Weakness):
        against(HARMLESS)(check)(bench, None, monkeypatch, caplog)
