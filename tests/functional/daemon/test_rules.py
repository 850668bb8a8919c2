# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: the rules of all files come into force as a whole, or none of them."""

import signal

import command_line
import pytest

ROOT = '11111111-1111-4111-8111-111111111111'
STAYS = ' not reloaded, the earlier version stays in force: '
CHILD = 'cn1_site'


def rule(name, *lines):
    return '\n  '.join((f'- name: {name}', *lines))


ONE = rule('one', 'traits: [CUSTOM_SITE_ONE]')
TWO = rule('two', "when: kernel.release != ''", 'traits: [CUSTOM_SITE_TWO]')
POOL = rule('pool', "child: '{node}_site'", 'inventory: {CUSTOM_SEAT: 4}')


class Site:
    """A daemon with the drivers fake and host, and the rules of a folder."""

    def __init__(self, cli, daemon):
        self.cli = cli
        self.folder = cli.folder / 'rules.d'
        self.folder.mkdir()
        cli.state_path.mkdir(mode=0o700)
        (cli.state_path / 'compute_id').write_text(ROOT)
        cli.configure(
            compute_driver='fake,host',
            update_resources_interval=3600,
            debug=True,
        )
        with cli.config.open('a') as file:
            file.write(f'\n[rules]\ndirectory = {self.folder}\n')
        self.write('a.yaml', ONE)
        self.cycles = 1
        self.daemon = daemon(cli.config, program=command_line.PATIENT)
        self.daemon.wait_for('cycle: 1 done')

    def write(self, name, *rules):
        (self.folder / name).write_text('\n'.join(('rules:', *rules)) + '\n')

    def hang_up(self):
        """Send SIGHUP; return the lines about files that were refused."""
        before = len(self.refused())
        self.daemon.process.send_signal(signal.SIGHUP)
        self.cycles += 1
        self.daemon.wait_for('cycle: ', times=self.cycles)
        return self.refused()[before:]

    def refused(self):
        return [t for t in self.daemon.said.splitlines() if STAYS in t]

    def held(self):
        """Return what placement has of the rules: root's traits, children."""
        found = self.cli.placement(f'/resource_providers/{ROOT}/traits')
        tree = self.cli.placement(f'/resource_providers?in_tree={ROOT}')
        return (
            {t for t in found['traits'] if t.startswith('CUSTOM_SITE_')},
            {one['name'] for one in tree['resource_providers']} - {'cn1'},
        )


@pytest.fixture
def site(cli, daemon):
    made = Site(cli, daemon)
    assert made.held() == ({'CUSTOM_SITE_ONE'}, set())
    return made


def test_changed_rules_come_into_force_on_sighup_and_all_at_once(site):
    site.write('a.yaml', TWO)
    site.write('b.yaml', POOL)
    assert site.held() == ({'CUSTOM_SITE_ONE'}, set())
    assert site.hang_up() == []
    assert site.held() == ({'CUSTOM_SITE_TWO'}, {CHILD})
    (site.folder / 'b.yaml').unlink()
    assert site.hang_up() == []
    assert site.held() == ({'CUSTOM_SITE_TWO'}, set())
    assert site.daemon.end() == 0, site.daemon.said


@pytest.mark.long
def test_with_a_mistake_in_one_file_the_last_good_set_stays(site):
    bad = rule('bad', 'when: kernel.releaze', 'traits: [CUSTOM_SITE_BAD]')
    site.write('a.yaml', TWO, POOL)
    site.write('b.yaml', bad)
    (line,) = site.hang_up()
    assert ' ERROR ' in line
    assert line.endswith(
        f'{site.folder}/b.yaml:3:9: rule bad: there is no fact kernel.releaze: '
        'did you mean kernel.release?'
    )
    assert site.held() == ({'CUSTOM_SITE_ONE'}, set())
    # Nor does a file that must not be trusted take the others along.
    site.write('b.yaml', ONE)
    (site.folder / 'b.yaml').chmod(0o666)
    (line,) = site.hang_up()
    assert f'{site.folder}/b.yaml is left out: users other than its' in line
    assert site.held() == ({'CUSTOM_SITE_ONE'}, set())
    (site.folder / 'b.yaml').unlink()
    assert site.hang_up() == []
    assert site.held() == ({'CUSTOM_SITE_TWO'}, {CHILD})
    assert 'Traceback' not in site.daemon.said
