# SPDX-License-Identifier: Apache-2.0
"""The screens in the documentation are of commands that the program has.

``make screens`` makes them anew.
"""

import argparse
import html
import importlib.metadata
import pathlib
import re
import shlex

import pytest

from docs.generators import screens

PAGES = pathlib.Path(__file__).parents[4] / 'docs'
COMMANDS = {
    one.name.replace('_', ' '): one
    for one in importlib.metadata.entry_points(group='compute_agent.commands')
}


@pytest.fixture(params=screens.SCREENS, ids=lambda screen: screen.name)
def screen(request):
    return request.param


def shown(screen):
    """Return the lines of a picture."""
    texts = re.findall(r'<text [^>]*>([^<]*)</text>', screen.file.read_text())
    return ''.join(map(html.unescape, texts)).replace('\xa0', ' ')


def test_the_program_takes_the_command(screen):
    name, *words = shlex.split(screen.command)
    parser = COMMANDS[name].load()(argparse.Namespace(), None).get_parser(name)
    parser.parse_args(words)


def test_the_picture_is_of_the_command(screen):
    assert f'$ compute-agent {screen.command}' in shown(screen)
    assert 'Traceback' not in shown(screen)


def test_a_page_shows_the_picture(screen):
    link = f'](pictures/screens/{screen.name}.svg)'
    assert any(link in page.read_text() for page in PAGES.glob('*.md'))


def test_no_other_picture_is_left():
    files = set(screens.FOLDER.iterdir())
    assert files == {screen.file for screen in screens.SCREENS}


def test_no_browser_asks_another_host_for_a_part_of_a_picture(screen):
    text = screen.file.read_text()
    assert 'url(http' not in text.replace('"', '')
    assert set(re.findall(r'https?://[\w./]+', text)) <= {
        'http://www.w3.org/2000/svg',
        'https://www.textualize.io',
        'http://127.0.0.1',
    }


def test_a_screen_is_drawn_of_what_was_printed():
    one = screens.Screen(name='a', command='plan', code=0)
    drawn = screens.draw(one, 'nothing to do\n')
    assert 'nothing&#160;to&#160;do' in drawn
    assert drawn == screens.draw(one, 'nothing to do\n')
