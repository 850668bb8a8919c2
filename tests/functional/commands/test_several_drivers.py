# SPDX-License-Identifier: Apache-2.0
"""The commands of an agent with two drivers name the driver where it matters."""

import pytest

pytestmark = pytest.mark.long

NODE = '11111111-1111-4111-8111-111111111111'


@pytest.fixture
def two(cli):
    """An agent with the libvirt driver of this machine and a file's traits."""
    cli.fake_file.write_text(
        f'nodes: [{{name: cn1, uuid: {NODE}, traits: [CUSTOM_GOLD]}}]\n'
    )
    cli.state_path.mkdir(mode=0o700, exist_ok=True)
    (cli.state_path / 'compute_id').write_text(NODE)
    cli.configure(compute_driver='libvirt,fake')
    return cli


def test_a_cycle_writes_what_both_report(two):
    assert two.run('plan').code == 2
    assert two.run('sync').code == 0
    traits = two.others.traits(NODE)
    assert {'HW_CPU_X86_SSE2', 'CUSTOM_GOLD'} <= set(traits)
    rows = two.run('state', 'show', '-f', 'json').data
    claimed = {row['Name']: row['Claimed by'] for row in rows if row['Name']}
    assert claimed['HW_CPU_X86_SSE2'] == ['driver:libvirt']
    assert claimed['CUSTOM_GOLD'] == ['driver:fake']
    assert two.run('plan').code == 0


def test_a_driver_that_fails_is_named_and_the_command_fails(two):
    two.run('sync')
    # The node is called as the first driver calls it.
    two.fake_file.write_text(f'nodes: [{{name: cn2, uuid: {NODE}}}]\n')
    result = two.run('sync')
    assert result.code == 1
    assert 'failed: driver fake: ' in result.out
    assert 'the changes of the other drivers are made' in result.out


def test_explain_says_what_each_driver_knows(two):
    two.run('sync')
    told = two.run('explain', 'CUSTOM_GOLD').out
    assert 'claimed by driver:fake\n' in told
    assert f'  driver fake: present by cn1 [{two.fake_file}:1]\n' in told
    assert '  driver libvirt: it has no finding about this trait\n' in told
    (told,) = two.run('explain', 'CUSTOM_GOLD', '-f', 'json').data
    assert [found['driver'] for found in told['findings']] == ['driver fake']


def test_probe_shows_each_driver_or_one(two):
    told = two.run('probe')
    assert 'cn1 (driver libvirt)\n' in told.out
    assert 'cn1 (driver fake)\n' in told.out
    (node,) = two.run('probe', '--driver', 'fake', '-f', 'json').data
    assert node['driver'] == 'fake'
    assert [f['trait'] for f in node['findings']] == ['CUSTOM_GOLD']
    refused = two.run('probe', '--driver', 'rack')
    assert refused.code == 1
    assert "no driver 'rack'; it has libvirt, fake" in refused.line


def test_a_driver_that_leaves_the_option_takes_its_own_along(two):
    two.run('sync')
    two.configure(compute_driver='libvirt.LibvirtDriver', host='cn1')
    assert (
        'CUSTOM_GOLD (compute_driver does not name driver fake any more)'
        in two.run('plan').out
    )
    assert two.run('sync').code == 0
    traits = two.others.traits(NODE)
    assert 'CUSTOM_GOLD' not in traits
    rows = two.run('state', 'show', '-f', 'json').data
    claimed = {row['Name']: row['Claimed by'] for row in rows if row['Name']}
    assert claimed['HW_CPU_X86_SSE2'] == ['driver']


def test_a_record_of_two_drivers_is_handed_over(two, tmp_path):
    two.run('sync')
    record = tmp_path / 'record.json'
    record.write_text(two.run('state', 'export', 'cn1').out)
    two.configure(compute_driver='libvirt,fake', state_path=tmp_path / 'new')
    (tmp_path / 'new').mkdir(mode=0o700)
    (tmp_path / 'new' / 'compute_id').write_text(NODE)
    assert two.run('state', 'import', '--yes', str(record)).code == 0
    rows = two.run('state', 'show', '-f', 'json').data
    claimed = {row['Name']: row['Claimed by'] for row in rows if row['Name']}
    assert claimed['CUSTOM_GOLD'] == ['driver:fake']


@pytest.mark.parametrize(
    ('named', 'said'),
    [
        (
            'libvrit,fake',
            "no driver 'libvrit' is installed (did you mean 'libv",
        ),
        ('fake,fake', 'names the driver fake twice'),
        ('libvirt,libvirt.LibvirtDriver', 'names the driver libvirt twice'),
        (',', '[DEFAULT] compute_driver is empty'),
        ('fake,,libvirt', "no driver '' is installed"),
        ('', '[DEFAULT] compute_driver is empty'),
    ],
)
def test_a_list_of_drivers_that_cannot_be_is_one_line(cli, named, said):
    cli.configure(compute_driver=named)
    result = cli.run('plan')
    assert result.code == 1
    assert said in result.line


def test_the_drivers_libvirt_and_host_describe_this_machine_together(cli):
    rules = cli.state_path.parent / 'rules.d'
    rules.mkdir(mode=0o755)
    (rules / 'threads.yaml').write_text(
        'rules:\n'
        '  - name: any-thread\n'
        '    when: "cpu.threads > 0"\n'
        '    traits: [CUSTOM_HAS_A_THREAD]\n'
    )
    cli.configure(compute_driver='libvirt,host', host='cn1')
    with cli.config.open('a') as config:
        config.write(f'\n[rules]\ndirectory = {rules}\n')
    result = cli.run('sync')
    assert result.code == 0, result.err
    (root,) = cli.providers().values()
    traits = cli.others.traits(root)
    assert {'HW_CPU_X86_SSE2', 'CUSTOM_HAS_A_THREAD'} <= traits
    assert cli.run('plan').code == 0
