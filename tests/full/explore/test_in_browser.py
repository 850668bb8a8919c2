# SPDX-License-Identifier: Apache-2.0
"""The pages in a real browser, on a real placement.

``make explore-pictures`` has the test write the pictures of ``docs/explore.md``.
"""

import os
import pathlib
import urllib.parse

import explored_cloud
import pytest
from explored_cloud import CN1

PICTURES = pathlib.Path(__file__).parents[3] / 'docs/pictures/explore'
SPECS = 'trait:CUSTOM_GPU_A40=required\nresources:VCPU=4\nresources:VGPU=1'
PAGES = {
    'cloud': '/',
    'cloud-by-trait': '/?by=trait',
    'providers': '/providers',
    'choice': '/providers?lacks=AVX512',
    'provider': f'/provider/{CN1}',
    'why-not': f'/why-not?{urllib.parse.urlencode({"specs": SPECS})}',
    'plan': '/plan',
    'history': '/history',
    'audit': '/audit?allocations=1',
}
SHOWN = ('cloud', 'providers', 'provider', 'why-not', 'plan', 'audit')


def base(url):
    parts = urllib.parse.urlsplit(url)
    return f'{parts.scheme}://{parts.netloc}'


@pytest.fixture
def pages(explore, person):
    """A person who has opened the printed address; the base of the pages."""
    url = explore()
    person.open(url)
    assert 'token' not in person.browser.current_url
    return base(url)


def test_each_page_is_without_fault(pages, person, tmp_path):
    """No error, no other origin, no fault of accessibility; a picture of each."""
    for name, path in PAGES.items():
        for dark in (False, True):
            person.look(dark=dark)
            person.open(f'{pages}{path}')
            assert person.faults() == [], (name, dark)
        person.look()
        person.open(f'{pages}{path}')
        picture = person.picture()
        assert len(picture) > 5000
        folder = tmp_path
        if os.environ.get('COMPUTE_AGENT_PICTURES') and name in SHOWN:
            folder = PICTURES
        (folder / f'{name}.webp').write_bytes(picture)
    assert person.console() == []
    asked = person.requests()
    assert len(asked) > 2 * len(PAGES)
    assert [url for url in asked if not url.startswith(f'{pages}/')] == []


def test_the_documentation_has_a_picture_of_each_page():
    text = (PICTURES.parents[1] / 'explore.md').read_text()
    for name in SHOWN:
        assert (PICTURES / f'{name}.webp').stat().st_size > 5000
        assert f'pictures/explore/{name}.webp' in text


def test_each_page_fits_the_window_at_80_and_at_200_percent(pages, person):
    for zoom in (0.8, 2.0):
        for name, path in PAGES.items():
            person.look(zoom=zoom)
            person.open(f'{pages}{path}')
            assert person.overflow() <= 0, (name, zoom)


def test_the_table_is_searched_and_sorted_by_keyboard(pages, person):
    person.open(f'{pages}/providers')
    assert person.rows()[:2] == ['ceph-ssd', 'cn1']
    person.tab_to('Name or uuid')
    person.type('cn')
    person.enter()
    assert person.rows()[0] == 'cn1'
    assert 'ceph-ssd' not in person.rows()
    person.tab_to('Name ▲')
    person.enter()
    assert person.rows()[0] == 'cn3'
    person.tab_to('cn3')
    person.enter()
    assert person.title.startswith('cn3')
    assert person.clicks == 0


def test_the_first_tab_leads_past_the_menu(pages, person):
    person.press('TAB')
    assert person.browser.switch_to.active_element.text.startswith('Skip')


# --- five questions of somebody who never saw placement -------------------------


def test_which_hosts_lack_avx_512(pages, person):
    person.click('Providers')
    person.click('Lacks the trait')
    person.type('AVX-512')
    person.click('Show')
    person.click('HW_CPU_X86_AVX512F')
    assert person.rows() == ['cn2', 'cn3']
    assert '2 of 7 providers lack HW_CPU_X86_AVX512F' in person.text
    assert person.clicks <= 4


def test_why_does_the_flavor_find_none(pages, person):
    person.click('Why not')
    person.click('Extra specs')
    person.type('trait:STORAGE_DISK_SSD=required\nresources:VCPU=4')
    person.click('Ask placement')
    assert '0 of 3 hosts can take it' in person.text
    assert 'lack STORAGE_DISK_SSD' in person.text
    assert person.clicks <= 4


def test_who_removed_the_trait_and_when(pages, person):
    person.click('History')
    person.click('Trait, class, provider or person')
    person.type('CUSTOM_GOLD')
    person.click('Show')
    removal = next(
        line
        for line in person.text.splitlines()
        if 'resource provider trait remove by ' in line
    )
    assert 'cn2' in removal
    assert '-CUSTOM_GOLD' in person.text
    assert person.clicks <= 4


def test_what_is_free_of_vgpu(pages, person):
    _bar, free, *_ = person.cells('VGPU')
    assert free == '3'
    assert person.clicks == 0


def test_what_will_the_agent_do_next(pages, person):
    person.click('Plan')
    assert 'What the agent will do next' in person.text
    assert 'allocation_ratio=1.5→2' in person.text
    assert 'compute-agent approve' in person.text
    assert person.clicks <= 4


# --- hostile names, and the daemon's page ---------------------------------------


def test_a_hostile_name_runs_nothing(cloud, explore, person):
    hostile = explored_cloud.HOSTILE
    child = '66666666-6666-4666-8666-666666666666'
    cloud.others.create(child, hostile, CN1)
    assert (
        cloud.run(
            'resource', 'provider', 'trait', 'add', child, 'CUSTOM_GOLD'
        ).code
        == 0
    )
    url = explore()
    person.open(url)
    for path in (*PAGES.values(), f'/provider/{child}'):
        person.open(f'{base(url)}{path}')
        assert person.browser.execute_script(
            'return document.querySelectorAll("script, img").length'
        ) == 0  # fmt: skip
    person.open(f'{base(url)}/providers')
    assert hostile in person.rows()
    assert person.console() == []


def test_the_page_of_a_daemon_is_without_fault(cloud, daemon, person):
    cloud.configure(
        agent={'metrics_bind': '127.0.0.1:0', 'max_removed_percent': 0}
    )
    one = daemon(cloud.config, '--show-tree')
    one.wait_for('see it in a browser: ')
    url = one.said.partition('see it in a browser: ')[2].split()[0]
    for path in ('', f'node/{CN1}'):
        for dark in (False, True):
            person.look(dark=dark)
            person.open(f'{url}{path}')
            assert 'cn1' in person.text
            assert person.faults() == []
        person.look(zoom=2.0)
        person.open(f'{url}{path}')
        assert person.overflow() <= 0
    person.open(url)
    person.click('cn1')
    assert 'remove trait CUSTOM_GOLD' in person.text
    assert person.console() == []
    assert [a for a in person.requests() if not a.startswith(url)] == []
