# SPDX-License-Identifier: Apache-2.0
"""Each message of a daemon in trouble is explained in docs/troubleshooting.md.

The messages are read from the source: each warning and error of a log, and each
error that makes a node wait or fail or that keeps the agent from its work. The
page must have the longest part of the message that is always the same.

Errors of the kinds in ``EXPLAIN_THEMSELVES`` are left out: their one line names
the option, argument, file or provider, and what to write or run instead.
"""

import ast
import collections
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'troubleshooting.md'
PACKAGES = ('compute_agent', 'report_client', 'drivers')
LOGGED = {'warning', 'error', 'exception', 'critical'}
# What may follow: the next cycle, another program, a person.
RAISED = {
    'Conflict',
    'Deposed',
    'MalformedAnswer',
    'NoServer',
    'NotAuthorised',
    'NotYet',
    'StateInUse',
    'TooOld',
    'Unanswered',
    'Unavailable',
    'UnknownState',
    'Unreachable',
}
EXPLAIN_THEMSELVES = {
    'Ambiguous',
    'BadRequest',
    'ConfigError',
    'DoesNotExist',
    'DriverError',
    'InUse',
    'InvalidName',
    'NameTaken',
    'NoProvider',
    'Refused',
    'TreeError',
}
# Logs whose whole text is made elsewhere: what the page has of it.
MADE_ELSEWHERE = {
    'compute_agent/cmd/plan/masks.py': ('matches no trait, neither one of',),
    'compute_agent/cmd/run/lifetime.py': (
        'the state of this agent is kept in',
        'the log of this agent goes to',
    ),
    'compute_agent/cmd/run/process.py': (
        'stopping in the middle of a cycle',
        'stopping although the state database does not answer',
    ),
    'compute_agent/cmd/wiring/opening.py': ('is no group of this agent',),
    'compute_agent/cycle/judging.py': ('it offers less now',),
    'compute_agent/identity/nova_root.py': (
        'placement is asked for the name of the host',
        'the agent wrote that file, and adds to the provider',
    ),
    'compute_agent/cmd/app/signals.py': ('signal',),
    'compute_agent/provider_config/files.py': (),
    'drivers/host/rule_files.py': ('no rule is in force',),
    'drivers/ironic/driver.py': ('does not support [ironic] peer_list',),
    'drivers/libvirt/driver.py': (
        'libvirt does not tell what its guests can have',
        'decides VCPU, and',
    ),
}
SHORTEST = 8  # a part with fewer characters tells nothing


def _sources():
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob('*.py')):
            name = path.relative_to(ROOT).as_posix()
            if 'compute_agent/testing' not in name:
                yield name, ast.parse(path.read_text(encoding='utf-8'))


def _is_log(node):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in LOGGED
        and ast.unparse(node.func.value) in {'LOG', 'LOGGER', 'logger'}
    )


def _called(node):
    """The last name of what is called here, such as that of an error."""
    return ast.unparse(node.func).rpartition('.')[2]


def _message(node):
    if _is_log(node):
        return node.args[0]
    if isinstance(node, ast.Call) and _called(node) in RAISED and node.args:
        return node.args[0]
    return None


def _constant_part(message):
    """The longest part that is the same in each message, '' for none."""
    if isinstance(message, ast.IfExp):
        return max(
            map(_constant_part, (message.body, message.orelse)), key=len
        )
    values = (
        message.values if isinstance(message, ast.JoinedStr) else [message]
    )
    texts = [
        part
        for value in values
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
        for part in re.split(r'%[.\d]*[sdrfg]', value.value)
    ]
    longest = max(
        (text.strip(' :;,()') for text in texts), key=len, default=''
    )
    return longest if len(longest) >= SHORTEST else ''


def _messages():
    """Each constant part of a message, and where it is."""
    found = collections.defaultdict(set)
    for name, tree in _sources():
        for node in ast.walk(tree):
            message = _message(node)
            if message is None:
                continue
            if part := _constant_part(message):
                found[part].add(name)
            elif _is_log(node):
                for part in MADE_ELSEWHERE.get(name, (f'the log of {name}',)):
                    found[part].add(name)
    return found


MESSAGES = _messages()


@pytest.fixture(scope='module')
def page():
    return ' '.join(PAGE.read_text(encoding='utf-8').split())


@pytest.mark.parametrize('message', sorted(MESSAGES))
def test_a_message_is_explained(page, message):
    text = ' '.join(message.split())
    assert text in page, f'{sorted(MESSAGES[message])}: {text}'


def test_the_messages_are_found_in_the_source():
    assert len(MESSAGES) > 50
    assert any('retrying until' in message for message in MESSAGES)


def test_an_error_is_explained_or_explains_itself():
    """A new kind of error is put into one of the two lists."""
    ours = {
        node.name
        for name in ('compute_agent/errors.py', 'report_client/errors.py')
        for node in ast.parse((ROOT / name).read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    raised = {
        ast.unparse(node.exc).partition('(')[0].rpartition('.')[2]
        for _, tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and node.exc is not None
    }
    # Caught by the agent itself, which goes on.
    caught = {'Exists', 'FailsInside', 'NotAllowed', 'NotFound'}
    caught |= {'Renamed', 'ReplanOnce', 'Replan', 'Reshaped'}
    caught |= {
        'ServerFault',
        'SeveralMistakes',
        'UnknownName',
        'ReshapeNeeded',
    }
    assert ours & raised <= RAISED | EXPLAIN_THEMSELVES | caught
