# SPDX-License-Identifier: Apache-2.0
"""The root that nova-compute made is found by its file, or by its name."""

import types

import pytest

from compute_agent import errors, file_trust
from compute_agent.identity import compute_id, nova_root

FIRST = 'aaaaaaaa-1111-4111-8111-111111111111'
SECOND = 'bbbbbbbb-1111-4111-8111-111111111111'


class Found:
    """A placement with one provider, and what was asked of it."""

    def __init__(self, uuid=FIRST, parent=None):
        self.uuid, self.parent, self.asked = uuid, parent, 0
        self.there = {FIRST}

    def by_name(self, name):
        self.asked += 1
        return [
            types.SimpleNamespace(
                name=name, uuid=self.uuid, parent_uuid=self.parent
            )
        ]

    def root(self, file=nova_root.HostFile()):  # noqa: B008 (a frozen value)
        return nova_root.NovaRoot(
            lambda: file, self.by_name, self.there.__contains__
        )


def wrong(*, is_own):
    return nova_root.HostFile(uuid=SECOND, path='/x/compute_id', is_own=is_own)


def test_the_file_of_nova_is_enough():
    found = Found()
    root = found.root(nova_root.HostFile(uuid=FIRST, path='/x/compute_id'))
    assert root.uuid('cn1') == FIRST
    assert found.asked == 0


def test_a_file_of_the_agent_itself_does_not_hide_the_root(caplog):
    root = Found().root(wrong(is_own=True))
    assert [root.uuid('cn1') for _ in range(2)] == [FIRST] * 2
    (line,) = caplog.messages
    for word in (FIRST, SECOND, '/x/compute_id', 'remove the file'):
        assert word in line


def test_a_file_of_nova_that_differs_from_placement_is_named():
    with pytest.raises(errors.UnknownState) as caught:
        Found().root(wrong(is_own=False)).uuid('cn1')
    for word in (FIRST, SECOND, '/x/compute_id'):
        assert word in str(caught.value)


def test_a_file_whose_root_is_nowhere_counts():
    found = Found(parent=SECOND)  # a child of that name
    assert found.root(wrong(is_own=False)).uuid('cn1') == SECOND


def test_a_file_is_the_agent_s_own_if_nova_has_no_copy(tmp_path):
    own, nova = tmp_path / 'own', tmp_path / 'nova'
    for directory in (own, nova):
        directory.mkdir()
    (own / 'compute_id').write_text(FIRST)
    assert nova_root.host_file([own, nova]).is_own
    (nova / 'compute_id').write_text(FIRST)
    assert not nova_root.host_file([own, nova]).is_own


@pytest.mark.parametrize('text', [SECOND, 'cn1', ''])
@pytest.mark.catches(
    'a compute_id of the agent itself blocks a companion', case=SECOND
)
def test_a_file_of_an_earlier_owner_does_not_matter(tmp_path, caplog, text):
    """The agent wrote it when it had no mode; nova's own file counts."""
    own, nova = tmp_path / 'own', tmp_path / 'nova'
    for directory in (own, nova):
        directory.mkdir()
    (own / 'compute_id').write_text(text)
    (nova / 'compute_id').write_text(FIRST)
    file = nova_root.host_file([own, nova])
    assert (file.uuid, file.path) == (FIRST, f'{nova}/compute_id')
    root = Found().root(file)
    assert [root.uuid('cn1') for _ in range(2)] == [FIRST] * 2
    (line,) = caplog.messages
    assert line.startswith(f'{own}/compute_id ')
    assert line.endswith('does not count: remove the file')


def test_a_file_that_may_not_be_read_is_not_known(
    tmp_path, monkeypatch, caplog
):
    (tmp_path / 'compute_id').write_text(SECOND)

    def refuse(path, *_how, **_more):
        raise PermissionError(13, 'Permission denied', str(path))

    monkeypatch.setattr(file_trust, 'read', refuse)
    file = nova_root.host_file([tmp_path])
    assert file.uuid == ''
    root = Found().root(file)
    assert [root.uuid('cn1') for _ in range(2)] == [FIRST] * 2
    (line,) = caplog.messages
    assert f'{tmp_path}/compute_id cannot be read' in line
    with pytest.raises(errors.ConfigError):  # an owner needs it
        compute_id.host_uuid(tmp_path)


def test_a_file_with_something_else_stays_an_error(tmp_path):
    (tmp_path / 'compute_id').write_text('cn1')
    with pytest.raises(errors.ConfigError):
        nova_root.host_file([tmp_path])


def test_placement_is_asked_once_while_it_has_the_root():
    found = Found()
    root = found.root()
    assert [root.uuid('cn1') for _ in range(3)] == [FIRST] * 3
    assert found.asked == 1


def test_a_root_that_was_deleted_is_looked_for_again():
    found = Found()
    root = found.root()
    root.uuid('cn1')
    found.there.clear()
    found.uuid = SECOND
    assert root.uuid('cn1') == SECOND


def test_a_child_of_that_name_is_no_root():
    with pytest.raises(errors.NotYet) as caught:
        Found(parent=SECOND).root().uuid('cn1')
    assert 'nova-compute creates it' in str(caught.value)
