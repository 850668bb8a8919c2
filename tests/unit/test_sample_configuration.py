# SPDX-License-Identifier: Apache-2.0
"""The sample configuration has every option of ours, as it is now."""

import pathlib

import pytest
from oslo_config import cfg

from compute_agent import conf
from drivers.fake import conf as fake_conf

SAMPLE = (
    pathlib.Path(__file__).parents[2] / 'etc' / 'compute-agent.conf.sample'
)


def options():
    return [
        (group, opt)
        for group, opts in (*conf.list_opts(), *fake_conf.list_opts())
        for opt in opts
    ]


@pytest.fixture(scope='module')
def sections():
    """Section → the names that stand in it, commented out or not."""
    found: dict[str, set[str]] = {}
    current = set()
    for line in SAMPLE.read_text().splitlines():
        if line.startswith('['):
            current = found.setdefault(line.strip('[]'), set())
        elif ' =' in line:  # nothing follows where the default is empty
            current.add(line.lstrip('#').partition(' =')[0])
    return found


@pytest.mark.parametrize(
    ('group', 'opt'),
    [pytest.param(g, o, id=f'{g}.{o.dest}') for g, o in options()],
)
def test_every_option_is_in_the_sample(group, opt, sections):
    name = opt.name.replace('-', '_')
    names = {n.replace('-', '_') for n in sections[str(group)]}
    assert name in names, 'run "make sample"'


@pytest.mark.parametrize(
    ('group', 'opt'),
    [
        pytest.param(g, o, id=f'{g}.{o.dest}')
        for g, o in options()
        if str(g) not in {'nova', 'placement'}
    ],
)
def test_every_option_of_ours_explains_itself_in_sentences(group, opt):
    assert opt.help
    assert opt.help.endswith('.')
    if isinstance(opt, cfg.IntOpt):
        assert opt.type.min is not None
