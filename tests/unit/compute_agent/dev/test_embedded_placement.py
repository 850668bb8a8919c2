# SPDX-License-Identifier: Apache-2.0
"""What the embedded placement refuses before it opens anything."""

import pathlib
import subprocess
import sys

import pytest

from compute_agent import errors
from compute_agent.dev import embedded_placement

ROOT = pathlib.Path(embedded_placement.__file__).parents[2]


@pytest.mark.parametrize(
    'host', ['0.0.0.0', '::', '192.0.2.7', '2001:db8::1', 'example.org', '']
)
def test_only_loopback_is_listened_at(tmp_path, host):
    with pytest.raises(errors.ConfigError, match='another loopback'):
        embedded_placement.EmbeddedPlacement(tmp_path / 'p', host=host)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ('host', 'url'),
    [
        ('127.0.0.1', 'http://127.0.0.1:8778'),
        ('127.0.0.9', 'http://127.0.0.9:8778'),
        ('localhost', 'http://127.0.0.1:8778'),
        ('::1', 'http://[::1]:8778'),
    ],
)
def test_the_url_is_known_before_the_start(tmp_path, host, url):
    server = embedded_placement.EmbeddedPlacement(tmp_path / 'p', host=host)
    assert server.url == url


def test_stop_without_a_start_does_nothing(tmp_path):
    embedded_placement.EmbeddedPlacement(tmp_path / 'p').stop()


@pytest.mark.parametrize('missing', ['placement', 'waitress'])
def test_without_the_extra_it_says_what_to_install(tmp_path, missing):
    # A process of its own: what is imported here stays imported.
    program = f"""
import pathlib, sys
sys.modules[{missing!r}] = None
from compute_agent import errors
from compute_agent.dev import embedded_placement
path = pathlib.Path({str(tmp_path / 'p')!r})
try:
    embedded_placement.EmbeddedPlacement(path, port=0).start()
except errors.ConfigError as exc:
    print(exc)
"""
    done = subprocess.run(
        [sys.executable, '-W', 'error', '-c', program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout == (
        f'the embedded placement needs {missing}: '
        'install the agent with [embedded] (docs/install.md, With pip)\n'
    )
    assert done.stderr == ''
    assert not list(tmp_path.iterdir())
