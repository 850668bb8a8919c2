# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial.md, from its first block to its last, as a reader does it.

The page is the source. A block of code goes to the file that the text before
it names last. Methods replace those of the same name there, or are new, and an
import joins the others. The commands of a
``console`` block run in the order of the page, and print what it shows; "…"
stands for any text, and alone on a line for any lines. Only the two ports are
other ones, and pip asks no index.
"""

import ast
import collections.abc
import contextlib
import pathlib
import re
import socket
import textwrap
import time

import command_line
import pytest

PAGE = pathlib.Path(__file__).parents[3] / 'docs' / 'tutorial.md'
TEXT = PAGE.read_text(encoding='utf-8')
BLOCK = re.compile(r'^```(\w+)\n(.*?)^```$', re.DOTALL | re.MULTILINE)
FILE = re.compile(r'`([\w./-]+\.\w+)`')
DRIVER = 'rack_driver/driver.py'
PORT = '8765'
MOST_LINES = 42
LISTENING_SECONDS = 90


class Reader:
    """Does what the page says, in a folder.

    :ivar folder: where the next command runs
    :ivar drivers: the driver's file, each time that the page has all of it
    """

    def __init__(self, author, folder, controller, placement):
        self.folder = folder
        self.drivers = []
        self._name = ''
        self._author = author
        self._ports = {'http.server': controller, 'placement serve': placement}
        self._stack = contextlib.ExitStack()

    def close(self):
        self._stack.close()

    def read(self, page):
        before = 0
        for block in BLOCK.finditer(page):
            language, text = block.groups()
            if language == 'console':
                self._do(text)
            else:
                self._write(page[before : block.start()], text)
            before = block.end()

    def _write(self, before, text):
        """Put a block into the file that the text before it names last."""
        self._name = [self._name, *FILE.findall(before)][-1]
        file = self.folder / self._name
        file.parent.mkdir(exist_ok=True)
        if text.startswith(' '):
            text = replaced(file.read_text(), textwrap.dedent(text))
        elif text.startswith('from ') and '\n' not in text.strip():
            text = imported(file.read_text(), text)
        elif self._name == DRIVER:
            self.drivers.append(text)
        file.write_text(self._with_ports(text))

    def _with_ports(self, text):
        placement = f'embedded = true\nembedded_port = {self._ports["placement serve"]}\n'
        return text.replace(PORT, str(self._ports['http.server'])).replace(
            'embedded = true\n', placement
        )

    def _do(self, text):
        text = self._with_ports(text)
        for part in re.split(r'^\$ ', text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition('\n')
            if command.startswith('cd '):
                self.folder /= command.removeprefix('cd ')
            elif command.endswith(' &'):
                self._start(command.removesuffix(' &'))
            else:
                self._run(command, shown)

    def _run(self, command, shown):
        done = self._author.run(command, self.folder)
        if shown:
            assert re.fullmatch(pattern(shown), done.stdout), (
                f'$ {command}\n{done.stdout}'
            )
        else:
            assert done.returncode == 0, f'$ {command}\n{done.stdout}'

    def _start(self, command):
        process = self._author.start(command, self.folder)
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        (port,) = (n for name, n in self._ports.items() if name in command)
        deadline = time.monotonic() + LISTENING_SECONDS
        while not listens(port):
            assert process.poll() is None, command
            assert time.monotonic() < deadline, command
            time.sleep(0.05)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(('127.0.0.1', port)) == 0


def pattern(shown):
    """Return the pattern of what a command prints."""
    return ''.join(
        '(?:.*\n)*' if line == '…\n' else re.escape(line).replace('…', '.*')
        for line in shown.splitlines(keepends=True)
    )


def imported(text, line):
    """Return a file with one more import, before those of its own package."""
    assert text.count('\n\nfrom . import ') == 1
    return text.replace('\n\nfrom . import ', f'\n{line}\nfrom . import ')


def replaced(text, methods):
    """Return a file whose class has these methods, in place of its own."""
    lines = text.splitlines(keepends=True)
    (described,) = (
        n for n in ast.parse(text).body if isinstance(n, ast.ClassDef)
    )
    new = {
        method.name: ast.get_source_segment(methods, method)
        for method in ast.parse(methods).body
    }
    for old in reversed(described.body):
        if isinstance(old, ast.FunctionDef) and old.name in new:
            body = textwrap.indent(new.pop(old.name), '    ')
            lines[old.lineno - 1 : old.end_lineno] = [f'{body}\n']
    for method in new.values():
        lines += ['\n', f'{textwrap.indent(method, "    ")}\n']
    return ''.join(lines)


@pytest.fixture
def reader(author, tmp_path) -> collections.abc.Iterator[Reader]:
    folder = tmp_path / 'tutorial'
    folder.mkdir()
    with command_line.kept_port() as one, command_line.kept_port() as other:
        made = Reader(author, folder, one, other)
        yield made
        made.close()


@pytest.mark.long
def test_the_page_from_its_first_block_to_its_last(reader):
    reader.read(TEXT)
    lines = reader.drivers[-1].splitlines()
    code = [one for one in lines if one and not one.startswith('"""')]
    assert len(code) <= MOST_LINES


def test_a_line_of_dots_stands_for_any_lines():
    shown = pattern('a\n…\nz (…) done\n')
    assert re.fullmatch(shown, 'a\nz (1) done\n')
    assert re.fullmatch(shown, 'a\nb\nc\nz (1) done\n')
    assert not re.fullmatch(shown, 'a\nb\nz (1) done\nmore\n')


def test_a_method_is_replaced_by_one_of_its_name():
    text = 'class A:\n    def b(self):\n        return 1\n\n    def c(self):\n        return 2\n'
    made = replaced(text, 'def b(self):\n    return 3\n')
    assert made == text.replace('1', '3')


def test_a_method_of_a_new_name_comes_last():
    text = 'class A:\n    def b(self):\n        return 1\n'
    made = replaced(text, 'def c(self):\n    return 2\n')
    assert made == f'{text}\n    def c(self):\n        return 2\n'


def test_an_import_comes_before_those_of_the_package():
    text = 'import a\nfrom b import c\n\nfrom . import d\n'
    made = imported(text, 'from b import e\n')
    assert made == (
        'import a\nfrom b import c\nfrom b import e\n\nfrom . import d\n'
    )
