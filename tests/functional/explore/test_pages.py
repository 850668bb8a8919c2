# SPDX-License-Identifier: Apache-2.0
"""The pages of a real placement have the answers of the commands."""

import dataclasses
import html
import json
import re

import explored_cloud
import explored_pages
import pytest
from explored_cloud import CN1, CN2, CN3, GPU, POOL, STORAGE

from compute_agent.cmd.explore import cloud_page, slow


@pytest.fixture
def cloud(cli):
    """A cloud with three trees, a pool, and changes that wait."""
    explored_cloud.build(cli)
    return cli


@pytest.fixture
def site(cloud):
    """The pages of that cloud."""
    made = explored_pages.pages(cloud)
    yield made
    made.stopping.set()


def data(site, path, **more):
    return explored_pages.data(site, path, **more)


def names(found):
    return [row['name'] for row in found['providers']]


# --- the table of providers ---------------------------------------------------


def test_the_table_has_the_rows_of_the_command(cloud, site):
    listed = cloud.run('resource', 'provider', 'list', '-f', 'json').data
    found = data(site, '/providers')['providers']
    assert [{k: row[k] for k in listed[0]} for row in found] == listed
    kinds = {row['name']: (row['Kind'], row['Tree']) for row in found}
    assert kinds['cn1'] == ('root', 'cn1')
    assert kinds['cn1_gpu0'] == ('child', 'cn1')
    assert kinds['ceph-ssd'] == ('pool', 'ceph-ssd')


FORMS = [
    ({'search': 'NUMA'}, ['cn1_NUMA0', 'cn1_NUMA1']),
    ({'search': '5555'}, ['ceph-ssd']),
    ({'kind': 'hosts'}, ['cn1', 'cn2', 'cn3']),
    ({'kind': 'pools'}, ['ceph-ssd']),
    ({'kind': 'roots'}, ['ceph-ssd', 'cn1', 'cn2', 'cn3']),
    ({'kind': 'children', 'search': 'gpu'}, ['cn1_gpu0']),
    ({'has': 'HW_CPU_X86_AVX512F'}, ['cn1']),
    ({'lacks': 'HW_CPU_X86_AVX512F', 'kind': 'hosts'}, ['cn2', 'cn3']),
    ({'lacks': 'avx512-f', 'kind': 'hosts'}, ['cn2', 'cn3']),
    ({'resources': 'VGPU:3'}, ['cn1_gpu0']),
    ({'resources': 'VGPU:4'}, []),
    ({'aggregate': STORAGE}, ['ceph-ssd', 'cn1', 'cn2']),
    ({'kind': 'hosts', 'sort': '-uuid'}, ['cn3', 'cn2', 'cn1']),
    ({'kind': 'hosts', 'sort': '-name'}, ['cn3', 'cn2', 'cn1']),
    ({'search': '<script>'}, []),
]


def test_the_table_is_searched_filtered_and_sorted(site):
    for form, expected in FORMS:
        found = data(site, '/providers', **form)
        assert names(found) == expected, form


def test_a_part_of_a_trait_gives_a_choice(site):
    found = data(site, '/providers', lacks='AVX-512')
    (choice,) = found['choices']
    assert choice['traits'] == sorted(explored_cloud.AVX512)
    text = explored_pages.html(site, '/providers', lacks='AVX-512')
    assert 'lacks=HW_CPU_X86_AVX512F' in text


def test_a_wrong_condition_is_one_line(site):
    for form in (
        {'resources': 'VCPU'},
        {'aggregate': 'x'},
        {'has': 'no such trait!'},
    ):
        text = explored_pages.html(site, '/providers', 400, **form)
        assert 'role="alert"' in text
        assert 'Traceback' not in text
    text = explored_pages.html(site, '/providers', 404, has='CUSTOM_NOBODYS')
    assert 'CUSTOM_NOBODYS' in text


def test_a_long_table_is_served_in_pages(cloud, site):
    for number in range(130):
        uuid = f'dddddddd-dddd-4ddd-8ddd-{number:012}'
        cloud.others.create(uuid, f'node{number:03}')
    first = data(site, '/providers', search='node')
    assert (first['count'], first['pages']) == (130, 2)
    assert len(first['providers']) == 100
    last = data(site, '/providers', search='node', page='2')
    assert names(last)[-1] == 'node129'
    beyond = data(site, '/providers', search='node', page='99999')
    assert beyond['page'] == 2


# --- one provider -------------------------------------------------------------


def test_a_provider_has_the_answers_of_the_commands(cloud, site):
    found = data(site, f'/provider/{CN1}')
    words = ('resource', 'provider', 'show', CN1, '--long', '-f', 'json')
    shown = cloud.run(*words).data
    for part in ('generation', 'inventories', 'traits', 'aggregates'):
        assert found['provider'][part] == shown[part]
    assert found['provider']['allocations'] == len(shown['allocations'])
    (tree,) = cloud.run('tree', 'show', CN1, '-f', 'json').data
    assert found['tree'] == tree
    history = cloud.run('history', CN1, '-f', 'json').data
    past = [
        {name: entry[name] for name in history[0]}
        for entry in reversed(found['history'])
    ]
    assert past == history
    waiting = cloud.run('approve', 'cn1', '-f', 'json').data
    assert found['waiting']['digest'] == waiting['digest']


def test_each_trait_says_who_gave_it_and_the_fact(cloud, site):
    found = data(site, f'/provider/{CN1}')
    traits = {
        trait['name']: trait
        for group in found['traits']
        for trait in group['traits']
    }
    one = traits['HW_CPU_X86_AVX2']
    assert one['state'] == 'there: this agent added it'
    assert one['claimed_by'] == ['driver']
    assert 'fake.yaml' in one['facts'][0]
    told = cloud.run('explain', 'HW_CPU_X86_AVX2', '-f', 'json').data
    states = {o['uuid']: o['state'] for o in told[0]['providers']}
    assert states[CN1] == 'ours'
    titles = [group['title'] for group in found['traits']]
    assert titles[0] == 'CPU'
    assert 'custom' in titles


def test_a_provider_of_another_says_what_is_not_known(site):
    found = data(site, f'/provider/{CN3}')
    assert 'nova-compute' in found['reporter']
    text = explored_pages.html(site, f'/provider/{CN3}')
    assert 'not known on this machine' in text


def test_the_picture_has_each_provider_and_its_pool(site):
    found = data(site, f'/provider/{GPU}')
    picture = found['picture']
    boxes = {box['name']: box for box in picture['boxes']}
    assert set(boxes) == {
        'cn1', 'cn1_NUMA0', 'cn1_NUMA1', 'cn1_gpu0', 'ceph-ssd'
    }  # fmt: skip
    assert boxes['cn1_gpu0']['shown']
    assert boxes['ceph-ssd']['pool']
    assert found['pools'] == [{'name': 'ceph-ssd', 'uuid': POOL}]
    left = [boxes[n]['left'] for n in ('cn1', 'cn1_NUMA0', 'cn1_gpu0')]
    assert left == sorted(set(left))
    (amount,) = boxes['cn1_gpu0']['amounts']
    assert (amount['used'], amount['capacity']) == (5, 8)


def test_allocations_are_by_consumer(site):
    found = data(site, f'/provider/{GPU}')
    assert found['allocations'] == [
        {'consumer': explored_cloud.INSTANCES[2], 'resources': {'VGPU': 5}}
    ]


def test_what_waits_has_the_command_that_approves(site):
    text = explored_pages.html(site, f'/provider/{CN1}')
    digests = re.findall('compute-agent approve ([0-9a-f]{16})', text)
    assert digests
    assert 'CUSTOM_GOLD' in text


def test_who_is_not_there_is_not_found(site):
    path = '/provider/99999999-9999-4999-8999-999999999999'
    assert 'no provider' in explored_pages.html(site, path, 404)


# --- the cloud ----------------------------------------------------------------


def classes(group):
    return {row['class']: row for row in group['classes']}


def test_the_cloud_is_the_sum_of_its_providers(site):
    (group,) = data(site, '/')['groups']
    found = classes(group)
    vgpu = found['VGPU']
    assert (vgpu['free'], vgpu['used'], vgpu['total']) == (3, 5, 8)
    vcpu = found['VCPU']
    assert vcpu['total'] == 32 + 32 + 16 + 8
    assert vcpu['capacity'] == 120 + 120 + 24 + 8
    assert vcpu['over_capacity'] == 30 - 24
    # What cn2 has too little makes nothing of the others less.
    assert vcpu['free'] == 80 + 114 + 0 + 0
    assert found['DISK_GB']['reserved'] == 2000


def test_the_cloud_in_groups(site):
    by_aggregate = data(site, '/', by='aggregate')['groups']
    found = {group['title']: group for group in by_aggregate}
    assert 'DISK_GB' in classes(found[STORAGE])
    by_trait = data(site, '/', by='trait', trait='CUSTOM_GPU_A40')['groups']
    having, without = by_trait
    assert 'VGPU' in classes(having)
    assert 'VGPU' not in classes(without)
    by_driver = data(site, '/', by='driver')['groups']
    titles = {group['title']: group['providers'] for group in by_driver}
    assert titles['driver FakeDriver, on this machine'] == 5


def test_a_provider_is_read_again_only_if_it_changed(cloud, site, sent):
    data(site, '/')
    sent.clear()
    data(site, '/')
    assert sent == []


def test_a_list_is_kept_for_a_moment_and_read_anew_if_asked(cloud, site):
    assert data(site, '/providers')['count'] == 7
    cloud.others.create('66666666-6666-4666-8666-666666666666', 'new')
    assert data(site, '/providers')['count'] == 7
    anew = dataclasses.replace(
        explored_pages.asked('/providers', format='json'),
        headers={'cache-control': 'no-cache'},
    )
    assert json.loads(b''.join(site(anew).body))['count'] == 8


def test_a_large_cloud_is_read_once_a_person_asks(site, monkeypatch):
    monkeypatch.setattr(cloud_page, 'MANY', 3)
    found = data(site, '/')
    assert found['waits_for_click']
    assert found['read'] == 0
    text = explored_pages.html(site, '/')
    assert 'read=1' in text
    assert data(site, '/', read='1')['read'] == 7


# --- why not ------------------------------------------------------------------


def requirements(found):
    return {
        row['requirement']: (row['fails'], row['unknown'])
        for row in found['answer']['requirements']
    }


def test_a_flavor_without_a_host_says_what_keeps_each_out(cloud, site):
    found = data(site, '/why-not', vcpus='4', specs='trait:CUSTOM_X=required')
    assert 'CUSTOM_X' in found['problem']
    cloud.others.add_traits('cn2', 'CUSTOM_X')
    found = data(site, '/why-not', vcpus='4', specs='trait:CUSTOM_X=required')
    # cn2 has it and no VCPU, cn1 lacks it, cn3 lacks it and VCPU.
    assert found['answer']['hosts'] == 3
    assert found['answer']['fitting'] == 0
    assert requirements(found) == {
        'VCPU: 4': (2, 0),
        'CUSTOM_X required': (2, 1),
    }
    by_host = {o['host']: o['fails'] for o in found['answer']['kept_out']}
    assert by_host == {
        'cn1': ['CUSTOM_X required'],
        'cn2': ['VCPU: 4'],
        'cn3': ['VCPU: 4', 'CUSTOM_X required'],
    }
    text = explored_pages.html(
        site, '/why-not', vcpus='4', specs='trait:CUSTOM_X=required'
    )
    assert '2 of 3 lack CUSTOM_X' in text


def test_a_flavor_with_hosts_has_the_rows_of_the_command(cloud, site):
    words = ('--property', 'resources:VGPU=2', '-f', 'json')
    words = ('allocation', 'candidate', 'list', '--long', *words)
    listed = [row for row in cloud.run(*words).data if row['gives']]
    found = data(site, '/why-not', specs='resources:VGPU=2')
    assert found['answer']['candidates'] == listed
    assert found['answer']['fitting'] == 1


def test_what_a_pool_gives_counts_for_the_hosts_that_it_shares_with(site):
    def asked(disk):
        specs = f'resources:VCPU=4\nresources:DISK_GB={disk}'
        return data(site, '/why-not', specs=specs)

    found = asked(100)
    assert found['answer']['fitting'] == 1
    # cn2 and cn3 have too little VCPU; whether the pool would serve them
    # placement does not tell.
    assert requirements(found) == {'VCPU: 4': (2, 0), 'DISK_GB: 100': (0, 2)}
    found = asked(100_000)
    assert found['answer']['fitting'] == 0
    assert requirements(found)['DISK_GB: 100000'] == (3, 0)


def test_hosts_that_meet_each_requirement_alone_are_counted(cloud, site):
    """Each NUMA node of cn1 has one of the traits, and none has both."""
    cloud.others.add_traits('cn1_NUMA0', 'CUSTOM_ONE')
    cloud.others.add_traits('cn1_NUMA1', 'CUSTOM_TWO')
    found = data(
        site,
        '/why-not',
        specs='resources:VCPU=4\ntrait:CUSTOM_ONE=required\n'
        'trait:CUSTOM_TWO=required',
    )
    assert found['answer']['together'] == 1


def test_one_host_is_explained_as_the_command_does(cloud, site):
    words = ('--property', 'resources:VCPU=4', '--property')
    words += ('trait:CUSTOM_GPU_A40=required', 'cn3', '-f', 'json')
    told = cloud.run('allocation', 'candidate', 'why-not', *words).data
    found = data(
        site,
        '/why-not',
        specs='resources:VCPU=4\r\ntrait:CUSTOM_GPU_A40=required',
        host='cn3',
    )
    assert found['explained']['rows'] == told


PASTED = [
    'trait:CUSTOM_GOLD=required\nresources:VCPU=4',
    "trait:CUSTOM_GOLD='required', resources:VCPU='4'",
    '{"extra_specs": {"trait:CUSTOM_GOLD": "required"}, "vcpus": 4}',
    'vcpus: 4\nproperties:\n  trait:CUSTOM_GOLD: required\n',
]


def test_a_flavor_is_pasted_in_each_form(site):
    for specs in PASTED:
        found = data(site, '/why-not', specs=specs)
        assert found['problem'] == '', specs
        assert 'resources=VCPU:4' in found['request']
        assert 'required=CUSTOM_GOLD' in found['request']


def test_a_trait_on_a_provider_that_gives_nothing_is_said(site):
    """cn1's VCPU is in its NUMA nodes, and CUSTOM_GOLD at its root."""
    found = data(
        site, '/why-not', vcpus='4', specs='trait:CUSTOM_GOLD=required'
    )
    (row,) = (
        one
        for one in found['answer']['requirements']
        if one['names'] == ['CUSTOM_GOLD']
    )
    assert row['elsewhere'] == 1


def test_the_pasted_lines_stay_in_the_form(site):
    text = explored_pages.html(
        site, '/why-not', specs='resources:VCPU=4\r\nresources:VGPU=1\x1b</'
    )
    assert '>resources:VCPU=4\nresources:VGPU=1\\x1b&lt;/</textarea>' in text


WRONG = [
    {'vcpus': 'many'},
    {'specs': 'trait:CUSTOM_GOLD=perhaps'},
    {'specs': 'resource:VCPU=4'},
    {'specs': 'vcpus: [1]'},
    {'specs': 'trait:CUSTOM_GOLD=required'},
    {'specs': '{{{'},
]


def test_a_wrong_flavor_is_one_line(site):
    for form in WRONG:
        found = data(site, '/why-not', **form)
        assert found['problem'], form
        assert found['answer'] is None
        assert 'Traceback' not in found['problem']


# --- plan, history, audit -----------------------------------------------------


def test_the_plan_is_that_of_the_command(cloud, site):
    found = data(site, '/plan')
    result = cloud.run('plan', '-f', 'json')
    assert found['nodes'] == result.data
    text = cloud.run('plan').out.rstrip('\n')
    assert text.startswith('\n'.join(found['lines']))
    assert found['waiting']['changes'] == 1


def test_the_history_tells_who_removed_a_trait(site):
    found = data(site, '/history', search='CUSTOM_GOLD', removals='1')
    (entry,) = found['history']
    assert entry['Who'].startswith('resource provider trait remove by ')
    assert entry['Changes'] == ['-CUSTOM_GOLD']
    assert entry['UUID'] == CN2
    assert data(site, '/history', others='1')['history'] == []


def test_the_audit_is_that_of_the_command(cloud, site):
    found = data(site, '/audit')
    told = cloud.run('audit', '-f', 'json').data
    assert found['results'] == told['results']
    assert found['asked'] == told['asked']
    every = data(site, '/audit', allocations='1')
    kinds = {kind['title'] for kind in every['kinds']}
    assert 'inventories used above their capacity' in kinds
    text = explored_pages.html(site, '/audit', allocations='1')
    assert 'Inventories used above their capacity' in text


# --- without an agent, and without placement ------------------------------------


def test_a_machine_without_an_agent_shows_the_cloud(cloud):
    cloud.fake_file.write_text('nodes: nonsense')
    cloud.configure(state_path=cloud.folder / 'elsewhere')
    site = explored_pages.pages(cloud)
    assert data(site, '/providers')['count'] == 7
    assert data(site, '/')['read'] == 7
    assert data(site, f'/provider/{CN1}')['traits']
    assert data(site, '/plan')['problem']
    assert 'role="alert"' in explored_pages.html(site, '/plan')


def test_without_placement_each_page_says_so(cloud):
    site = explored_pages.pages(cloud)
    cloud.stop_placement()
    for path in ('/', '/providers', f'/provider/{CN1}', '/audit'):
        text = explored_pages.html(site, path, 502)
        assert 'cannot be reached' in text or 'no answer' in text.lower()
        assert 'Traceback' not in text


def test_an_answer_that_takes_long_shows_that_it_is_under_way(
    site, monkeypatch
):
    monkeypatch.setattr(slow, 'WAIT', 0)

    def pending(asked):
        raise slow.Pending(3.2)

    monkeypatch.setitem(site._pages, '/plan', ('plan', pending))
    text = explored_pages.html(site, '/plan')
    assert 'http-equiv="refresh"' in text
    line = explored_pages.html(site, '/plan', 503, format='json')
    assert 'ask again' in line


# --- hostile names --------------------------------------------------------------


@pytest.mark.catches('names are printed as a server gave them')
@pytest.mark.catches('a page takes names for markup')
def test_a_hostile_name_is_text_on_each_page(cloud):
    """In a provider, the source of a trait, a person, and a reason."""
    hostile = explored_cloud.HOSTILE
    data_of = explored_cloud.description(gold=False)
    more = {'name': hostile, 'inventories': {'VGPU': 1}}
    more['traits'] = ['CUSTOM_HOSTILE']
    data_of['nodes'][0]['children'].append(more)
    explored_cloud.describe(cloud, data_of)
    cloud.others.create(
        '66666666-6666-4666-8666-666666666666', f'\x1b[2J\u202e{hostile}', CN3
    )
    cloud.run(
        'resource', 'provider', 'trait', 'add',
        '66666666-6666-4666-8666-666666666666', 'CUSTOM_GOLD',
    )  # fmt: skip
    assert cloud.run('sync', '--yes').code == 0
    more['traits'] = []
    explored_cloud.describe(cloud, data_of)
    site = explored_pages.pages(cloud)
    paths = (
        '/', '/?by=driver', '/providers', '/providers?search=script', '/plan',
        '/history', '/audit?allocations=1', '/why-not?specs=resources:VGPU=1',
        f'/provider/{CN1}', f'/provider/{GPU}', f'/provider/{CN3}',
        '/provider/66666666-6666-4666-8666-666666666666',
    )  # fmt: skip
    seen = []
    for path in paths:
        text = explored_pages.html(site, path)
        assert '<script' not in text, path
        assert '<img' not in text, path
        assert 'onerror=alert(2)>' not in html.unescape(text).replace(
            hostile, ''
        )
        assert '\x1b' not in text
        assert '\u202e' not in text
        assert '49}}' not in text
        if html.escape(hostile)[:20] in text:
            seen.append(path)
    assert len(seen) >= 9, seen
    child = cloud.providers()[hostile]
    text = explored_pages.html(site, f'/provider/{child}')
    assert hostile in html.unescape(text)
    assert 'waits for approval' in explored_pages.html(site, '/plan')
    for path in ('/providers', '/why-not', '/history'):
        for field in ('search', 'specs', 'vcpus', 'host', 'has', 'sort'):
            reply = site(explored_pages.asked(path, **{field: hostile}))
            text = b''.join(reply.body).decode()
            assert '<script' not in text, (path, field)


TRICKS = [
    '/..', '/../etc/passwd', '//', '/style.css/..', '/templates/base.html',
    '/provider/', f'/provider/{CN1}/', f'/provider/{CN1}/../{CN2}',
    f'/provider/{CN1.upper()}x', '/provider/..%2f', '/\0', '/base.html',
    '/icon.svg/', '/Providers', '/.', '',
]  # fmt: skip


def test_a_path_that_is_no_page_is_refused_in_one_line(site):
    for path in TRICKS:
        asked = dataclasses.replace(explored_pages.asked('/'), path=path)
        reply = site(asked)
        text = b''.join(reply.body).decode()
        assert reply.status == 404, path
        assert text.count('\n') == 1
        assert path.strip('/') in {'', '.', '..'} or path not in text


def test_a_page_that_fails_says_no_more(site, monkeypatch):
    def fails(asked):
        raise RuntimeError('a secret')

    monkeypatch.setitem(site._pages, '/plan', ('plan', fails))
    text = explored_pages.html(site, '/plan', 500)
    assert text.count('\n') == 1
    assert 'secret' not in text


def test_no_page_has_a_script_or_asks_another_server(site):
    for path in ('/', '/providers', f'/provider/{CN1}', '/why-not', '/audit'):
        text = explored_pages.html(site, path)
        assert '<script' not in text
        assert ' style=' not in text
        assert not re.findall(r'(?:src|href|action)="(?:\w+:|//)', text)
        assert json.dumps(text)
