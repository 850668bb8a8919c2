# SPDX-License-Identifier: Apache-2.0
"""Seed 004: a program edits a tree, and the agent makes placement match."""

import pytest

from compute_agent import errors
from compute_agent.cycle.node.node_result import Status
from compute_agent.scheduler_report_client import SchedulerReportClient
from report_client import client as report_client

NODE = '11111111-1111-4111-8111-111111111111'
NAME = 'cn1'


@pytest.fixture
def client(cli):
    """The client, with the configuration of the command line."""
    with SchedulerReportClient([str(cli.config)]) as client:
        yield client


@pytest.fixture
def meanwhile(cli, monkeypatch):
    """Have another writer act once, just before the first write of a cycle."""

    def meanwhile(act):
        send = report_client.ReportClient.apply

        def apply(self, plan, without=()):
            monkeypatch.setattr(report_client.ReportClient, 'apply', send)
            act(cli)
            return self.apply(plan, without)

        monkeypatch.setattr(report_client.ReportClient, 'apply', apply)

    return meanwhile


def edited(client):
    tree = client.get_provider_tree(NODE, NAME)
    tree.update_inventory(NODE, inventory={'VCPU': {'total': 4}})
    tree.declare_traits(NODE, 'CUSTOM_GOLD')
    if not tree.exists('child'):
        tree.new_child('child', NODE)
    return tree


def traits_of(cli, uuid=NODE):
    found = cli.placement(f'/resource_providers/{uuid}/traits')['traits']
    return set(found) - {'COMPUTE_NODE', 'OWNER_NOVA'}


def add_trait(cli, trait):
    cli.placement(f'/traits/{trait}', 'PUT')
    path = f'/resource_providers/{NODE}/traits'
    now = cli.placement(path)
    cli.placement(path, 'PUT', {**now, 'traits': [*now['traits'], trait]})


def test_an_edited_tree_becomes_what_placement_holds(client, cli):
    result = client.update_from_provider_tree(edited(client))
    assert result.status is Status.DONE, result
    assert traits_of(cli) == {'CUSTOM_GOLD'}
    assert set(cli.providers()) == {NAME, 'child'}


def test_the_same_tree_once_more_writes_nothing(client, sent):
    tree = edited(client)
    client.update_from_provider_tree(tree)
    sent.clear()
    assert client.update_from_provider_tree(tree).applied == ()
    assert client.update_from_provider_tree(edited(client)).applied == ()
    assert {line.partition(' ')[0] for line in sent} == {'GET'}


def test_what_others_added_stays(client, cli):
    client.update_from_provider_tree(edited(client))
    add_trait(cli, 'CUSTOM_OPERATOR')
    tree = edited(client)
    tree.declare_traits(NODE, 'CUSTOM_SILVER')
    result = client.update_from_provider_tree(tree)
    assert result.status is Status.DONE, result
    assert traits_of(cli) == {'CUSTOM_SILVER', 'CUSTOM_OPERATOR'}


def test_an_outsiders_child_is_not_deleted(client, cli):
    client.update_from_provider_tree(edited(client))
    cli.placement(
        '/resource_providers',
        'POST',
        {'name': 'theirs', 'parent_provider_uuid': NODE},
    )
    tree = client.get_provider_tree(NODE, NAME)
    tree.remove('theirs')
    result = client.update_from_provider_tree(tree, confirmed=True)
    assert 'theirs' in cli.providers()
    assert result.status is Status.DONE, result
    assert 'because this agent did not create it' in ' '.join(result.notes)


def test_its_own_child_is_deleted(client, cli):
    client.update_from_provider_tree(edited(client))
    tree = client.get_provider_tree(NODE, NAME)
    tree.remove('child')
    result = client.update_from_provider_tree(tree, confirmed=True)
    assert result.status is Status.DONE, result
    assert set(cli.providers()) == {NAME}


def test_edits_are_repeated_after_a_conflict(client, cli, meanwhile):
    client.update_from_provider_tree(edited(client))
    meanwhile(lambda cli: add_trait(cli, 'CUSTOM_OPERATOR'))
    tree = client.get_provider_tree(NODE, NAME)
    tree.add_traits('child', 'CUSTOM_CHILD')
    tree.add_traits(NODE, *(t for t in ['CUSTOM_SILVER']))
    result = client.update_from_provider_tree(tree)
    assert result.status is Status.DONE, result
    assert result.conflicts
    assert traits_of(cli) == {
        'CUSTOM_GOLD',
        'CUSTOM_SILVER',
        'CUSTOM_OPERATOR',
    }


@pytest.mark.catches('a whole set removes what its editor has not seen')
@pytest.mark.parametrize('when', ['before', 'meanwhile'])
def test_a_whole_set_does_not_remove_what_its_editor_has_not_seen(
    client, cli, meanwhile, when
):
    client.update_from_provider_tree(edited(client))
    tree = client.get_provider_tree(NODE, NAME)
    tree.update_traits(NODE, traits=(t for t in ['CUSTOM_SILVER']))
    if when == 'before':
        add_trait(cli, 'CUSTOM_OPERATOR')
    else:
        meanwhile(lambda cli: add_trait(cli, 'CUSTOM_OPERATOR'))
    result = client.update_from_provider_tree(tree)
    assert result.status is Status.FAILED
    assert (
        'has CUSTOM_OPERATOR since its tree was read, and update_traits would '
        'remove that unseen: get the tree again, and edit that one'
    ) in result.reason
    assert 'CUSTOM_OPERATOR' in traits_of(cli)
    again = client.get_provider_tree(NODE, NAME)
    again.update_traits(NODE, ['CUSTOM_SILVER'])
    result = client.update_from_provider_tree(again)
    assert result.status is Status.DONE, result
    assert traits_of(cli) == {'CUSTOM_SILVER'}


def test_another_process_keeps_the_state_directory(client, cli):
    with (
        pytest.raises(errors.StateInUse),
        SchedulerReportClient([str(cli.config)]),
    ):
        pass
    assert 'uses the state directory' in cli.run('sync').line


SECOND = '22222222-2222-4222-8222-222222222222'
POOL = '33333333-3333-4333-8333-333333333333'
AGGREGATE = '44444444-4444-4444-8444-444444444444'


def test_one_client_takes_the_trees_of_several_nodes(cli, sent):
    """It needs no driver, and a pool is described beside each node."""
    cli.configure(compute_driver=None, host=None)
    with SchedulerReportClient([str(cli.config)]) as client:
        trees = [
            client.get_provider_tree(uuid, name)
            for uuid, name in ((NODE, NAME), (SECOND, 'cn2'))
        ]
        for tree in trees:
            tree.update_inventory(tree.node_uuid, {'VCPU': {'total': 4}})
            tree.declare_aggregates(tree.node_uuid, AGGREGATE)
            tree.new_root('pool', POOL)
            tree.declare_inventory(POOL, {'DISK_GB': {'total': 100}})
            tree.declare_traits(POOL, 'MISC_SHARES_VIA_AGGREGATE')
            tree.declare_aggregates(POOL, AGGREGATE)
            result = client.update_from_provider_tree(tree)
            assert result.status is Status.DONE, result
        assert set(cli.providers()) == {NAME, 'cn2', 'pool'}
        sent.clear()
        for tree in trees:
            assert client.update_from_provider_tree(tree).applied == ()
        assert {line.partition(' ')[0] for line in sent} == {'GET'}


def test_after_a_restart_it_knows_what_it_added(cli):
    for traits in (['CUSTOM_GOLD', 'CUSTOM_SILVER'], ['CUSTOM_GOLD']):
        with SchedulerReportClient([str(cli.config)]) as client:
            tree = client.get_provider_tree(NODE, NAME)
            tree.declare_traits(NODE, *traits)
            result = client.update_from_provider_tree(tree)
            assert result.status is Status.DONE, result
    assert traits_of(cli) == {'CUSTOM_GOLD'}
