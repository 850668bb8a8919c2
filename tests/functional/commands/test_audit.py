# SPDX-License-Identifier: Apache-2.0
"""``compute-agent audit`` on the real placement, with a nova and an Ironic."""

import collections
import os
import pwd

import many_providers
import pytest
import requests
import yaml

pytestmark = pytest.mark.long

CN1 = '11111111-1111-4111-8111-111111111111'
CN2 = '22222222-2222-4222-8222-222222222222'
CHILD = '33333333-3333-4333-8333-333333333333'
NODE = '44444444-4444-4444-8444-444444444444'
VM = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
GHOST = 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'
NOW = ('--unchanged-for', '0')


class Cloud:
    """The operator of the placement, nova and Ironic of one test."""

    def __init__(self, cli, nova, placement_server):
        self.cli, self.nova = cli, nova
        self.database = placement_server.database
        self.ask_nova()

    def _add(self, text):
        self.cli.config.write_text(f'{self.cli.config.read_text()}\n{text}\n')

    def ask_nova(self):
        self._add(
            f'[nova]\nauth_type = none\nendpoint_override = {self.nova.url}'
        )

    def ask_ironic(self, ironic):
        self._add(
            f'[ironic]\nauth_type = none\nendpoint_override = {ironic.url}'
        )

    def provider(self, name, uuid, parent=None, *, traits=(), **amounts):
        """Create a provider with traits and inventory totals."""
        self.cli.others.create(uuid, name, parent)
        if traits:
            self.cli.others.add_traits(uuid, *traits)
        if amounts:
            self.inventory(uuid, **amounts)

    def inventory(self, uuid, **amounts):
        """Give a provider these inventory totals."""
        totals = {rc: {'total': n} for rc, n in amounts.items()}
        self.cli.others.set_inventories(uuid, totals)

    def host(self, name, uuid, **amounts):
        self.provider(name, uuid, traits=['COMPUTE_NODE'], **amounts)

    def allocate(self, consumer, provider, **amounts):
        self.cli.others.allocate(provider, consumer, amounts)

    def audit(self, *words):
        return self.cli.run('audit', *NOW, *words)

    def results(self, *words):
        """Return kind → subjects of the results, of findings only."""
        found = collections.defaultdict(list)
        for one in self.audit('-f', 'json', *words).data['results']:
            if one['level'] == 'finding':
                found[one['kind']].append(one['subject'])
        return dict(found)

    def history(self, *words):
        return self.cli.run('history', '-f', 'json', *words).data

    def providers(self):
        return set(self.cli.providers())


@pytest.fixture
def cloud(cli, nova, placement_server):
    """Host cn1 that nova has, and cn2 that it has no more."""
    made = Cloud(cli, nova, placement_server)
    made.host('cn1', CN1, VCPU=8)
    made.host('cn2', CN2, VCPU=8)
    nova.hypervisor('cn1', CN1)
    return made


def test_a_sound_cloud_has_no_findings(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    result = cloud.audit()
    assert (result.code, result.err) == (0, '')
    assert 'nothing was found that is wrong' in result.out
    assert 'nova: 2 hypervisors, 2 nova-compute services' in result.out
    assert 'Ironic was not asked: [ironic] auth_type is not set' in result.out


def test_a_dead_host_is_shown_with_the_evidence(cloud):
    result = cloud.audit()
    assert result.code == 2
    assert 'hosts that are gone: 1' in result.out
    assert f'cn2 ({CN2})' in result.out
    assert f'cn1 ({CN1})' not in result.out
    assert 'nova knows no hypervisor' in result.out
    assert cloud.providers() == {'cn1', 'cn2'}


def test_a_host_that_changed_within_the_hour_is_unknown(cloud):
    result = cloud.cli.run('audit')
    assert result.code == 0
    assert 'unknown: hosts that are gone: 1' in result.out
    many_providers.age(cloud.database)
    assert cloud.cli.run('audit').code == 2


def test_without_nova_no_host_is_gone(cloud):
    cloud.cli.configure()
    result = cloud.audit()
    assert result.code == 0
    assert 'unknown: hosts that are gone: 2' in result.out
    assert 'nova was not asked: [nova] auth_type is not set' in result.out


def test_nova_that_fails_makes_the_audit_incomplete(cloud):
    cloud.nova.faults['/os-hypervisors'] = 503, {}
    result = cloud.audit()
    assert result.code == 1
    assert 'unknown: hosts that are gone: 2' in result.out
    assert 'HTTP 503' in result.out


@pytest.mark.parametrize(
    ('path', 'answer', 'why'),
    [
        ('/os-services', (403, {'forbidden': {'message': 'Policy'}}), 'admin'),
        ('/os-services', (200, {'services': None}), 'no list of services'),
        ('/os-services', (200, b'<html>'), 'HTTP 200'),
        ('/os-services', (406, {}), '2.69'),
        (
            '/os-services',
            (200, {'services': [{'host': 'a', 'status': 'UNKNOWN'}]}),
            'a cell of nova is down',
        ),
        ('/os-hypervisors', (200, {'hypervisors': [{}]}), 'without uuid'),
        (
            '/os-hypervisors',
            (
                200,
                {'hypervisors': [{'id': CN1, 'hypervisor_hostname': 'cn1'}]},
            ),
            'same page again',
        ),
        ('/flavors/detail', (200, {'flavors': [{'id': '1'}]}), 'extra_specs'),
    ],
)
def test_an_incomplete_answer_of_nova_is_unknown(cloud, path, answer, why):
    cloud.nova.faults[path] = answer
    result = cloud.audit()
    assert result.code == 1
    assert 'Traceback' not in result.err
    assert why in result.out
    assert 'unknown: hosts that are gone: 2' in result.out


def test_a_nova_without_any_host_is_unknown(cloud):
    cloud.nova.hypervisors.clear()
    cloud.nova.services.clear()
    result = cloud.audit()
    assert result.code == 1
    assert 'nova lists no nova-compute service' in result.out


def test_a_nova_that_is_away_is_unknown(cloud, unused_port):
    cloud.cli.configure()
    cloud.nova.url = f'http://127.0.0.1:{unused_port}'
    cloud.ask_nova()
    result = cloud.audit()
    assert result.code == 1
    assert 'nova cannot be asked' in result.out


def test_a_list_of_nova_is_read_to_its_end(cloud):
    cloud.nova.page = 1
    cloud.nova.hypervisors = {NODE: 'cn3', CN2: 'cn2', CN1: 'cn1'}
    assert 'dead-host' not in cloud.results()


def test_an_ironic_node_is_judged_by_ironic(cloud, ironic_list):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.host(NODE, NODE, VCPU=1)
    assert 'it may be an Ironic node' in cloud.audit().out
    cloud.ask_ironic(ironic_list)
    assert 'Ironic lists no node' in cloud.audit().out
    ironic_list.instances = {CHILD: None}
    assert cloud.results() == {'dead-host': [NODE]}
    ironic_list.instances[NODE] = None
    assert cloud.results() == {}


def test_an_ironic_that_fails_makes_the_audit_incomplete(cloud, ironic_list):
    cloud.ask_ironic(ironic_list)
    ironic_list.faults['/v1/nodes'] = 403, {}
    result = cloud.audit()
    assert result.code == 1
    assert 'Ironic did not answer completely' in result.out


def test_a_cloud_of_clouds_yaml_reaches_all_services(
    cloud, monkeypatch, tmp_path
):
    cloud.cli.configure()
    file = tmp_path / 'clouds.yaml'
    one = {
        'auth_type': 'admin_token',
        'auth': {'endpoint': cloud.cli.url, 'token': 'admin'},
        'compute_endpoint_override': cloud.nova.url,
        # A cloud without Ironic.
        'baremetal_endpoint_override': f'{cloud.nova.url}/none',
    }
    file.write_text(yaml.safe_dump({'clouds': {'test': one}}))
    monkeypatch.setenv('OS_CLIENT_CONFIG_FILE', str(file))
    cloud.nova.faults['/none/v1/nodes'] = 404, {}
    result = cloud.cli.run('--os-cloud', 'test', 'audit', *NOW)
    assert result.code == 2
    assert 'hosts that are gone: 1' in result.out
    assert 'Ironic did not answer completely' in result.out


def test_the_nodes_of_this_agent_are_alive(cloud):
    cloud.cli.describe_node(CN2, ['CUSTOM_GOLD'])
    text = cloud.cli.fake_file.read_text().replace('cn1', 'cn2')
    cloud.cli.fake_file.write_text(text)
    assert cloud.cli.run('sync', '--yes').code == 0
    assert 'dead-host' not in cloud.results()


def test_an_orphaned_child_is_found_without_reading_others(cloud):
    cloud.provider('pci', CHILD, CN1)
    assert cloud.results()['orphaned-child'] == [
        f'pci ({CHILD}), below cn1 ({CN1})'
    ]


def test_unused_traits_are_found_and_those_of_flavors_are_not(cloud):
    for name in ('CUSTOM_OLD', 'CUSTOM_WANTED', 'CUSTOM_FORBIDDEN'):
        cloud.cli.placement(f'/traits/{name}', 'PUT')
    cloud.nova.flavors = {
        'm1': {'trait:CUSTOM_WANTED': 'required'},
        'm2': {'trait_GPU:CUSTOM_FORBIDDEN': 'forbidden'},
        'm3': {'hw:cpu_policy': 'dedicated'},
    }
    found = cloud.results()
    assert found['unused-trait'] == ['CUSTOM_OLD']
    assert found['wanted-trait'] == ['CUSTOM_WANTED']


def test_allocations_of_every_provider_are_judged_if_wanted(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.nova.servers = [VM]
    cloud.allocate(VM, CN1, VCPU=1)
    cloud.allocate(GHOST, CN1, VCPU=1)
    assert cloud.results() == {}
    assert cloud.results('--allocations') == {
        'orphaned-allocations': [f'{GHOST} on cn1 ({CN1})']
    }
    cloud.nova.migrations = [GHOST]
    assert cloud.results('--allocations') == {}


def test_many_consumers_are_looked_up_in_lists(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.provider('big', NODE, VCPU=1000)
    ghosts = [GHOST[:-2] + f'{n:02}' for n in range(21)]
    for ghost in ghosts:
        cloud.allocate(ghost, NODE, VCPU=1)
    cloud.nova.servers = [VM, *ghosts[:20]]
    cloud.nova.asked.clear()
    found = cloud.results('--allocations')['orphaned-allocations']
    assert found == [f'{ghosts[20]} on big ({NODE})']
    servers = [one for one in cloud.nova.asked if one.startswith('/servers')]
    assert all('all_tenants=True' in one for one in servers)


def test_use_above_the_capacity_is_found(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.nova.servers = [VM]
    cloud.allocate(VM, CN1, VCPU=8)
    cloud.inventory(CN1, VCPU=4)
    assert cloud.results('--allocations') == {
        'over-capacity': [f'cn1 ({CN1})']
    }


def test_an_unused_class_is_found_if_all_is_read(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.cli.placement('/resource_classes/CUSTOM_OLD', 'PUT')
    assert cloud.results('--allocations') == {'unused-class': ['CUSTOM_OLD']}


def test_the_result_is_data_too(cloud):
    found = yaml.safe_load(cloud.audit('-f', 'yaml').out)
    (dead,) = [o for o in found['results'] if o['level'] == 'finding']
    assert dead['repair'] == f'delete provider cn2 ({CN2})'
    assert found['asked']['nova'] == {
        'complete': True,
        'problem': '',
        'hosts': 1,
    }
    assert found['repairs'] == []


def test_placement_that_is_away_is_an_error(cloud):
    cloud.cli.stop_placement()
    result = cloud.audit()
    assert result.code == 1
    assert 'cannot be reached' in result.line


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        (['--yes'], 'add --repair'),
        (['--unchanged-for', 'soon'], 'not a number of seconds'),
        (['--unchanged-for', '-1'], 'not a number of seconds'),
        (['--unchanged-for', 'nan'], 'not a number of seconds'),
    ],
)
def test_a_wrong_command_line_is_said(cloud, words, said):
    result = cloud.cli.run('audit', *words)
    assert result.code == 1
    assert said in result.line


def test_a_node_that_ironic_lacks_is_found_without_nova(cloud, ironic_list):
    """The command that mends it is in the result, and does."""
    cloud.cli.configure()
    cloud.ask_ironic(ironic_list)
    ironic_list.instances = {CHILD: None}
    cloud.host(NODE, NODE, CUSTOM_GOLD=1)
    found = cloud.audit('--repair', '--yes', '-f', 'json').data['results']
    (gone,) = [one for one in found if one['level'] == 'finding']
    assert (gone['kind'], gone['subject']) == ('dead-host', NODE)
    assert 'Ironic has no such node' in gone['why']
    assert NODE in cloud.providers()
    _, _, command = gone['advice'].partition('compute-agent ')
    assert cloud.cli.run(*command.split()).code == 0
    assert NODE not in cloud.providers()


def test_a_host_unlike_its_peers_and_a_carved_card_are_found(cloud):
    """With --allocations; their mends are commands."""
    cloud.nova.hypervisor('cn2', CN2)
    for number in range(4):
        uuid = f'{number:08}-5555-4555-8555-555555555555'
        traits = ['COMPUTE_NODE', 'HW_CPU_X86_AVX2']
        cloud.provider(f'peer{number}', uuid, traits=traits, VCPU=8)
        cloud.nova.hypervisor(f'peer{number}', uuid)
    cloud.cli.others.add_traits(CN1, 'HW_CPU_X86_AVX2')
    cloud.provider('cn1_0000:84:00.0', CHILD, CN1, PGPU=1)
    cloud.provider('cn1_pci_0000_84_00_0', NODE, CN1, VGPU=8)
    data = cloud.audit('--allocations', '-f', 'json').data
    by_kind = {one['kind']: one for one in data['results']}
    assert by_kind.keys() == {'carved-card', 'unlike-peers'}
    _, _, command = by_kind['carved-card']['advice'].partition(
        'until then: compute-agent '
    )
    assert cloud.cli.run(*command.split()).code == 0
    assert cloud.results('--allocations') == {}
    cloud.cli.placement(f'/resource_providers/{CHILD}', 'DELETE')
    cloud.cli.placement(f'/resource_providers/{NODE}', 'DELETE')
    data = cloud.audit('--allocations', '-f', 'json').data
    (unlike,) = [o for o in data['results'] if o['kind'] == 'unlike-peers']
    assert (unlike['subject'], unlike['level']) == (f'cn2 ({CN2})', 'note')
    assert 'HW_CPU_X86_AVX2, which 5 of 6 hosts' in unlike['why']


def test_an_audit_ends_with_the_number_of_each_result(cloud):
    cloud.cli.placement('/traits/CUSTOM_OLD', 'PUT')
    lines = cloud.audit().out.splitlines()
    begin = lines.index('result   number  of')
    assert lines[begin + 1 : begin + 3] == [
        'finding       1  hosts that are gone',
        'finding       1  custom traits that nobody uses',
    ]


def test_the_requests_for_all_allocations_are_counted(cloud, sent):
    """Two for a provider, and two more for a compute node, each time."""
    cloud.nova.hypervisor('cn2', CN2)
    counts = []
    for name in ('', 'cn3', 'pool'):
        if name == 'cn3':
            cloud.host(name, NODE, VCPU=8)
            cloud.nova.hypervisor(name, NODE)
        elif name:
            traits = ['MISC_SHARES_VIA_AGGREGATE']
            cloud.provider(name, CHILD, traits=traits, DISK_GB=9)
        sent.clear()
        assert cloud.audit('--allocations').code == 0
        counts.append(len([one for one in sent if 'resource_p' in one]))
    first, with_host, with_pool = counts
    assert with_host - first == 4
    # One more list: a trait is in use that was not.
    assert with_pool - with_host == 2


# --- repair -------------------------------------------------------------------


@pytest.fixture
def broken(cloud):
    """A cloud with something of each kind that a repair mends."""
    cloud.provider('cn2_gpu', NODE, CN2, VGPU=1)
    cloud.provider('pci', CHILD, CN1)
    cloud.cli.placement('/traits/CUSTOM_OLD', 'PUT')
    cloud.allocate(GHOST, CN1, VCPU=1)
    cloud.nova.servers = [VM]
    cloud.allocate(VM, CN1, VCPU=1)
    return cloud


def test_a_repair_mends_all_of_them_and_nothing_else(broken):
    result = broken.audit('--allocations', '--repair', '--yes')
    assert (result.code, result.err) == (0, '')
    assert result.out.count('\ndone: ') == 4
    assert f'done: delete provider cn2 ({CN2}) and 1 below it' in result.out
    assert broken.providers() == {'cn1'}
    left = broken.cli.placement(f'/resource_providers/{CN1}/allocations')
    assert set(left['allocations']) == {VM}
    customs = broken.cli.placement('/traits?name=startswith:CUSTOM')
    assert customs['traits'] == []
    assert broken.audit('--allocations').code == 0


def test_the_history_has_each_deletion_and_the_person(broken):
    assert broken.cli.run('sync', '--yes').code == 0  # begins a history
    since = len(broken.history())
    broken.audit('--allocations', '--repair', '--yes')
    found = broken.history()[since:]
    me = pwd.getpwuid(os.getuid()).pw_name
    assert {one['Who'] for one in found} == {f'audit by {me}'}
    told = {(one['What'], one['Provider'], one['Why']) for one in found}
    assert told == {
        ('provider deleted', 'cn2_gpu', ''),
        ('provider deleted', 'cn2', ''),
        ('provider deleted', 'pci', ''),
        ('trait deleted', '', 'CUSTOM_OLD'),
        ('allocations deleted', 'cn1', f'consumer {GHOST}: VCPU=1'),
    }
    removals = broken.history('--removals')
    assert [one for one in removals if one['Who'] in found[0]['Who']] == found


def test_the_history_has_what_went_before_a_failure(broken, monkeypatch):
    assert broken.cli.run('sync', '--yes').code == 0
    before(
        broken,
        monkeypatch,
        f'DELETE /resource_providers/{CN2}',
        broken.cli.stop_placement,
    )
    assert broken.audit('--repair', '--yes').code == 1
    deleted = [
        one['Provider']
        for one in broken.history()
        if one['What'] == 'provider deleted'
    ]
    assert deleted == ['cn2_gpu']


def test_without_a_terminal_and_yes_nothing_is_written(broken):
    result = broken.audit('--allocations', '--repair')
    assert result.code == 1
    assert 'there is no terminal' in result.line
    assert 'the repair would:' in result.out
    assert broken.providers() == {'cn1', 'cn2', 'cn2_gpu', 'pci'}


def test_a_no_changes_nothing(broken, answers):
    answers('n\n')
    result = broken.audit('--repair')
    assert (result.code, result.out) == (0, 'nothing was changed\n')
    assert 'pci' in broken.providers()


def test_what_changed_before_the_yes_is_left_alone(broken, answers):
    def meanwhile():
        broken.nova.hypervisor('cn2', CN2)  # the host is back
        broken.nova.servers.append(GHOST)
        broken.inventory(CHILD, PCI_DEVICE=1)

    answers('y\n', meanwhile)
    result = broken.audit('--allocations', '--repair')
    assert result.code == 0
    assert broken.providers() == {'cn1', 'cn2', 'cn2_gpu', 'pci'}
    left = broken.cli.placement(f'/resource_providers/{CN1}/allocations')
    assert set(left['allocations']) == {VM, GHOST}
    assert 'done: delete trait CUSTOM_OLD' in result.out


def test_more_deletions_than_the_limit_need_yes(broken, answers):
    broken.cli.configure(agent={'max_removed_percent': 0})
    broken.ask_nova()
    answers('y\n')
    result = broken.audit('--repair')
    assert result.code == 1
    assert '3 providers would be deleted, more than' in result.line
    assert 'cn2' in broken.providers()
    assert broken.audit('--repair', '--yes').code == 0
    assert broken.providers() == {'cn1'}


def test_a_repair_that_has_nothing_to_do_says_so(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    result = cloud.audit('--repair')
    assert result.code == 0
    assert 'there is nothing that --repair mends' in result.out


def test_another_projects_provider_goes_only_if_it_is_named(cloud):
    cloud.provider('fpga', CHILD, CN2, traits=['OWNER_CYBORG'])
    result = cloud.audit('--repair', '--yes')
    assert result.code == 2
    assert 'OWNER_CYBORG' in result.out
    assert cloud.providers() == {'cn1', 'cn2', 'fpga'}
    assert cloud.audit('--repair', '--yes', '--include', 'fpga').code == 0
    assert cloud.providers() == {'cn1'}


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('cn9', 'no provider is called cn9'),
        ('CN1', 'no provider is called CN1; did you mean cn1?'),
        ('', "no provider is called ''"),
    ],
)
def test_an_included_name_of_no_provider_is_refused(cloud, name, said):
    result = cloud.audit('--repair', '--yes', f'--include={name}')
    assert (result.code, result.out) == (1, '')
    assert result.line == f'compute-agent: --include: {said}'
    assert cloud.providers() == {'cn1', 'cn2'}


def before(cloud, monkeypatch, beginning, action):
    """Do something just before the first write of a kind."""
    send = requests.Session.send
    done = []

    def hooked(self, request, **how):
        if (
            f'{request.method} {request.path_url}'.startswith(beginning)
            and not done
        ):
            done.append(True)
            action()
        return send(self, request, **how)

    monkeypatch.setattr(requests.Session, 'send', hooked)


def test_a_child_that_changed_at_the_last_moment_stays(cloud, monkeypatch):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.provider('pci', CHILD, CN1)
    before(
        cloud,
        monkeypatch,
        f'GET /resource_providers?in_tree={CHILD}',
        lambda: cloud.inventory(CHILD, PCI_DEVICE=1),
    )
    result = cloud.audit('--repair', '--yes')
    assert result.code == 1
    assert 'not done' in result.out
    assert 'changed, or is gone, by now' in result.out
    assert 'pci' in cloud.providers()


def test_a_host_with_a_new_child_stays(cloud, monkeypatch):
    before(
        cloud,
        monkeypatch,
        f'GET /resource_providers?in_tree={CN2}',
        lambda: cloud.provider('new', CHILD, CN2),
    )
    result = cloud.audit('--repair', '--yes')
    assert result.code == 1
    assert 'has other children by now' in result.out
    assert 'cn2' in cloud.providers()


def test_a_consumer_that_changed_at_the_last_moment_keeps_all(
    broken, monkeypatch
):
    def again():
        broken.cli.placement(f'/allocations/{GHOST}', 'DELETE')
        broken.allocate(GHOST, CN1, VCPU=1)
        now = broken.cli.placement(f'/allocations/{GHOST}')
        now['allocations'] = {CN1: {'resources': {'VCPU': 2}}}
        broken.cli.placement(f'/allocations/{GHOST}', 'PUT', now)

    before(broken, monkeypatch, f'PUT /allocations/{GHOST}', again)
    result = broken.audit('--allocations', '--repair', '--yes')
    assert result.code == 1
    assert result.out.count('\nnot done: ') == 1
    left = broken.cli.placement(f'/allocations/{GHOST}')['allocations']
    assert left[CN1]['resources'] == {'VCPU': 2}


def test_a_server_that_appears_at_the_last_moment_keeps_all(
    broken, monkeypatch
):
    before(
        broken,
        monkeypatch,
        f'GET /allocations/{GHOST}',
        lambda: broken.nova.servers.append(GHOST),
    )
    result = broken.audit('--allocations', '--repair', '--yes')
    assert result.code == 1
    assert 'nova knows this consumer by now' in result.out
    assert broken.cli.placement(f'/allocations/{GHOST}')['allocations']


def test_a_trait_that_a_provider_got_at_the_last_moment_stays(
    cloud, monkeypatch
):
    cloud.nova.hypervisor('cn2', CN2)
    cloud.cli.placement('/traits/CUSTOM_OLD', 'PUT')
    before(
        cloud,
        monkeypatch,
        'DELETE /traits/CUSTOM_OLD',
        lambda: cloud.cli.others.add_traits(CN1, 'CUSTOM_OLD'),
    )
    result = cloud.audit('--repair', '--yes')
    assert result.code == 1
    assert 'has it; remove it there first' in result.out


@pytest.fixture
def evacuated(cloud):
    """A server that nova evacuated from cn1 to cn2, and that uses both."""
    cloud.nova.hypervisor('cn2', CN2)
    cloud.provider('pool', CHILD, traits=['MISC_SHARES_VIA_AGGREGATE'])
    cloud.inventory(CHILD, DISK_GB=9)
    cloud.nova.evacuate(VM, 'cn1', 'cn2')
    cloud.cli.placement(
        f'/allocations/{VM}',
        'PUT',
        {
            'allocations': {
                CN1: {'resources': {'VCPU': 1}},
                CN2: {'resources': {'VCPU': 1}},
                CHILD: {'resources': {'DISK_GB': 1}},
            },
            'project_id': 'p',
            'user_id': 'u',
            'consumer_generation': None,
            'consumer_type': 'INSTANCE',
        },
    )
    return cloud


def used_by_server(cloud):
    return set(cloud.cli.placement(f'/allocations/{VM}')['allocations'])


def test_what_an_evacuation_left_is_taken_off_the_failed_host(evacuated, sent):
    assert evacuated.results() == {}
    assert evacuated.results('--allocations') == {
        'left-allocations': [f'{VM} on cn1 ({CN1})']
    }
    evacuated.nova.asked.clear()
    sent.clear()
    result = evacuated.audit('--allocations', '--repair', '--yes')
    assert (result.code, result.err) == (0, '')
    assert f'done: take the allocations of {VM} off cn1' in result.out
    assert used_by_server(evacuated) == {CN2, CHILD}
    # Where the server is, and its evacuations in two pages: for the audit and
    # once more before the write.
    of_server = [one for one in evacuated.nova.asked if VM in one]
    assert len(of_server) == 1 + 2 * 3
    assert [one for one in sent if '/allocations/' in one] == [
        f'GET /allocations/{VM}',
        f'PUT /allocations/{VM}',
    ]
    assert evacuated.results('--allocations') == {}


@pytest.mark.parametrize(
    'change',
    [
        lambda nova: nova.tasks.update({VM: 'migrating'}),
        lambda nova: nova.evacuations[0].update(status='pre-migrating'),
        lambda nova: nova.evacuations.clear(),
    ],
)
def test_a_server_that_moves_keeps_all_its_allocations(evacuated, change):
    change(evacuated.nova)
    result = evacuated.audit('--allocations', '--repair', '--yes')
    assert 'unknown: allocations left on another host: 1' in result.out
    assert used_by_server(evacuated) == {CN1, CN2, CHILD}


@pytest.mark.catches('allocations leave a host without the proof of nova')
def test_a_server_that_moves_back_at_the_last_moment_keeps_all(
    evacuated, monkeypatch
):
    before(
        evacuated,
        monkeypatch,
        f'GET /allocations/{VM}',
        lambda: evacuated.nova.tasks.update({VM: 'migrating'}),
    )
    result = evacuated.audit('--allocations', '--repair', '--yes')
    assert result.code == 1
    assert 'nova does something with this server by now' in result.out
    assert used_by_server(evacuated) == {CN1, CN2, CHILD}


def test_unused_classes_go_and_those_of_flavors_stay(cloud):
    cloud.nova.hypervisor('cn2', CN2)
    for name in ('CUSTOM_OLD', 'CUSTOM_WANTED'):
        cloud.cli.placement(f'/resource_classes/{name}', 'PUT')
    cloud.nova.flavors = {'m1': {'resources:CUSTOM_WANTED': '1'}}
    result = cloud.audit('--allocations', '--repair', '--yes')
    assert result.code == 2
    assert 'done: delete resource class CUSTOM_OLD' in result.out
    assert cloud.results('--allocations') == {
        'wanted-class': ['CUSTOM_WANTED']
    }


def test_after_an_outage_no_other_repair_is_tried(broken, monkeypatch):
    before(
        broken,
        monkeypatch,
        f'GET /resource_providers?in_tree={CN2}',
        broken.cli.stop_placement,
    )
    result = broken.audit('--allocations', '--repair', '--yes')
    assert result.code == 1
    assert result.out.count(': not tried') == 3


# --- many ---------------------------------------------------------------------


def test_an_audit_of_4000_providers_takes_as_many_requests_as_of_400(
    cloud, sent
):
    cloud.nova.hypervisor('cn2', CN2)
    counts = []
    for numbers in (range(200), range(200, 2000)):
        hosts = many_providers.add_hosts(cloud.database, numbers)
        for uuid, name in hosts.items():
            cloud.nova.hypervisor(name, uuid)
        sent.clear()
        found = cloud.audit('-f', 'json').data
        assert found['asked']['placement']['read'] == 0
        counts.append(len([one for one in sent if 'resource_p' in one]))
        counts.append(len(sent) - counts[-1])
    assert counts[0] == counts[2]
    assert counts[2] < 30
    # One page of hypervisors more, and one for each further thousand.
    assert counts[3] <= counts[1] + 2
