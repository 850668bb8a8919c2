# SPDX-License-Identifier: Apache-2.0
"""Which files are read, which set stays in force, and what is logged."""

import logging
import os

import pytest

from compute_agent import errors
from compute_agent.ownership.record import Record
from compute_agent.provider_config import files
from compute_agent.tree import provider, provider_tree

NODE = '11111111-1111-4111-8111-111111111111'
OTHER = '22222222-2222-4222-8222-222222222222'


def text(identification='{uuid: $COMPUTE_NODE}', trait='CUSTOM_A', minor=0):
    return (
        f"meta: {{schema_version: '1.{minor}'}}\n"
        'providers:\n'
        f'  - identification: {identification}\n'
        f'    traits: {{additional: [{trait}]}}\n'
    )


class Folder:
    """A directory of files, and the agent's view of it.

    :ivar given: True if an operator named it
    """

    def __init__(self, path):
        self.path = path
        self.given = True
        self.files = files.ProviderConfigFiles(
            lambda: (str(self.path), self.given)
        )

    def write(self, name, *arguments, **how):
        (self.path / name).write_text(text(*arguments, **how))

    def merged(self, *nodes):
        """Merge the files for these nodes; return the traits by file."""
        said = {}
        for uuid, name in nodes or [(NODE, 'cn1')]:
            tree = provider_tree.ProviderTree.from_providers(
                [provider.Provider(uuid=uuid, name=name, generation=1)]
            )
            self.files.merge(tree, uuid, Record())
            for by_source in tree.assertions.values():
                said |= {s: set(one.names) for s, one in by_source.items()}
        return {source.rpartition('/')[2]: n for source, n in said.items()}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / 'provider_config'
    path.mkdir()
    return Folder(path)


@pytest.fixture
def unreadable(monkeypatch):
    """Refuse to list any directory: the tests may run as root."""

    def refuse(path):
        raise PermissionError(13, 'Permission denied', str(path))

    monkeypatch.setattr(os, 'listdir', refuse)


def test_every_yaml_file_is_read_in_the_order_of_their_names(folder):
    folder.write('b.yaml', trait='CUSTOM_B', identification='{name: cn1}')
    folder.write('a.yaml', f'{{uuid: {NODE}}}')
    for name in ('c.yml', 'd.yaml~', '.e.yaml', 'f.json'):
        (folder.path / name).write_text('not: [read')
    folder.files.begin()
    assert list(folder.merged().items()) == [
        ('a.yaml', {'CUSTOM_A'}),
        ('b.yaml', {'CUSTOM_B'}),
    ]


def test_a_relative_place_gives_sources_with_whole_paths(folder, monkeypatch):
    folder.write('a.yaml')
    monkeypatch.chdir(folder.path.parent)
    found, _ = files.read(folder.path.name, given=True)
    assert found.every_root.path == str(folder.path / 'a.yaml')


def test_they_are_read_once_until_asked_for_again(folder):
    folder.write('a.yaml')
    folder.files.begin()
    folder.write('a.yaml', trait='CUSTOM_B')
    folder.files.begin()
    assert folder.merged() == {'a.yaml': {'CUSTOM_A'}}
    folder.files.reload()
    folder.files.begin()
    assert folder.merged() == {'a.yaml': {'CUSTOM_B'}}


@pytest.mark.catches(
    'an invalid provider-config file discards the valid ones in force'
)
def test_a_mistake_is_raised_and_what_was_in_force_stays(folder):
    folder.write('a.yaml')
    folder.files.begin()
    folder.write('b.yaml', '{name: a}', trait='gold')
    with pytest.raises(errors.ConfigError, match=r'b\.yaml:4: .*gold'):
        folder.files.reload()
    assert folder.merged() == {'a.yaml': {'CUSTOM_A'}}


def test_a_mistake_at_the_beginning_is_raised_each_time(folder):
    folder.write('a.yaml', trait='gold')
    for _ in range(2):
        with pytest.raises(errors.ConfigError, match=r'a\.yaml:4'):
            folder.files.begin()


def test_the_same_provider_in_two_files_is_a_mistake(folder):
    folder.write('a.yaml')
    folder.write('b.yaml')
    with pytest.raises(errors.ConfigError, match=r'b\.yaml:3: .*a\.yaml:3'):
        folder.files.begin()


def test_a_missing_directory_is_no_files_unless_it_was_named(folder):
    folder.path = folder.path / 'none'
    folder.given = False
    folder.files.begin()
    assert folder.merged() == {}
    folder.given = True
    with pytest.raises(errors.ConfigError, match='does not exist; create'):
        folder.files.reload()


def test_a_file_in_place_of_the_directory_is_a_mistake(folder):
    folder.write('a.yaml')
    folder.path = folder.path / 'a.yaml'
    folder.given = False
    with pytest.raises(errors.ConfigError, match='is not a directory; write'):
        folder.files.begin()


def test_a_directory_among_the_files_is_a_mistake(folder):
    (folder.path / 'a.yaml').mkdir()
    with pytest.raises(errors.ConfigError, match='this is a directory'):
        folder.files.begin()


def test_a_link_is_a_mistake(folder):
    (folder.path / 'a.yaml').symlink_to('/dev/zero')
    with pytest.raises(errors.ConfigError, match='it is a symbolic link'):
        folder.files.begin()


def test_a_folder_that_others_may_write_is_not_read(folder):
    folder.write('a.yaml')
    folder.path.chmod(0o777)
    with pytest.raises(files.Unreadable, match='is not read: users other'):
        folder.files.begin()


@pytest.mark.parametrize('name', [b'a\nb.yaml', b'a\xff.yaml'])
def test_a_name_that_cannot_be_printed_is_a_mistake(folder, name):
    (folder.path / os.fsdecode(name)).write_text(text())
    with pytest.raises(errors.ConfigError, match='the file name') as e:
        folder.files.begin()
    assert '\n' not in str(e.value)


def test_a_named_directory_that_cannot_be_listed_is_a_mistake(
    folder, unreadable
):
    with pytest.raises(errors.ConfigError, match=r'\(Permission denied\); g'):
        folder.files.begin()


def test_another_that_cannot_be_listed_is_unknown_and_gives_up_nothing(
    folder, unreadable, caplog
):
    folder.given = False
    held = {(NODE, 'trait'): {'file:/a.yaml': frozenset({'CUSTOM_A'})}}
    for _ in range(2):
        folder.files.begin()
    tree = provider_tree.ProviderTree()
    tree.new_root('cn1', NODE)
    folder.files.merge(tree, NODE, Record(claims=held))
    folder.files.log_unmatched([NODE])
    assert not tree.assertions
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert 'none of its files is in force' in record.message
    assert folder.files.evidence(NODE) == []


def test_a_place_that_becomes_unreadable_leaves_its_files_in_force(
    folder, request
):
    folder.write('a.yaml')
    folder.files.begin()
    folder.given = False
    request.getfixturevalue('unreadable')
    with pytest.raises(files.Unreadable):
        folder.files.reload()
    assert folder.merged() == {'a.yaml': {'CUSTOM_A'}}


def test_what_is_left_out_of_account_is_said_at_each_reading(folder, caplog):
    folder.write('a.yaml', minor=7)
    folder.files.begin()
    (record,) = caplog.records
    assert 'a.yaml:1: schema version 1.7 is newer' in record.message


def test_the_word_for_each_node_is_no_name_but_a_uuid(folder, caplog):
    folder.write('a.yaml', '{name: $COMPUTE_NODE}')
    folder.files.begin()
    folder.merged()
    folder.files.log_unmatched([NODE])
    assert caplog.messages[0].endswith(
        'write $COMPUTE_NODE under uuid, not under name'
    )


def test_an_entry_of_no_provider_is_said_once_and_again_if_it_begins_again(
    folder, caplog
):
    folder.write('a.yaml', '{name: cn9}')
    folder.files.begin()
    for _ in range(3):
        folder.merged()
        folder.files.log_unmatched([NODE])
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert 'a.yaml:3: provider cn9 is in no tree of this agent; ' in (
        record.message
    )
    folder.merged((NODE, 'cn9'))
    folder.files.log_unmatched([NODE])
    folder.merged()
    folder.files.log_unmatched([NODE])
    assert len(caplog.records) == 2


def test_an_entry_of_another_node_is_no_trouble(folder, caplog):
    folder.write('a.yaml', '{name: cn2}')
    folder.files.begin()
    for _ in range(3):
        folder.merged((NODE, 'cn1'), (OTHER, 'cn2'))
        folder.files.log_unmatched([NODE, OTHER])
    assert not caplog.records


def test_nothing_is_said_while_a_node_was_not_seen_that_may_have_it(
    folder, caplog
):
    folder.write('a.yaml', '{name: cn2}')
    folder.files.begin()
    folder.merged((NODE, 'cn1'))
    folder.files.log_unmatched([NODE, OTHER])
    assert not caplog.records
    folder.files.log_unmatched([NODE])
    assert len(caplog.records) == 1


def test_the_line_behind_a_trait_is_told_for_the_nodes_that_have_it(folder):
    folder.write('a.yaml', '{name: cn2}')
    folder.files.begin()
    folder.merged((NODE, 'cn1'), (OTHER, 'cn2'))
    assert folder.files.evidence(NODE) == []
    (found,) = folder.files.evidence(OTHER)
    assert found.trait == 'CUSTOM_A'
    assert found.sources == (f'{folder.path}/a.yaml:4',)


def test_a_file_with_another_name_is_named_and_copies_are_not(folder, caplog):
    for name in ('a.yaml', 'b.yml', 'c.YAML', 'd.yaml.txt', 'e.yaml.bak'):
        folder.write(name, trait=f'CUSTOM_{name[0].upper()}')
    for name in ('f.yaml~', '.g.yml', 'README'):
        folder.write(name)
    folder.files.begin()
    assert folder.merged() == {'a.yaml': {'CUSTOM_A'}}
    assert [record.getMessage() for record in caplog.records] == [
        f'{folder.path}/{name} is not read, because its name does not end in '
        '.yaml; rename it if it should be in force'
        for name in ('b.yml', 'c.YAML', 'd.yaml.txt')
    ]
