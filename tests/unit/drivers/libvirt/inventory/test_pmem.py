# SPDX-License-Identifier: Apache-2.0
"""Namespaces of persistent memory are those of the option, if all are there."""

import pytest

from compute_agent import errors
from drivers.libvirt.inventory import pmem


def test_a_label_makes_a_class():
    assert pmem.parse(['128G: ns0 | ns1', 'medium.x:ns2', '128G:ns3']) == {
        'CUSTOM_PMEM_NAMESPACE_128G': ('ns0', 'ns1', 'ns3'),
        'CUSTOM_PMEM_NAMESPACE_MEDIUM_X': ('ns2',),
    }


@pytest.mark.parametrize(
    ('texts', 'message'),
    [
        (['ns0'], "has 'ns0': write LABEL:NAME|NAME"),
        ([':ns0'], 'write LABEL'),
        (['L:'], 'write LABEL'),
        (['L:a||b'], 'write LABEL'),
        (['L:a|a'], 'names a twice'),
        (['L:a', 'M:a'], 'names a twice'),
        (['L' * 300 + ':a'], 'pmem_namespaces: '),
    ],
)
def test_another_form_is_refused(texts, message):
    with pytest.raises(errors.ConfigError) as failed:
        pmem.parse(texts)
    assert message in str(failed.value)


@pytest.mark.parametrize(
    ('answer', 'names'),
    [
        ('', set()),
        ('[]', set()),
        ('[{"name": "ns0"}, {"dev": "namespace1.0"}, {"name": ""}]', {'ns0'}),
        ('{"name": "ns0"}', {'ns0'}),
    ],
)
def test_namespaces_with_a_name_are_listed(answer, names):
    assert pmem.names_on_host(answer) == names


@pytest.mark.parametrize('answer', ['{', '[1]', '"x"', '[' * 100_000])
def test_another_answer_of_ndctl_is_an_error(answer):
    with pytest.raises(errors.DriverError, match='ndctl list'):
        pmem.names_on_host(answer)


def test_a_namespace_that_is_not_there_is_named():
    pmem.check('CUSTOM_A', ['ns0'], frozenset(['ns0']))
    with pytest.raises(errors.DriverError, match='names ns1 for CUSTOM_A'):
        pmem.check('CUSTOM_A', ['ns0', 'ns1'], frozenset(['ns0']))
