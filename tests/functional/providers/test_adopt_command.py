# SPDX-License-Identifier: Apache-2.0
"""``resource provider adopt``: what another created becomes this agent's to delete.

And a host that was installed anew takes the uuid back that its name has.
"""

import uuid

import pytest

from compute_agent.identity import compute_id

ROOT = '11111111-1111-4111-8111-111111111111'
NUMA = '22222222-2222-4222-8222-222222222222'
NIC = '33333333-3333-4333-8333-333333333333'
ELSEWHERE = '44444444-4444-4444-8444-444444444444'
NESTED = f"""
nodes:
  - name: cn1
    uuid: {ROOT}
    inventories: {{VCPU: 8}}
    children:
      - name: numa
        uuid: {NUMA}
        inventories: {{MEMORY_MB: 1024}}
"""
BARE = f"""
nodes:
  - {{name: cn1, uuid: {ROOT}, inventories: {{VCPU: 8}}}}
"""


def there(cli):
    return set(cli.providers())


# --- a provider that another created -----------------------------------------


@pytest.fixture
def nested(cli):
    """The agent's node, and below its child a provider of another's."""
    cli.fake_file.write_text(NESTED)
    assert cli.run('sync').code == 0
    cli.others.create(NIC, 'nic', NUMA)
    return cli


def test_a_child_of_another_s_keeps_what_is_above_it_until_it_is_adopted(
    nested,
):
    nested.fake_file.write_text(BARE)
    kept = nested.run('sync')
    assert f'resource provider adopt {NIC}' in kept.out
    assert there(nested) == {'cn1', 'numa', 'nic'}
    adopted = nested.run('resource', 'provider', 'adopt', 'nic', '--yes')
    assert (adopted.code, adopted.err) == (0, '')
    assert adopted.out == f'adopted nic ({NIC})\n'
    assert nested.run('sync').code == 0
    assert there(nested) == {'cn1'}


def test_a_whole_subtree_may_be_adopted(cli):
    cli.fake_file.write_text(NESTED)
    cli.others.create(ROOT, 'cn1')
    cli.others.create(NUMA, 'numa', ROOT)
    cli.others.create(NIC, 'nic', NUMA)
    words = ('resource', 'provider', 'adopt', 'cn1', '-f', 'json', '--yes')
    assert cli.run(*words).data['adopted'] == [ROOT]
    data = cli.run(*words, '--subtree').data
    assert data == {
        'provider': 'cn1',
        'uuid': ROOT,
        'node_uuid': ROOT,
        'adopted': [NUMA, NIC],
    }
    again = cli.run('resource', 'provider', 'adopt', 'cn1', '--subtree')
    assert (again.code, again.out) == (
        0,
        f'cn1 ({ROOT}) already belongs to this agent\n',
    )


def test_one_that_stands_alone_belongs_to_the_only_node(cli):
    cli.others.create(NIC, 'nfs')
    result = cli.run(
        'resource', 'provider', 'adopt', NIC, '--yes', '-f', 'json'
    )
    assert result.data['node_uuid'] == ROOT
    shown = cli.run('state', 'show', '-f', 'json').data
    assert [row['Created'] for row in shown if row['UUID'] == NIC] == [True]


def test_of_several_nodes_one_must_be_named_for_it(cli):
    cli.others.create(NIC, 'nfs')
    other = f'  - {{name: cn2, uuid: {NUMA}, inventories: {{VCPU: 1}}}}\n'
    cli.fake_file.write_text(BARE + other)
    result = cli.run('resource', 'provider', 'adopt', 'nfs', '--yes')
    assert result.code == 1
    assert '--node' in result.line
    words = ('resource', 'provider', 'adopt', 'nfs', '--yes', '--node', 'cn2')
    assert cli.run(*words, '-f', 'json').data['node_uuid'] == NUMA


@pytest.mark.catches(
    'adopting keeps the record of an earlier provider with the same uuid'
)
def test_one_made_anew_by_another_is_adopted_as_the_new_one(nested):
    """What was recorded of the old one is not taken for the new one's."""
    nested.placement(f'/resource_providers/{NIC}', 'DELETE')
    nested.placement(f'/resource_providers/{NUMA}', 'DELETE')
    nested.others.create(NUMA, 'numa', ROOT)
    asked = nested.run('resource', 'provider', 'adopt', 'numa')
    assert 'another writer deleted and created it again' in asked.out
    adopted = nested.run('resource', 'provider', 'adopt', 'numa', '--yes')
    assert adopted.out == f'adopted numa ({NUMA})\n'
    nested.fake_file.write_text(BARE)
    assert nested.run('sync').code == 0
    assert there(nested) == {'cn1'}


def test_one_in_another_s_tree_is_refused(cli):
    cli.others.create(ELSEWHERE, 'elsewhere')
    cli.others.create(NIC, 'nic', ELSEWHERE)
    result = cli.run('resource', 'provider', 'adopt', 'nic', '--yes')
    assert result.code == 1
    assert f'in the tree of elsewhere ({ELSEWHERE})' in result.line


def test_it_is_shown_and_asked_for(nested, answers):
    answers('n\n')
    result = nested.run('resource', 'provider', 'adopt', 'nic')
    assert 'will count as created by this agent, for node cn1' in result.err
    assert result.out == 'nothing was changed\n'
    answers('y\n')
    assert nested.run('resource', 'provider', 'adopt', 'nic').out.startswith(
        'adopted'
    )


def test_without_a_terminal_the_plan_is_printed_and_nothing_done(nested):
    result = nested.run('resource', 'provider', 'adopt', 'nic')
    assert result.code == 1
    assert '--yes' in result.line
    assert 'will count as created' in result.out
    data = nested.run(
        'resource', 'provider', 'adopt', 'nic', '-f', 'json'
    ).data
    assert data['adopted'] == []


def test_it_is_not_done_beside_a_daemon(nested, daemon):
    one = daemon(nested.config, '--show-tree')
    one.wait_for('in step with')
    for command in ('adopt', 'rename'):
        result = nested.run('resource', 'provider', command, 'nic', '--yes')
        assert result.code == 1
        assert (
            f'process {one.process.pid} uses the state directory'
            in result.line
        )


# --- a host that was installed anew ------------------------------------------


@pytest.fixture
def host(cli):
    """A host whose name placement has under the uuid it had before."""
    cli.configure(compute_driver='libvirt')
    cli.others.create(ELSEWHERE, 'cn1')
    return cli


def test_a_host_that_was_installed_anew_takes_its_old_uuid_back(host):
    host.others.set_inventories(ELSEWHERE, {'PCPU': {'total': 2}})
    assert host.run('sync').code == 1
    own = (host.state_path / 'compute_id').read_text().strip()
    result = host.run('resource', 'provider', 'adopt', 'cn1', '--yes')
    assert (result.code, result.err) == (0, '')
    aside = host.state_path / f'compute_id.{own}.replaced'
    assert str(aside) in result.out
    assert aside.read_text().strip() == own
    assert (host.state_path / 'compute_id').read_text().strip() == ELSEWHERE
    assert host.run('sync').code == 0
    assert there(host) == {'cn1'}
    shown = host.run('state', 'show', '-f', 'json').data
    assert {row['UUID'] for row in shown} == {ELSEWHERE}


def contents(cli):
    return set(cli.others.inventories(ELSEWHERE))


@pytest.mark.catches('a reinstalled host asks twice')
def test_its_adoption_is_the_yes_to_the_first_write(host):
    host.others.set_inventories(ELSEWHERE, {'PCPU': {'total': 2}})
    assert host.run('approve', host.run('approve').out.split()[-1]).code == 0
    assert 'VCPU' in contents(host)


@pytest.mark.parametrize(
    'words', [('approve',), ('approve', '--all'), ('sync', '--yes')]
)
def test_it_waits_with_the_others_and_one_answer_is_enough(host, words):
    host.others.set_inventories(ELSEWHERE, {'PCPU': {'total': 2}})
    waiting = host.run('sync')
    assert waiting.code == 1
    assert f'belongs to provider {ELSEWHERE} in placement' in waiting.out
    assert '"compute-agent approve" shows what waits' in waiting.out
    assert 'resource provider adopt' not in waiting.out
    listed = host.run('approve').out
    assert listed.startswith('1 change of 1 node waits for approval:\n')
    assert f'takes the uuid of cn1 ({ELSEWHERE})' in listed
    assert waiting.out.endswith(listed)
    assert host.run('plan').out == listed
    assert contents(host) == {'PCPU'}
    digest = listed.split()[-1:] if words == ('approve',) else []
    done = host.run(*words, *digest)
    assert done.code == 0, done.err
    assert f'cn1 ({ELSEWHERE}): done' in done.out
    assert there(host) == {'cn1'}
    assert 'VCPU' in contents(host)
    assert 'PCPU' not in contents(host)
    assert (host.state_path / 'compute_id').read_text().strip() == ELSEWHERE
    assert host.run('sync').out.endswith('done, nothing to do\n')
    shown = host.run('state', 'show', '-f', 'json').data
    assert {row['UUID'] for row in shown} == {ELSEWHERE}


def test_a_daemon_takes_it_back_in_the_cycle_of_the_approval(host, daemon):
    host.configure(compute_driver='libvirt', update_resources_interval=3600)
    one = daemon(host.config)
    one.wait_for('cycle: 0 done, 1 waiting')
    listed = host.run('approve').out
    assert listed in host.run('status').out
    done = host.run('approve', listed.split()[-1])
    assert (done.code, done.err) == (0, '')
    assert f'cn1 ({ELSEWHERE}): done' in done.out
    assert 'as approved by' in one.said
    assert '1 node: 1 done' in host.run('status').out


def test_the_option_for_first_writes_gives_no_host_another_uuid(host):
    """Two hosts of one name would take each other's provider."""
    agent = {'adopt_existing_roots': 'true'}
    host.configure(compute_driver='libvirt', agent=agent)
    host.others.set_inventories(ELSEWHERE, {'PCPU': {'total': 2}})
    assert host.run('sync').code == 1
    assert contents(host) == {'PCPU'}


def test_an_approval_is_of_that_provider_only(host):
    digest = host.run('approve').out.split()[-1]
    host.placement(f'/resource_providers/{ELSEWHERE}', 'DELETE')
    host.others.create(NIC, 'cn1')
    refused = host.run('approve', digest)
    assert refused.code == 1
    assert 'nothing was approved' in refused.line


@pytest.mark.long_except(every=2)
@pytest.mark.parametrize('written', [True, False])
def test_a_host_s_adoption_that_was_cut_off_leaves_no_node_behind(
    host, monkeypatch, written
):
    host.run('sync')
    adopt = compute_id.adopt

    def cut_off(*args):
        if written:
            adopt(*args)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(compute_id, 'adopt', cut_off)
        assert (
            host.run('resource', 'provider', 'adopt', 'cn1', '--yes').code != 0
        )
    if not written:
        assert (
            host.run('resource', 'provider', 'adopt', 'cn1', '--yes').code == 0
        )
    assert host.run('sync').code == 0
    shown = host.run('state', 'show', '-f', 'json').data
    assert {row['UUID'] for row in shown} == {ELSEWHERE}


def test_nova_s_file_is_replaced_where_it_lies(host):
    own = str(uuid.uuid4())
    (host.folder / 'compute_id').write_text(own)
    result = host.run('resource', 'provider', 'adopt', ELSEWHERE, '--yes')
    assert result.code == 0, result.err
    assert (host.folder / 'compute_id').read_text().strip() == ELSEWHERE
    assert (host.folder / f'compute_id.{own}.replaced').read_text() == own
    assert not (host.state_path / 'compute_id').exists()


def test_a_host_that_placement_has_under_its_own_uuid_is_left(host):
    host.run('plan')
    own = (host.state_path / 'compute_id').read_text().strip()
    host.others.create(own, 'cn1-of-old')
    result = host.run('resource', 'provider', 'adopt', 'cn1', '--yes')
    assert result.code == 1
    assert f'"compute-agent resource provider delete {own}"' in result.line
    assert (host.state_path / 'compute_id').read_text().strip() == own


def test_a_child_is_no_host(host):
    host.others.create(ROOT, 'rack')
    host.placement(
        f'/resource_providers/{ELSEWHERE}',
        'PUT',
        {'name': 'cn1', 'parent_provider_uuid': ROOT},
    )
    result = host.run('resource', 'provider', 'adopt', 'cn1', '--yes')
    assert result.code == 1
    assert f'is a child of {ROOT}' in result.line


def test_a_uuid_that_the_driver_says_is_not_in_a_file_to_change(cli):
    cli.others.create(ELSEWHERE, 'cn1')
    result = cli.run('resource', 'provider', 'adopt', 'cn1', '--yes')
    assert result.code == 1
    assert f'the driver gives the uuid of node cn1 ({ROOT})' in result.line
