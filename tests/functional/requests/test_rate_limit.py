# SPDX-License-Identifier: Apache-2.0
"""No more requests a second than the agent is allowed, all workers together."""

import collections
import signal
import threading
import types

import agents
import command_line
import pytest
import requests

from compute_agent import errors
from compute_agent.cmd.app import configuration, main
from compute_agent.cmd.wiring import placement
from compute_agent.cycle import resource_tracker
from compute_agent.transport import rate_limit
from report_client import errors as placement_errors

NODES = {f'11111111-1111-4111-8111-{n:012}': f'node-{n}' for n in range(1, 13)}
Status = resource_tracker.Status
WAITS = 's (max_requests_per_second)'


def describe(tree, nodename):
    tree.update_inventory(nodename, {'VCPU': {'total': 8}})
    tree.update_traits(nodename, ['CUSTOM_GOLD'])


class Turns:
    """Waits that take no time: whoever waits has had its turn.

    The clock stands still, so a turn is the seconds that were waited.

    :ivar seen: the turns that had to be waited for
    :ivar last: how many there may be, before the program ends; None is all
    """

    def __init__(self, last=None) -> None:
        self.seen = []
        self.last = last
        self._lock = threading.Lock()

    def wait(self, seconds) -> bool:
        with self._lock:
            if self.last is not None and len(self.seen) >= self.last:
                return True
            self.seen.append(seconds)
            return False


@pytest.fixture
def paced(placement):
    """Agents on the real placement, each with a budget."""
    made = []

    def paced(rate, turns, **how):
        session = requests.Session()
        session.trust_env = False
        budget = rate_limit.RateLimit(lambda: rate, lambda: 1000.0)
        inner = placement.session.get_adapter(placement.url)
        session.mount(
            placement.url,
            rate_limit.ThrottledAdapter(inner, budget, turns.wait),
        )
        service = types.SimpleNamespace(url=placement.url, session=session)
        made.append(agents.AgentFactory(service))
        return made[-1](describe, nodes=NODES, **how)

    yield paced
    for factory in made:
        factory.close()


@pytest.mark.parametrize('workers', [1, 8])
def test_no_second_has_more_requests_than_the_rate(paced, placement, workers):
    turns = Turns()
    paced(5, turns, workers=workers).done()
    sent = len(placement.requests)
    assert sent > 3 * len(NODES)
    assert sorted(turns.seen) == pytest.approx(
        [(n + 1) / 5 for n in range(sent - 5)]
    )
    seconds = collections.Counter(int(turn + 1e-6) for turn in turns.seen)
    assert max(seconds.values()) == 5


def test_long_waits_are_said_once_for_all_of_them(paced, caplog):
    paced(0.1, Turns(), workers=1).done()
    said = [r for r in caplog.records if 'max_requests_per_second is' in r.msg]
    assert len(said) == 1
    assert said[0].levelname == 'WARNING'


def test_short_waits_are_no_news(paced, caplog):
    paced(5, Turns(), workers=1).done()
    assert not [r for r in caplog.records if r.levelname == 'WARNING']


def test_without_a_limit_nothing_waits(paced, placement):
    turns = Turns()
    paced(0, turns, workers=8).done()
    assert placement.requests
    assert turns.seen == []


@pytest.mark.long_except(every=5)
@pytest.mark.parametrize('turn', range(0, 39, 3))
def test_the_end_sends_nothing_more_and_the_next_start_goes_on(
    paced, placement, operator, tmp_path, turn
):
    cut = paced(1, Turns(last=turn), workers=4, state=tmp_path)
    try:
        results = cut.sync()
    except errors.Unavailable:
        results = []
    assert not any(r.status is Status.FAILED and not r.outage for r in results)
    assert len(placement.requests) == turn + 1
    cut.state.close()
    paced(0, Turns(), state=tmp_path).done()
    for uuid in NODES:
        assert operator.traits(uuid) >= {'COMPUTE_NODE', 'CUSTOM_GOLD'}
        assert operator.inventories(uuid)['VCPU']['total'] == 8
    placement.clear()
    paced(0, Turns(), state=tmp_path).done()
    assert placement.writes == []


def configured(tmp_path, url, *more):
    file = tmp_path / 'agent.conf'
    lines = [
        '[compute_agent]',
        'max_requests_per_second = 0.01',
        '[placement]',
        'auth_type = admin_token',
        'token = admin',
        f'endpoint = {url}',
        *more,
    ]
    file.write_text('\n'.join(lines))
    return configuration.load(
        main.GlobalOptions(
            config_files=[str(file)], config_dirs=[], debug=False
        )
    )


def test_connections_are_within_the_configured_budget(
    placement_server, tmp_path
):
    turns = Turns()
    conf = configured(tmp_path, placement_server.url)
    service = placement.placement_service(conf, turns.wait)
    for _ in range(4):
        assert service.get('/resource_providers') == {'resource_providers': []}
    assert [round(turn / 100) for turn in turns.seen] == [1, 2, 3]


def test_what_keystoneauth_repeats_is_counted(tmp_path, unused_port):
    turns = Turns()
    conf = configured(
        tmp_path,
        f'http://127.0.0.1:{unused_port}',
        'connect_retries = 3',
        'connect_retry_delay = 0.001',
    )
    service = placement.placement_service(conf, turns.wait)
    with pytest.raises(placement_errors.Unreachable):
        service.get('/resource_providers')
    assert len(turns.seen) == 3


def test_another_limit_is_taken_over(placement_server, tmp_path):
    turns = Turns()
    conf = configured(tmp_path, placement_server.url)
    service = placement.placement_service(conf, turns.wait)
    service.get('/resource_providers')
    conf.set_override('max_requests_per_second', 0.0, 'compute_agent')
    for _ in range(4):
        service.get('/resource_providers')
    assert turns.seen == []


def test_the_daemon_ends_though_a_request_waits_for_its_turn(cli, daemon):
    cli.configure(agent={'max_requests_per_second': 0.01}, debug=True)
    one = daemon(cli.config, program=command_line.PATIENT)
    one.wait_for(WAITS)
    assert one.end() == 0, one.said
    assert 'in the middle' not in one.said
    assert 'ERROR' not in one.said
    assert 'Traceback' not in one.said


@pytest.mark.long
def test_a_new_limit_counts_from_the_reload_on(cli, daemon):
    cli.configure(agent={'max_requests_per_second': 1000}, debug=True)
    one = daemon(cli.config)
    one.wait_for('cycle: 1 done')
    assert WAITS not in one.said
    cli.configure(agent={'max_requests_per_second': 0.01}, debug=True)
    (cli.provider_configs / 'a.yaml').write_text(
        "meta: {schema_version: '1.0'}\n"
        'providers:\n'
        '  - identification: {uuid: $COMPUTE_NODE}\n'
        '    traits: {additional: [CUSTOM_A]}\n'
    )
    one.process.send_signal(signal.SIGHUP)
    one.wait_for(WAITS)
    assert one.end() == 0


@pytest.mark.long
def test_ctrl_c_ends_sync_though_its_workers_wait_for_their_turn(cli, daemon):
    def nodes(total):
        lines = [
            f'  - {{name: {name}, uuid: {uuid}, '
            f'inventories: {{VCPU: {total}}}}}\n'
            for uuid, name in NODES.items()
        ]
        return f'nodes:\n{"".join(lines)}'

    paths = [f'/resource_providers/{uuid}/inventories' for uuid in NODES]
    cli.fake_file.write_text(nodes(8))
    assert cli.run('sync').code == 0
    before = [cli.placement(path) for path in paths]
    cli.fake_file.write_text(nodes(9))
    cli.configure(agent={'max_requests_per_second': 0.01})
    one = daemon(cli.config, '--debug', command='sync')
    one.wait_for(WAITS, times=3)  # 100 s, 200 s and 300 s
    assert one.end(signal.SIGINT) == 130, one.said
    assert [cli.placement(path) for path in paths] == before
