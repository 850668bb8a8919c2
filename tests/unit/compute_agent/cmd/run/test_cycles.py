# SPDX-License-Identifier: Apache-2.0
"""The wait before the first cycle, and what a reload reads."""

import logging
import types

import pytest
from oslo_config import cfg

from compute_agent import conf as agent_conf
from compute_agent import errors
from compute_agent.cmd.app import plain_text
from compute_agent.cmd.run import cycles


class Requests:
    """Signals that never come; a wait for the stop takes no time.

    :ivar waited: the seconds of each
    """

    def __init__(self):
        self.waited = []

    def wait_before_first(self, timeout):
        self.waited.append(timeout)


@pytest.fixture
def waits():
    """Return the waits before the first cycle, with these options."""

    def waits(delay, *, interval=0, embedded=False):
        conf = cfg.ConfigOpts()
        agent_conf.register_opts(conf, agent_conf.groups())
        conf([])
        conf.set_override('periodic_fuzzy_delay', delay)
        conf.set_override('update_resources_interval', interval)
        conf.set_override('embedded', embedded, 'placement')
        requests = Requests()
        agent = types.SimpleNamespace(begin_files=lambda: None)
        work = cycles.Cycles(
            conf, lambda: conf, agent, requests, cfg.ConfigOpts()
        )
        work.wait_before_first()
        return requests.waited

    return waits


def test_the_wait_is_at_random_up_to_the_delay_and_ends_only_with_all(waits):
    found = [waits(20) for _ in range(50)]
    assert all(len(each) == 1 for each in found)
    seconds = {wait for each in found for wait in each}
    assert len(seconds) == 50
    assert 0 <= min(seconds) < max(seconds) <= 20


@pytest.mark.parametrize(
    ('interval', 'most'), [(0, 60), (2, 2), (600, 600), (-1, 3600)]
)
def test_the_wait_is_no_longer_than_an_interval(waits, interval, most):
    found = [
        wait for _ in range(50) for wait in waits(3600, interval=interval)
    ]
    assert most / 2 < max(found) <= most


def test_it_is_said_with_its_seconds(waits, caplog):
    caplog.set_level(logging.INFO)
    (seconds,) = waits(60)
    (record,) = caplog.records
    assert record.getMessage() == (
        f'the first cycle begins in {seconds:.1f} s (periodic_fuzzy_delay)'
    )


@pytest.mark.parametrize('options', [(0, False), (60, True), (0, True)])
def test_without_it_or_with_a_placement_of_its_own_nothing_is_waited_for(
    waits, caplog, options
):
    caplog.set_level(logging.DEBUG)
    delay, embedded = options
    assert waits(delay, embedded=embedded) == []
    assert caplog.records == []


def _reload(conf, reload_driver):
    """Reload with a driver like this; return the names that were reloaded."""
    done = []
    agent = types.SimpleNamespace(
        reload=lambda settings: done.append('files'),
        reload_driver=lambda: done.append('driver') or reload_driver(),
    )
    work = cycles.Cycles(conf, lambda: conf, agent, Requests(), conf)
    work.reload()
    return done


@pytest.fixture
def conf(tmp_path):
    conf = cfg.ConfigOpts()
    agent_conf.register_opts(conf, agent_conf.groups())
    conf([])
    conf.set_override('state_path', str(tmp_path), 'compute_agent')
    return conf


def test_a_reload_tells_the_driver_to_read_its_files_again(conf, caplog):
    caplog.set_level(logging.INFO)
    assert _reload(conf, lambda: None) == ['files', 'driver']
    assert 'reloaded' in caplog.records[-1].getMessage()


def test_a_mistake_in_the_driver_s_files_is_told_and_no_other_is(conf, caplog):
    def wrong():
        raise errors.ConfigError('rules.yaml:3:1: write it so')

    caplog.set_level(logging.INFO)
    assert _reload(conf, wrong) == ['files', 'driver']
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == (
        "the driver's files not reloaded, the earlier version stays in force: "
        'rules.yaml:3:1: write it so'
    )


def test_a_file_that_came_or_went_since_the_start_is_said(conf, caplog):
    """The options in force are read again from the files of the start."""
    agent = types.SimpleNamespace(
        reload=lambda _: None, reload_driver=lambda: None
    )
    fresh = types.SimpleNamespace(config_file=['/etc/conf.d/new.conf'])
    work = cycles.Cycles(conf, lambda: fresh, agent, Requests(), conf)
    work.reload()
    (record,) = caplog.records
    assert '/etc/conf.d/new.conf came or went' in record.getMessage()


def test_handlers_that_a_reload_makes_are_escaped():
    """As oslo.log does if the file of log_config_append has changed."""
    logger = logging.getLogger('compute_agent.of_a_reload')
    handler = logging.NullHandler()
    conf = types.SimpleNamespace(
        config_file=[],
        mutate_config_files=lambda: logger.addHandler(handler),
    )
    agent = types.SimpleNamespace(
        reload=lambda _: None, reload_driver=lambda: None
    )
    work = cycles.Cycles(conf, lambda: conf, agent, Requests(), conf)
    try:
        work._mutate()
    finally:
        logger.removeHandler(handler)
    assert [type(one) for one in handler.filters] == [plain_text.PlainText]
