# SPDX-License-Identifier: Apache-2.0
"""Each case in tests/flavors: a flavor, and what placement is asked for it.

A case holds a ``flavor`` (what stands in a flavor file), ``properties`` and
``image_properties``, or some of these; then the ``parameters`` of the request,
in their order, with the microversion it needs where that is not the least, and
what nova translates and is left ``unread`` here; or the ``error``.
"""

import pathlib
import urllib.parse

import pytest
import yaml

from compute_agent import errors, extra_specs
from compute_agent.cmd.candidates import flavor_file
from report_client.candidates.values import flavor, query

CASES = sorted(pathlib.Path(__file__).parents[4].glob('flavors/*.yaml'))
KEYS = {
    'about',
    'flavor',
    'properties',
    'image_properties',
    'parameters',
    'version',
    'unread',
    'error',
}


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request):
    """One case."""
    case = yaml.safe_load(request.param.read_text(encoding='utf-8'))
    assert set(case) <= KEYS
    assert ('error' in case) is not ('parameters' in case)
    return case


def pairs(texts):
    return [extra_specs.pair(text, '--property') for text in texts]


def read(case, folder):
    """Return the extra specs and the amounts of a case."""
    properties, own = [], {}
    if 'flavor' in case:
        path = folder / 'flavor.yaml'
        path.write_text(yaml.safe_dump(case['flavor'], sort_keys=False))
        found = flavor_file.read(str(path))
        properties, own = list(found.properties.items()), found.amounts
    wanted = extra_specs.parse(
        [*properties, *pairs(case.get('properties', []))],
        pairs(case.get('image_properties', [])),
    )
    return wanted, own


def asked(wanted, own):
    return query.Request(
        groups=flavor.groups(wanted, own),
        group_policy=flavor.group_policy(wanted),
    )


def test_a_flavor_is_translated_as_written(case, tmp_path):
    if 'error' in case:
        with pytest.raises(errors.AgentError) as refused:
            asked(*read(case, tmp_path))
        assert str(refused.value) == case['error']
        return
    wanted, own = read(case, tmp_path)
    request = asked(wanted, own)
    found = [f'{key}={value}' for key, value in request.parameters()]
    assert found == case['parameters']
    route, _, query = request.path().partition('?')
    assert route == '/allocation_candidates'
    assert urllib.parse.parse_qsl(query) == request.parameters()
    assert '{}.{}'.format(*request.least_version) == case.get(
        'version', '1.30'
    )
    assert flavor.untranslated(wanted) == case.get('unread', [])


def test_every_file_of_the_folder_is_a_case():
    folder = CASES[0].parent
    assert sorted(folder.iterdir()) == CASES
