# SPDX-License-Identifier: Apache-2.0
"""A "$" that refers to no option: the option is named, its value is not."""

import pytest
from oslo_config import cfg

from compute_agent import errors
from compute_agent.cmd.app import configuration

ADVICE = 'has a "$", and what follows it is not the name of another option'


@pytest.fixture
def read(tmp_path):
    """Return the message about files whose option ``[a] secret`` is read."""

    def read(*texts, known=True):
        paths = [tmp_path / f'{n}.conf' for n in range(len(texts))]
        conf = cfg.ConfigOpts()
        conf.register_opts([cfg.StrOpt('plain'), cfg.IntOpt('number')])
        conf.register_opts(
            [cfg.StrOpt('secret', secret=True), cfg.StrOpt('other')], 'a'
        )
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        conf([f'--config-file={path}' for path in paths], project='none')
        with (
            pytest.raises(errors.ConfigError) as caught,
            configuration.explained(conf if known else None),
        ):
            conf.a.secret  # noqa: B018
        said = str(caught.value)
        assert 'TopSecret' not in said
        return said.replace(str(tmp_path), 'folder')

    return read


@pytest.mark.parametrize(
    'value', ['pa$TopSecret', 'pa${TopSecret}', 'pa$a', 'pa$secret']
)
def test_the_option_is_named_with_its_file(read, value):
    said = read(f'[a]\nsecret = {value}')
    assert said.startswith(f'[a] secret in folder/0.conf {ADVICE}')


def test_of_several_files_the_one_that_counts_is_named(read):
    earlier = '[a]\nsecret = plain'
    said = read(earlier, '[a]\nsecret = $TopSecret', '[b]\nsecret = plain')
    assert said.startswith(f'[a] secret in folder/1.conf {ADVICE}')


def test_an_option_of_the_environment_has_no_file(read, monkeypatch):
    monkeypatch.setenv('OS_A__SECRET', 'pa$TopSecret')
    assert read('').startswith(f'[a] secret {ADVICE}')


def test_every_option_with_such_a_value_is_named(read):
    said = read('[DEFAULT]\nplain = $TopSecret\n[a]\nsecret = $plain')
    assert said.startswith(
        '[DEFAULT] plain in folder/0.conf and [a] secret in folder/0.conf '
        'have a "$"'
    )


def test_options_that_are_right_or_wrong_otherwise_are_not_named(read):
    said = read(
        '[DEFAULT]\nplain = 1\nnumber = many\n'
        '[a]\nother = $plain\nsecret = $TopSecret'
    )
    assert said.startswith(f'[a] secret in folder/0.conf {ADVICE}')


def test_without_the_options_no_name_is_guessed(read):
    said = read('[a]\nsecret = $TopSecret', known=False)
    assert said.startswith(f'a value in the configuration {ADVICE}')


def test_an_option_that_a_program_forgot_to_register_is_told_as_it_is():
    conf = cfg.ConfigOpts()
    with (
        pytest.raises(errors.ConfigError, match='no such option forgotten'),
        configuration.explained(conf),
    ):
        conf.forgotten  # noqa: B018
