# SPDX-License-Identifier: Apache-2.0
"""The same line about many nodes: two of them, and the number of the others."""

import logging

import pytest

from compute_agent.cmd.run import repeats

LOG = logging.getLogger('report_client.apply.executor')


@pytest.fixture
def few(caplog):
    caplog.set_level(logging.INFO, 'report_client')
    caplog.set_level(logging.INFO, 'compute_agent')
    with repeats.installed() as found:
        yield found


def write(nodes):
    for node in nodes:
        for _ in range(2):
            LOG.info('set traits of %s', node, extra={'node': node})


def test_of_each_cycle_two_nodes_have_lines_and_the_others_a_number(
    few, caplog
):
    for _ in range(2):
        caplog.clear()
        few.begin()
        write(['cn1', 'cn2', 'cn3', 'cn4'])
        few.end([])
        *lines, last = caplog.messages
        assert lines == ['set traits of cn1'] * 2 + ['set traits of cn2'] * 2
        assert last == (
            '2 nodes more had such lines in this cycle as "set traits of '
            'cn3"; "compute-agent history" has each write'
        )


@pytest.mark.parametrize('end', ['end', 'part_ended', 'fail'])
def test_two_nodes_have_all_their_lines_and_no_sum(few, caplog, end):
    few.begin()
    write(['cn1', 'cn2'])
    getattr(few, end)([])
    assert len(caplog.messages) == 4


def test_errors_and_lines_about_no_node_come_through(few, caplog):
    for number in range(9):
        LOG.info('number %s', number)
        LOG.error('broken', extra={'node': number})
    assert len(caplog.messages) == 18


def test_with_debug_every_line_is_logged(few, caplog):
    caplog.set_level(logging.DEBUG, 'report_client')
    write(map(str, range(9)))
    few.end([])
    assert len(caplog.messages) == 18


def test_afterwards_nothing_is_held_back(caplog):
    caplog.set_level(logging.INFO, 'report_client')
    with repeats.installed():
        pass
    write(map(str, range(9)))
    assert len(caplog.messages) == 18
