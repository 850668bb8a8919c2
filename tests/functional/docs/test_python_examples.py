# SPDX-License-Identifier: Apache-2.0
"""The Python examples in docs/ run against the real placement."""

import pathlib
import re

import pytest
from keystoneauth1 import adapter, session, token_endpoint
from small_cloud import RACK, build

DOCS = pathlib.Path(__file__).parents[3] / 'docs'
PYTHON = re.compile(r'^```python\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@pytest.fixture
def example(placement):
    """Return what runs the examples of a page on a small cloud."""
    build(placement.others, RACK)

    def run(page):
        made = session.Session(
            auth=token_endpoint.Token(placement.url, 'admin'),
            session=placement.session,
        )
        found = {'adapter': adapter.Adapter(made, service_type='placement')}
        for text in PYTHON.findall((DOCS / page).read_text(encoding='utf-8')):
            exec(compile(text, page, 'exec'), found)
        return found

    return run


def test_candidates_and_why_not(example, placement):
    placement.put('/traits/CUSTOM_GOLD')
    assert example('candidates.md')['found'].failures


def test_a_trait_is_added(example, operator, capsys):
    operator.create(
        '99999999-9999-4999-8999-999999999999', '/mnt/nfs/row1racks0610/'
    )
    example('traits-api.md')
    assert "['CUSTOM_GOLD'] []\nTrue\n" in capsys.readouterr().out
