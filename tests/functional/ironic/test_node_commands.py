# SPDX-License-Identifier: Apache-2.0
"""node stage and unstage: what is asked of the driver, and what is printed."""

import dataclasses
import getpass

import pytest
import yaml

from compute_agent import errors
from compute_agent.cmd.app import configuration
from compute_agent.state import state
from compute_agent.virt import drivers
from compute_agent.virt.values import requested

UUID = '1be26c0b-03f2-4d2e-ae87-c02d7f33c123'
INSTANCE = '0f0b2a3e-9d54-4a0e-8c58-0d3f6f3f2c11'
STAGE = ('node', 'stage', 'node1', '--property', 'trait:CUSTOM_A=required')
DATA = {
    'node': UUID,
    'name': 'node1',
    'summary': 'staged',
    'changed': True,
    'dry_run': False,
    'traits': ['CUSTOM_A'],
    'placement_only': ['COMPUTE_NODE'],
    'capabilities': {'boot_mode': 'uefi'},
    'kept': ['CUSTOM_B'],
    'ignored': ['hw:x=ä'],
    'notes': ['a note'],
}


class FakeDriver:
    """Remembers what it was asked; says the same to all."""

    def __init__(self) -> None:
        self.asked = []
        self.refusal = None
        self.staging = requested.Staging(
            service='Ironic',
            uuid=UUID,
            name='node1',
            summary='staged',
            changed=True,
            traits=('CUSTOM_A',),
            placement_only=('COMPUTE_NODE',),
            capabilities=(('boot_mode', 'uefi'),),
            kept=('CUSTOM_B',),
            ignored=('hw:x=ä',),
            notes=('a note',),
        )

    def stage(
        self, node, wanted, instance_uuid=None, *, elsewhere=(), dry_run=False
    ):
        self.elsewhere = elsewhere
        self.asked.append(('stage', node, wanted, instance_uuid, dry_run))
        return self._answer()

    def unstage(self, node, instance_uuid=None, *, dry_run=False):
        self.asked.append(('unstage', node, instance_uuid, dry_run))
        return self._answer()

    def _answer(self):
        if self.refusal is not None:
            raise self.refusal
        return self.staging


@pytest.fixture
def driver(monkeypatch):
    """The configured driver, whatever the configuration names."""
    fake = FakeDriver()
    monkeypatch.setattr(
        configuration, 'load_drivers', lambda _: drivers.Drivers.only(fake)
    )
    return fake


@pytest.fixture
def run(cli):
    """Run a command; no placement is configured."""
    cli.configure({'auth_type': None, 'endpoint': None, 'token': None})
    return cli.run


def test_the_request_reaches_the_driver(run, driver):
    shown = run(
        *STAGE,
        '--property',
        'trait1:CUSTOM_N=forbidden',
        '--property',
        'capabilities:boot_mode=uefi',
        '--property',
        'resources:CUSTOM_GOLD=1',
        '--image-property',
        'traits_required=CUSTOM_B,CUSTOM_C',
        '--image-property',
        'os_type=linux',
        '--instance',
        INSTANCE,
    )
    assert shown.code == 0
    ((_, name, wanted, instance, dry_run),) = driver.asked
    assert (name, instance, dry_run) == ('node1', INSTANCE, False)
    assert wanted.required == ('CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C')
    assert wanted.forbidden == ('CUSTOM_N',)
    assert wanted.capabilities == (('boot_mode', 'uefi'),)
    assert [str(other) for other in wanted.others] == [
        'resources:CUSTOM_GOLD=1',
        'image property os_type=linux',
    ]


def test_the_traits_of_provider_config_files_count_as_the_node_s(cli, driver):
    cli.provider_configs.joinpath('a.yaml').write_text(
        'meta: {schema_version: "1.0"}\n'
        'providers:\n'
        '  - identification: {uuid: $COMPUTE_NODE}\n'
        '    traits: {additional: [CUSTOM_OF_A_FILE]}\n'
    )
    assert cli.run(*STAGE).code == 0
    assert driver.elsewhere == {'CUSTOM_OF_A_FILE'}


def test_what_was_done_is_told(run, driver):
    shown = run(*STAGE)
    assert shown.out.splitlines() == [
        f'node1 ({UUID}): staged',
        '  traits: CUSTOM_A',
        '  capabilities: boot_mode=uefi',
        '  requested by others: CUSTOM_B',
        '  checked by placement only: COMPUTE_NODE',
        '  not for Ironic: hw:x=ä',
        '  a note',
    ]
    assert shown.err == ''


def test_a_dry_run_says_that_it_was_one(run, driver):
    shown = run(*STAGE, '--dry-run')
    assert driver.asked[0][-1] is True
    assert shown.out.splitlines()[:2] == [
        'a dry run, nothing was sent; it would be:',
        f'node1 ({UUID}): staged',
    ]
    data = run(*STAGE, '--dry-run', '-f', 'json').data
    assert data == {**DATA, 'dry_run': True}


def test_what_was_done_is_data_too(run, driver):
    assert run(*STAGE, '-f', 'json').data == DATA
    assert yaml.safe_load(run(*STAGE, '-f', 'yaml').out) == DATA


def test_unstage_asks_the_driver_and_tells(run, driver):
    driver.staging = dataclasses.replace(driver.staging, summary='taken back')
    shown = run('node', 'unstage', 'node1', '--instance', INSTANCE)
    assert shown.code == 0
    assert shown.out.startswith(f'node1 ({UUID}): taken back\n')
    data = run('node', 'unstage', UUID, '--dry-run', '-f', 'json').data
    assert data == {**DATA, 'summary': 'taken back', 'dry_run': True}
    assert driver.asked == [
        ('unstage', 'node1', INSTANCE, False),
        ('unstage', UUID, None, True),
    ]


def test_the_history_has_what_was_written_to_ironic(cli, run, driver):
    state.State.open(cli.state_path, 'here').close()
    run(*STAGE)
    run(*STAGE, '--dry-run')
    driver.staging = dataclasses.replace(
        driver.staging, changed=False, summary='nothing was staged'
    )
    run('node', 'unstage', 'node1')
    driver.staging = requested.Staging(
        service='Ironic',
        uuid=UUID,
        name='node1',
        summary='taken back',
        changed=True,
    )
    run('node', 'unstage', 'node1')
    me = getpass.getuser()
    found = cli.run('history', 'node1', '-f', 'json').data
    assert [(r['Who'], r['Provider'], r['What'], r['Why']) for r in found] == [
        (
            f'node stage by {me}',
            'node1',
            'node staged',
            (
                'staged; traits: CUSTOM_A; capabilities: boot_mode=uefi; '
                'requested by others: CUSTOM_B; checked by placement only: '
                'COMPUTE_NODE; not for Ironic: hw:x=ä; a note'
            ),
        ),
        (f'node unstage by {me}', 'node1', 'node unstaged', 'taken back'),
    ]


@pytest.mark.parametrize(
    ('words', 'kind'),
    [(STAGE, 'node staged'), (('node', 'unstage', 'node1'), 'node unstaged')],
)
def test_the_history_has_a_change_whose_answer_was_lost(
    cli, run, driver, words, kind
):
    state.State.open(cli.state_path, 'here').close()
    driver.refusal = errors.Unavailable('Ironic does not answer')
    assert run(*words).code == 1
    driver.refusal = requested.Unconfirmed(
        'the answer is lost', driver.staging
    )
    lost = run(*words)
    assert (lost.code, lost.line) == (1, 'compute-agent: the answer is lost')
    (told,) = cli.run('history', 'node1', '-f', 'json').data
    assert (told['What'], told['Result']) == (kind, 'unconfirmed')
    assert told['Why'].startswith('staged; traits: CUSTOM_A')


def test_the_history_counts_the_names_of_a_long_list(cli, run, driver):
    state.State.open(cli.state_path, 'here').close()
    traits = tuple(f'CUSTOM_TRAIT_{n}' for n in range(100, 200))
    driver.staging = dataclasses.replace(
        driver.staging, traits=traits, kept=()
    )
    assert run(*STAGE).code == 0
    (told,) = cli.run('history', 'node1', '-f', 'json').data
    shown, _, after = told['Why'].partition(', … and ')
    kept = shown.removeprefix('staged; traits: ').split(', ')
    assert kept == list(traits[: len(kept)])
    assert len(kept) > 3
    assert after == (
        f'{100 - len(kept)} more; capabilities: boot_mode=uefi; '
        'checked by placement only: COMPUTE_NODE; not for Ironic: hw:x=ä; '
        'a note'
    )


@pytest.mark.parametrize(
    ('words', 'said'),
    [
        ((), 'the request is empty: add --property trait:NAME=required'),
        (('--property', 'trait:X'), "--property 'trait:X': write KEY=VALUE"),
        (
            ('--image-property', 'traits_required'),
            "--image-property 'traits_required': write KEY=VALUE",
        ),
        (
            ('--property', 'traits:X=required'),
            'traits:X: did you mean trait:X?',
        ),
        (
            ('--property', 'trait:X=yes'),
            'trait:X=yes: write required or forbidden after the "="',
        ),
        (
            ('--property', 'trait:x=required'),
            "trait 'x' is not a name placement takes",
        ),
    ],
)
def test_a_mistake_in_the_request_is_one_line(run, driver, words, said):
    result = run('node', 'stage', 'node1', *words)
    assert result.code == 1
    assert result.line.startswith(f'compute-agent: {said}')
    assert driver.asked == []


@pytest.mark.parametrize('words', [STAGE, ('node', 'unstage', 'node1')])
def test_what_the_driver_refuses_is_one_line(run, driver, words):
    driver.refusal = errors.Refused('node node1 is not available: it rests')
    result = run(*words)
    assert result.code == 1
    assert result.out == ''
    assert result.line == (
        'compute-agent: node node1 is not available: it rests'
    )


@pytest.mark.parametrize('words', [STAGE, ('node', 'unstage', 'node1')])
def test_a_driver_without_this_is_said(run, words):
    result = run(*words)
    assert result.code == 1
    assert result.line == (
        'compute-agent: driver fake cannot stage requested traits on its nodes; '
        '[DEFAULT] compute_driver = ironic can'
    )


@pytest.mark.parametrize('command', ['stage', 'unstage'])
def test_without_a_node_it_is_a_usage_error(run, command):
    result = run('node', command)
    assert result.code == 1
    assert 'required: node' in result.err


# --- a flavor -----------------------------------------------------------------


@pytest.fixture
def flavor(tmp_path):
    """A flavor as "openstack flavor show -f yaml" prints it."""
    file = tmp_path / 'gold.yaml'
    properties = {
        'trait:CUSTOM_A': 'required',
        'trait:CUSTOM_N': 'forbidden',
        'capabilities:boot_mode': 'uefi',
        'resources:CUSTOM_GOLD': '1',
    }
    written = {'name': 'gold', 'vcpus': 8, 'properties': properties}
    file.write_text(yaml.safe_dump(written))
    return str(file)


def test_what_a_flavor_asks_for_reaches_the_driver(run, driver, flavor):
    assert run('node', 'stage', 'node1', '--flavor', flavor).code == 0
    ((_, name, wanted, _, _),) = driver.asked
    assert name == 'node1'
    assert wanted.required == ('CUSTOM_A',)
    assert wanted.forbidden == ('CUSTOM_N',)
    assert wanted.capabilities == (('boot_mode', 'uefi'),)
    assert [str(other) for other in wanted.others] == [
        'resources:CUSTOM_GOLD=1'
    ]


def test_a_property_replaces_that_of_the_flavor(run, driver, flavor):
    words = ('--property', 'capabilities:boot_mode=bios')
    assert run('node', 'stage', 'node1', '--flavor', flavor, *words).code == 0
    ((_, _, wanted, _, _),) = driver.asked
    assert wanted.capabilities == (('boot_mode', 'bios'),)
    assert wanted.required == ('CUSTOM_A',)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('{vcpus: 8}', 'it asks for no trait and no capability'),
        ('{properties: {"trait:CUSTOM_A": wanted}}', 'write required or forb'),
        (
            '{extra_specs: {"traits:CUSTOM_A": required}}',
            'did you mean trait:',
        ),
        (None, 'the file does not exist; "openstack flavor show NAME'),
    ],
)
def test_a_flavor_with_nothing_to_stage_is_one_line(
    run, driver, tmp_path, text, said
):
    file = tmp_path / 'other.yaml'
    if text is not None:
        file.write_text(text)
    result = run('node', 'stage', 'node1', '--flavor', str(file))
    assert (result.code, result.out) == (1, '')
    assert str(file) in result.line
    assert said in result.line
    assert driver.asked == []
