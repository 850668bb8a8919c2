# SPDX-License-Identifier: Apache-2.0
"""A real browser for the pages: Debian's chromium, driven by selenium.

``make .servers/browser.stamp`` says what it needs and installs the rest.
"""

import collections.abc
import contextlib
import pathlib
import re

import command_line
import explored_cloud
import pytest
from person import Person

TOKEN = re.compile(r'http://\S+\?token=\S+')


@pytest.fixture
def cloud(cli: command_line.CommandLine) -> command_line.CommandLine:
    """A cloud with three trees, a pool, allocations, and held changes."""
    explored_cloud.build(cli)
    return cli


@pytest.fixture
def explore(
    cloud: command_line.CommandLine,
    daemon: collections.abc.Callable[..., command_line.Daemon],
) -> collections.abc.Callable[[], str]:
    """Start ``explore`` for the cloud; return the address that it prints."""

    def start() -> str:
        one = daemon(cloud.config, command='explore')
        one.wait_for('Ctrl-C stops it')
        (url,) = TOKEN.findall(one.said)
        return str(url)

    return start


@pytest.fixture
def person(tmp_path: pathlib.Path) -> collections.abc.Iterator[Person]:
    """Somebody with a browser that has a new profile."""
    with contextlib.closing(Person(tmp_path / 'profile')) as one:
        yield one
