# SPDX-License-Identifier: Apache-2.0
"""An option of the agent in a group that lacks it is refused by every command."""

import pytest

from compute_agent import errors
from compute_agent.cmd.app import configuration, main


@pytest.fixture
def load(tmp_path):
    """Return the configuration of a file, as every command reads it."""

    def load(text, name='compute-agent.conf'):
        path = tmp_path / name
        path.write_text(text)
        options = main.GlobalOptions(
            config_files=[str(path)], config_dirs=[], debug=False
        )
        try:
            return configuration.load(options)
        except errors.SeveralMistakes as exc:
            return [line.removeprefix(f'{path}: ') for line in exc.lines]

    return load


@pytest.mark.parametrize(
    ('group', 'option', 'home'),
    [
        ('DEFAULT', 'mode', 'compute_agent'),
        ('DEFAULT', 'metrics_bind', 'compute_agent'),
        ('DEFAULT', 'metrics-bind', 'compute_agent'),
        ('placement', 'request_deadline', 'compute_agent'),
        ('compute', 'masked_traits', 'compute_agent'),
        ('compute_agent', 'compute_driver', 'DEFAULT'),
        ('compute_agent', 'provider_config_location', 'compute'),
    ],
)
@pytest.mark.catches(
    'an option in a wrong group is not said', case='DEFAULT-mode-compute_agent'
)
def test_the_line_names_the_right_group(load, group, option, home):
    name = option.replace('-', '_')
    (line,) = load(f'[{group}]\n{option} = 1\n')
    assert line == (
        f'[{group}] {name} has no effect: it is an option of [{home}]; write '
        'it there'
    )


def test_each_misplaced_option_has_a_line(load):
    assert len(load('[DEFAULT]\nmode = companion\nmetrics_bind = x\n')) == 2


def test_options_in_their_groups_are_none(load):
    text = '[DEFAULT]\nstate_path = /a\n[compute_agent]\nstate_path = /b\n'
    assert load(text).compute_agent.state_path == '/b'


@pytest.mark.parametrize(
    ('name', 'lines'), [('nova.conf', 0), ('compute-agent.conf', 1)]
)
def test_a_group_that_nobody_has_counts_once_the_drivers_are_there(
    load, name, lines
):
    """In nova's files it may be nova's."""
    conf = load('[compute-agent]\nmode = companion\n', name)
    if not lines:
        configuration.refuse_misplaced(conf, everywhere=True)
        return
    with pytest.raises(errors.SeveralMistakes) as caught:
        configuration.refuse_misplaced(conf, everywhere=True)
    (line,) = caught.value.lines
    assert line.endswith(
        '[compute-agent] mode has no effect: it is an option of '
        '[compute_agent]; write it there'
    )
