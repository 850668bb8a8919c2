# SPDX-License-Identifier: Apache-2.0
"""One place says how the agent is installed: no index has it yet."""

import configparser
import pathlib
import re

import pytest

from compute_agent import extras

ROOT = pathlib.Path(__file__).parents[3]
SOURCES = [
    path
    for folder in ('compute_agent', 'drivers', 'report_client')
    for path in sorted((ROOT / folder).rglob('*.py'))
]
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
_OF_AN_INDEX = re.compile(
    r"""pip\s+install\s+(?:-\S+\s+)*["']?compute-agent"""
)


def test_the_advice_names_a_section_that_is_there():
    said = extras.advice('explore', 'fleet')
    assert said.startswith('install the agent with [explore,fleet] ')
    assert '(docs/install.md, With pip)' in said
    assert '\n## With pip\n' in (ROOT / 'docs/install.md').read_text()


def test_every_extra_that_a_message_names_is_there():
    setup = configparser.ConfigParser()
    setup.read(ROOT / 'setup.cfg')
    named = {
        name
        for path in SOURCES
        for name in re.findall(r"extras\.advice\([\"'](\w+)", path.read_text())
    }
    assert {'embedded', 'explore', 'fleet', 'testing'} <= named
    assert named <= set(setup['options.extras_require'])


@pytest.mark.parametrize('paths', [PAGES, SOURCES], ids=['pages', 'sources'])
def test_nobody_is_told_to_install_what_no_index_has(paths):
    told = [
        str(path.relative_to(ROOT))
        for path in paths
        if _OF_AN_INDEX.search(path.read_text())
    ]
    assert told == []
    assert _OF_AN_INDEX.search("pip install 'compute-agent[fleet]'")
