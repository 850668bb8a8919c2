# SPDX-License-Identifier: Apache-2.0
"""The commands of OpenStack's client answer as that client does.

``tests/support/osc_words.py`` has the commands, and the client's answers.
"""

import osc_words
import pytest

from compute_agent.cmd.app import commands

# Texts of one line that have several items in no order.
UNORDERED = ('allocation', 'inventory used/capacity', 'traits')


def comparable(answer):
    """Return an answer without the order of its rows and of such items."""
    if not isinstance(answer, list):
        return answer
    rows = [
        {
            name: sorted(value.split(',')) if name in UNORDERED else value
            for name, value in row.items()
        }
        for row in answer
    ]
    return sorted(rows, key=repr)


def columns(answer):
    """Return the columns in their order."""
    first = answer[0] if isinstance(answer, list) and answer else answer
    return list(first or ())


def test_the_commands_answer_as_openstacks_client_does(cli):
    table = osc_words.commands()
    assert len(table) >= 60
    for one, answer in zip(table, osc_words.answers(), strict=True):
        form = () if answer is None else ('-f', 'json')
        result = cli.run(*one.words, *form)
        assert result.code == 0, (one.text, result.err)
        if answer is None:
            assert one.differs, one.text
            continue
        assert columns(result.data) == columns(answer), one.text
        assert comparable(result.data) == comparable(answer), one.text


def test_the_page_lists_the_commands():
    assert osc_words.table() in osc_words.PAGE.read_text(encoding='utf-8')


@pytest.mark.catches('the words of others get no advice')
@pytest.mark.parametrize(
    ('typed', 'meant'),
    [
        ('provider list', 'resource provider list'),
        ('provider lst', 'resource provider list'),
        ('provider trait clear cn1', 'resource provider trait delete cn1'),
        ('candidates', 'allocation candidate list'),
        ('trait add CUSTOM_A', 'trait create CUSTOM_A'),
        ('resource class remove CUSTOM_A', 'resource class delete CUSTOM_A'),
        ('hypervisor show cn1', 'resource provider show cn1'),
        ('compute service list', 'status'),
        ('network agent list', 'status'),
        ('baremetal node trait list n1', 'resource provider trait list n1'),
        ('placement heal_allocations', 'audit --allocations'),
        ('resource provider tra', 'resource provider trait'),
        ('resource', 'resource class|provider|usage'),
    ],
)
def test_the_words_of_others_get_the_right_command(cli, typed, meant):
    result = cli.run(*typed.split())
    assert (result.code, result.out) == (1, '')
    assert f'did you mean {meant}' in result.line


def test_every_word_of_others_leads_to_a_command():
    manager = commands.Commands()
    for ours in set(commands.MEANT.values()):
        known = [
            name for name in manager.commands if f'{ours} '.startswith(name)
        ]
        group = [
            name for name in manager.commands if name.startswith(f'{ours} ')
        ]
        assert known or group, ours


def test_openstack_in_front_is_dropped(cli):
    result = cli.run('openstack', 'resource', 'provider', 'list', '-f', 'json')
    assert (result.code, result.data) == (0, [])
    assert result.line == (
        'compute-agent: welcome; "openstack" may be left out here :-)'
    )
