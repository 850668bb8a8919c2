# SPDX-License-Identifier: Apache-2.0
"""The daemon's log as JSON, by oslo.log."""

import json
import pathlib

import pytest

pytestmark = pytest.mark.long

ROOT = '11111111-1111-4111-8111-111111111111'


def test_each_line_of_the_log_is_json_if_asked_for(cli, daemon, unused_port):
    """Also a line with a name that would move a terminal's cursor."""
    text = cli.fake_file.read_text(encoding='utf-8')
    cli.fake_file.write_text(text.replace('name: cn1', r'name: "c\e[31mn1"'))
    cli.configure(
        update_resources_interval=3600, use_json=True, debug=True, host=None
    )
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    assert cli.run('sync').code == 0
    assert one.end() == 0
    records = [json.loads(line) for line in one.said.splitlines()]
    messages = [record['message'] for record in records]
    (started,) = [m for m in messages if ' starts as process ' in m]
    assert str(one.process.pid) in started
    assert any(m.startswith('cycle: 1 done') for m in messages)
    assert any('create provider c\\x1b[31mn1' in m for m in messages)
    for record in records:
        assert record['levelname'] in {'DEBUG', 'INFO', 'WARNING', 'ERROR'}
        assert record['name']
        assert record['asctime']
    assert all('\x1b' not in message for message in messages)


# Its driver raises what no driver may raise, in the first cycle.
_ODD = """
import sys
from compute_agent.cmd.app import start
from compute_agent.cycle.node import node_planner

def observe(self, uuids):
    node_planner.NodePlanner.observe = kept
    raise ZeroDivisionError('odd')

kept = node_planner.NodePlanner.observe
node_planner.NodePlanner.observe = observe
sys.exit(start.main())
"""
FIELDS = {
    'asctime': str,
    'levelname': str,
    'name': str,
    'message': str,
    'process': int,
    'created': float,
}


def test_the_records_have_the_fields_that_the_page_promises(cli, daemon):
    """An error that nobody foresaw has its traceback, and no other line has."""
    cli.configure(update_resources_interval=3600, use_json=True)
    one = daemon(cli.config, program=('-c', _ODD))
    one.wait_for('cycle: 1 done')
    assert one.end() == 0
    records = [json.loads(line) for line in one.said.splitlines()]
    for record in records:
        for name, kind in FIELDS.items():
            assert isinstance(record[name], kind), (name, record)
    (odd,) = [record for record in records if record['traceback']]
    assert (odd['levelname'], odd['message']) == ('ERROR', 'unexpected')
    assert odd['traceback'].endswith('ZeroDivisionError: odd')
    page = (pathlib.Path(__file__).parents[3] / 'docs/service.md').read_text()
    for name in (*FIELDS, 'traceback'):
        assert f'`{name}`' in page
