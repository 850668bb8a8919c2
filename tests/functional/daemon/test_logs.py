# SPDX-License-Identifier: Apache-2.0
"""The daemon's log as JSON, by oslo.log."""

import json

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
