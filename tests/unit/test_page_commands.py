# SPDX-License-Identifier: Apache-2.0
"""The program takes every command that the pages name.

These are the commands in ``console`` blocks, and those in the text that begin
with the program's name. None is run: the parser of the command reads the line.
"""

import re
import shlex

import pages
import pytest
import yaml

from compute_agent.cmd.app import main

WRITTEN = ['README.md', *sorted(
    f'docs/{path.name}' for path in (pages.ROOT / 'docs').glob('*.md')
)]  # fmt: skip
ALIAS = re.compile(r"alias (\w+)='.*(compute-agent\b.*)'")
# Words before the program's name that run it; then up to what the shell reads.
RUNS = r'(?:runuser \S+ \S+ -- |podman exec \S+ |\S*/)?'
PROGRAM = re.compile(rf'^{RUNS}(compute-agent( [^|<>&;]*)?)(?=$|[|<>&;])')
IN_THE_TEXT = re.compile(r'`(compute-agent [^`]+)`')
FENCED = re.compile(r'^```.*?^```$', re.DOTALL | re.MULTILINE)
# How a page writes what a person puts there: all of it counts as given.
USAGE = str.maketrans('', '', '[]')
SUBSTITUTION = re.compile(r'\$\([^)]*\)|\$\w+')


def of_blocks(page):
    """Yield the lines of blocks that run the program."""
    alias = None
    for command in pages.commands(page):
        text = SUBSTITUTION.sub('7', re.sub(r'\\\n\s*', '', command.text))
        if found := ALIAS.match(text):
            alias = found[1], found[2]
            continue
        if alias and text.startswith(f'{alias[0]} '):
            text = text.replace(*alias, 1)
        for line in text.split(' | '):
            if found := PROGRAM.match(line.strip()):
                yield f'{page}:{command.line}', found[1]


def of_the_text(page):
    """Yield the lines in the text that run the program."""
    text = (pages.ROOT / page).read_text(encoding='utf-8')
    for found in IN_THE_TEXT.finditer(FENCED.sub('', text)):
        line = ' '.join(found[1].split()).partition(' > ')[0]
        yield page, line.partition(' | ')[0].replace('|PROVIDER', '')


LINES = sorted(
    {
        (where, line)
        for page in WRITTEN
        for found in (of_blocks, of_the_text)
        for where, line in found(page)
    }
)


@pytest.fixture(scope='module')
def program():
    """The program, without a command."""
    return main.ComputeAgent(
        main.GlobalOptions(config_files=(), config_dirs=(), debug=False)
    )


def read(program, line):
    """Have the command's parser read a line; a mistake is a SystemExit."""
    options = main.one_line_errors(program.parser)
    words = shlex.split(line.translate(USAGE), comments=True)[1:]
    _, rest = options.parse_known_args(words)
    if not rest:
        return
    factory, name, arguments = program.command_manager.find_command(rest)
    parser = factory(program, None, cmd_name=name).get_parser(name)
    if arguments:  # else the page only names the command
        parser.parse_args(arguments)


@pytest.mark.parametrize(
    'path', ['hypervisor/daemonset.yaml', 'ironic/deployment.yaml']
)
def test_the_program_takes_the_arguments_of_kubernetes(program, path):
    """Its directories of configuration are mounted."""
    text = (pages.ROOT / 'packaging/kubernetes/base' / path).read_text('utf-8')
    spec = yaml.safe_load(text)['spec']['template']['spec']
    (container,) = spec['containers']
    read(program, shlex.join(['compute-agent', *container['args']]))
    mounted = {one['mountPath'] for one in container['volumeMounts']}
    assert mounted >= {a for a in container['args'] if a.startswith('/')}


@pytest.mark.parametrize(('where', 'line'), LINES)
def test_the_program_takes_the_line(program, where, line, capsys):
    try:
        read(program, line)
    except (SystemExit, ValueError) as exc:
        pytest.fail(f'{where}: {line}\n{exc}\n{capsys.readouterr().err}')
