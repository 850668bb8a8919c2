# SPDX-License-Identifier: Apache-2.0
"""The configuration of the packages is valid, also with its "#" removed."""

import pathlib
import re

import pytest
from keystoneauth1 import loading
from keystoneauth1.identity import generic
from oslo_config import cfg

from compute_agent import conf as options
from compute_agent.conf import placement

PACKAGED = (
    pathlib.Path(__file__).parents[2] / 'packaging' / 'compute-agent.conf'
)
SECTION = '\n[placement]\n'


def uncommented(text):
    """Do what docs/quickstart.md says, literally."""
    before, header, account = text.partition(SECTION)
    before = re.sub('^#(?=metrics_bind)', '', before, flags=re.MULTILINE)
    return before + header + re.sub('^#', '', account, flags=re.MULTILINE)


@pytest.fixture
def parsed(tmp_path):
    def parse(text):
        path = tmp_path / 'compute-agent.conf'
        path.write_text(text)
        conf = cfg.ConfigOpts()
        options.register_opts(conf, options.groups())
        conf([], project='compute-agent', default_config_files=[str(path)])
        options.check(conf, options.groups())
        return conf

    return parse


def test_it_is_valid_as_it_is_packaged(parsed):
    conf = parsed(PACKAGED.read_text())
    assert conf.placement.auth_type is None
    assert not conf.compute_agent.metrics_bind


def test_it_is_valid_without_the_marks_that_the_page_says_to_remove(parsed):
    conf = parsed(uncommented(PACKAGED.read_text()))
    account = loading.load_auth_from_conf_options(conf, 'placement')
    assert isinstance(account, generic.Password)
    assert conf.placement.username == 'compute-agent'
    assert conf.placement.region_name == 'RegionOne'
    assert conf.compute_agent.metrics_bind == '127.0.0.1:9733'


def test_each_line_of_the_account_is_an_option():
    account = uncommented(PACKAGED.read_text()).partition(SECTION)[2]
    written = {line.partition(' =')[0] for line in account.split('\n') if line}
    ((_, known),) = placement.list_opts()
    assert len(written) == 8
    assert written <= {opt.dest for opt in known}
