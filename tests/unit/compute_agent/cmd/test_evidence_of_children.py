# SPDX-License-Identifier: Apache-2.0
"""probe and explain say on which child provider the driver found a trait.

White-box: no shipped driver finds children on the machine that runs the tests.
"""

from compute_agent.cmd import explain, probe
from compute_agent.virt.values import finding

ROOT = finding.Finding(
    trait='HW_CPU_X86_AVX2',
    found=finding.Found.PRESENT,
    fact='avx2',
    sources=('kernel',),
)
CHILD = finding.Finding(
    trait='HW_NIC_SRIOV',
    found=finding.Found.PRESENT,
    fact='virt_functions',
    sources=('libvirt',),
    provider='cn1_0000:81:00.0',
)


def test_probe_shows_each_provider_with_its_traits():
    assert probe._text('cn1', [ROOT, CHILD], absent=False) == (
        'cn1\n'
        '  traits (1)\n'
        '    HW_CPU_X86_AVX2  avx2  [kernel]\n'
        'cn1_0000:81:00.0\n'
        '  traits (1)\n'
        '    HW_NIC_SRIOV  virt_functions  [libvirt]'
    )


def test_probe_names_the_provider_in_its_data():
    assert probe.finding_data(CHILD)['provider'] == 'cn1_0000:81:00.0'
    assert probe.finding_data(ROOT)['provider'] == ''


def test_explain_names_the_child():
    evidence = explain._Evidence(title='driver', findings=[CHILD, ROOT])
    assert explain._driver_lines(evidence, told=False) == [
        '  driver: present on cn1_0000:81:00.0 by virt_functions [libvirt]',
        '  driver: present by avx2 [kernel]',
    ]
