# SPDX-License-Identifier: Apache-2.0
"""An unknown attribute of a device is never taken for an absent one."""

import pytest
import rule_cases

from drivers.host.rules.language import expression
from drivers.host.rules.rule import Verdict

FACTS = {
    'facts': {'cpu.flags': ['avx']},
    'devices': {
        'pci': {
            '0000:01:00.0': {
                'vendor': '8086',
                'modules': ['ice'],
                'unknown': {'numa_node': 'Invalid argument'},
            }
        }
    },
}
WHOLE = (
    "'numa_node' in pci[0]",
    "pci.exists(d, 'numa_node' in (d))",
    "pci.exists(d, d.exists(k, k == 'numa_node'))",
    'pci.exists(d, size(d) == 4)',
    'pci.exists(d, d.size() == 4)',
    'pci.exists(d, [d].exists(e, size(e) == 4))',
    'pci.filter(d, true)[0].size() == 4',
    'pci.filter(d, true).exists(e, size(e) == 4)',
    'size(pci.filter(d, true)[0]) == 4',
    "pci == [{'vendor': '8086'}]",
    "{'vendor': '8086'} in pci.filter(d, true)",
    '[pci].exists(l, l[0].size() == 4)',
    'pci.all(d, !(d == pci[0]))',
    'size(pci) == 0 || .pci[0].size() == 4',
    "pci[0].exists(k, k == 'numa_node')",
    'pci.filter(d, true)[0].exists(k, size(k) > 0)',
    '[pci[0]].exists(e, size(e) == 4)',
    "pci.exists(d, {'one': d}['one'].size() == 4)",
    'pci.exists(d, [d][0].size() == 4)',
    "[pci].exists(l, l[0].exists(k, k == 'vendor'))",
)
BY_ATTRIBUTES = (
    "pci.exists(d, d.vendor == '8086')",
    "pci.exists(d, 'ice' in d.modules)",
    "pci.exists(d, d.modules.exists(m, m == 'ice' && size(m) == 3))",
    "pci.filter(d, d.vendor == '8086').exists(e, size(e.modules) == 1)",
    "size(pci.filter(d, d.vendor == '8086')) == 1 && size(pci) == 1",
    "pci.filter(d, d.vendor == '8086').size() == pci.size()",
    "pci.exists(d, d['vendor'] == '8086')",
    "pci.exists(d, 'ice' in d['modules'] && size(d['modules']) == 1)",
    "pci[0].vendor == '8086' && pci[0]['vendor'] == '8086'",
    "pci[0].modules.exists(m, m == 'ice')",
    "pci.filter(d, d.vendor == '8086')[0].vendor == '8086'",
    "cpu.flags.exists(f, f == 'avx') && pci.all(d, d.vendor != '')",
)


def _outcome(folder, when):
    folder.facts = rule_cases.facts_of(FACTS)
    folder.words = rule_cases.words_of(folder.facts)
    folder.write(
        f'rules:\n- name: one\n  when: |\n    {when}\n  traits: [CUSTOM_ONE]\n'
    )
    (outcome,) = folder.outcomes()
    return outcome


@pytest.mark.parametrize('when', WHOLE)
def test_a_condition_on_a_whole_device_is_unknown(folder, when):
    outcome = _outcome(folder, when)
    assert outcome.verdict is Verdict.UNKNOWN
    assert outcome.reason == (
        'an attribute of a device of pci is unknown, and the expression looks '
        'at a whole device; compare attributes'
    )


@pytest.mark.parametrize('when', BY_ATTRIBUTES)
def test_a_condition_on_known_attributes_is_decided(folder, when):
    assert _outcome(folder, when).verdict is Verdict.GIVES


@pytest.mark.parametrize('form', ["d['vendor']", 'd.vendor'])
@pytest.mark.parametrize(
    ('vendor', 'verdict'),
    [('8086', Verdict.GIVES), ('10de', Verdict.UNKNOWN)],
)
def test_a_device_whose_attribute_is_known_is_decided_beside_others(
    folder, monkeypatch, form, vendor, verdict
):
    devices = {**FACTS['devices']['pci'], 'b': {'unknown': {'vendor': 'gone'}}}
    monkeypatch.setitem(FACTS, 'devices', {'pci': devices})
    outcome = _outcome(folder, f"pci.exists(d, {form} == '{vendor}')")
    assert outcome.verdict is verdict


def test_a_whole_device_is_read_if_all_its_attributes_are_known():
    found = expression.compile_expression('size(pci[0]) == 2', ['pci'])
    assert found.evaluate({'pci': [{'name': 'a', 'vendor': 'b'}]}) is True
