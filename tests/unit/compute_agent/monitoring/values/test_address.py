# SPDX-License-Identifier: Apache-2.0
"""The spellings of metrics_bind."""

import pathlib

import pytest
from oslo_config import cfg

from compute_agent.conf import compute_agent as options
from compute_agent.monitoring.values import address


@pytest.mark.parametrize(
    ('text', 'is_local'),
    [
        ('127.0.0.1:9733', True),
        ('127.9.9.9:0', True),
        ('[::1]:65535', True),
        ('0.0.0.0:9733', False),
        ('[::]:9733', False),
        ('192.0.2.7:80', False),
        ('unix:/run/compute-agent/metrics.sock', True),
    ],
)
def test_an_address_is_written_as_it_was_read(text, is_local):
    found = address.parse(text)
    assert str(found) == text
    assert found.is_local is is_local


def test_a_unix_socket_is_a_path():
    assert address.parse('unix:/run/a').path == pathlib.Path('/run/a')


@pytest.mark.parametrize(
    'text',
    [
        '',
        '9733',
        ':9733',
        'localhost:9733',
        '127.0.0.1',
        '127.0.0.1:',
        '127.0.0.1:65536',
        '127.0.0.1:-1',
        '127.0.0.256:80',
        '::1:9733',
        '[::1]',
        '[127.0.0.1]:9733',
        '[]:9733',
        'unix:',
        'unix:run/a',
        'unix:/a\0b',
        f'unix:/{"a" * 107}',
        'http://127.0.0.1:9733',
    ],
)
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match=r'no |longer than'):
        address.parse(text)


@pytest.mark.parametrize(
    ('line', 'said'),
    [
        ('metrics_bind = localhost:1', 'write "127.0.0.1:PORT"'),
        ('metrics_textfile = a.prom', 'no absolute path that ends in ".prom"'),
        ('metrics_textfile = /a.txt', 'no absolute path that ends in ".prom"'),
        ('metrics_nodes = -1', 'metrics_nodes'),
    ],
)
def test_a_wrong_option_is_refused_with_advice(tmp_path, line, said):
    file = tmp_path / 'a.conf'
    file.write_text(f'[compute_agent]\n{line}\n')
    conf = cfg.ConfigOpts()
    options.register_opts(conf)
    with pytest.raises(ValueError, match='.') as refused:  # noqa: PT012
        conf(['--config-file', str(file)], project='compute-agent')
        _ = dict(conf.compute_agent)
    assert said in str(refused.value)
