# SPDX-License-Identifier: Apache-2.0
"""Reports of one nova driver by nova and by the agent, as one line of JSON.

It runs in nova's environment: ``both.py FILE TARGET…``. The JSON in FILE says
where placement is, and which configuration files count. For each target, nova's
resource tracker and report client report the driver's nodes; then placement is
made as it was before, and the agent reports them. Both are nova's and the
agent's own code, unchanged; only nova's database is not there.
"""

import contextlib
import io
import json
import pathlib
import sys
import typing
from collections.abc import Iterator

import requests

from compute_agent.cmd.app import main
from drivers.nova import process, target

HEADERS = {
    'X-Auth-Token': 'admin',
    'X-Roles': 'admin,service',
    'OpenStack-API-Version': 'placement 1.39',
}
PATIENCE = 60  # seconds
_AGENT = """\
[DEFAULT]
compute_driver = nova:{target}
[compute_agent]
state_path = {folder}/state
max_removed_percent = 100
mark_nodes = false
"""


class Placement:
    """A placement as its operator sees it."""

    def __init__(self, url: str) -> None:
        self._url = url

    def ask(self, method: str, path: str, body: object = None) -> typing.Any:
        """Return the decoded answer."""
        answer = requests.request(
            method,
            self._url + path,
            json=body,
            headers=HEADERS,
            timeout=PATIENCE,
        )
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def report(self) -> dict[str, typing.Any]:
        """Return provider name → all that placement has of it."""
        listed = self.ask('GET', '/resource_providers')['resource_providers']
        names = {one['uuid']: one['name'] for one in listed}
        return {
            one['name']: {
                'uuid': one['uuid'],
                'parent': names.get(one['parent_provider_uuid'], ''),
                **{
                    kind: self._of(one['uuid'], kind)
                    for kind in ('inventories', 'traits', 'aggregates')
                },
                'allocations': self._of(one['uuid'], 'allocations'),
            }
            for one in listed
        }

    def begin(self, requests_: list[list[typing.Any]]) -> None:
        """Delete all providers and consumers, and send these requests."""
        left = self.report()
        for consumer in {
            c for one in left.values() for c in one['allocations']
        }:
            self.ask('DELETE', f'/allocations/{consumer}')
        while left:
            parents = {one['parent'] for one in left.values()}
            for name in left.keys() - parents:
                uuid = left.pop(name)['uuid']
                self.ask('DELETE', f'/resource_providers/{uuid}')
        for method, path, body in requests_:
            self.ask(method, path, body)

    def _of(self, uuid: str, kind: str) -> typing.Any:
        found = self.ask('GET', f'/resource_providers/{uuid}/{kind}')[kind]
        if kind == 'allocations':
            return {key: one['resources'] for key, one in found.items()}
        return sorted(found) if isinstance(found, list) else found


class NoDatabase:
    """Answers of a nova whose database has this host's instances only."""

    def __init__(self, objects: typing.Any, instances: list[str]) -> None:
        self._answers = {
            'ServiceList': objects.ServiceList(objects=[]),
            'InstanceList': instances,
            'PciDeviceList': objects.PciDeviceList(objects=[]),
        }

    def object_class_action_versions(
        self, _context: object, name: str, method: str, *_: object
    ) -> object:
        """Return the answer to a question about several objects."""
        if name not in self._answers:
            from nova import exception  # noqa: PLC0415 (after its options)

            raise exception.ComputeHostNotFound(host=method)
        return self._answers[name]


@contextlib.contextmanager
def database(instances: list[str]) -> Iterator[None]:
    """Have nova's objects ask a nova with these instances."""
    from nova import objects  # noqa: PLC0415 (after its options)
    from nova.objects import base  # noqa: PLC0415

    before = base.NovaObject.indirection_api
    base.NovaObject.indirection_api = NoDatabase(objects, instances)
    try:
        yield
    finally:
        base.NovaObject.indirection_api = before


def report_by_nova(
    name: str, conf: typing.Any, instances: list[str], cycles: int
) -> None:
    """Have nova's resource tracker report a driver's nodes."""
    from nova import context, objects  # noqa: PLC0415 (after its options)
    from nova.compute import resource_tracker  # noqa: PLC0415
    from nova.scheduler.client import report  # noqa: PLC0415
    from nova.virt import virtapi  # noqa: PLC0415

    admin = context.get_admin_context()
    driver = target.find(name)(virtapi.VirtAPI())
    with database(instances):
        driver.init_host(conf.host)
        for _ in range(cycles):
            nodes = driver.get_nodenames_by_uuid(refresh=True)
            for uuid, nodename in nodes.items():
                tracker = resource_tracker.ResourceTracker(
                    conf.host,
                    driver,
                    reportclient=report.SchedulerReportClient(),
                )
                found = driver.get_available_resource(nodename)
                node = objects.ComputeNode(
                    admin,
                    id=1,
                    uuid=uuid,
                    hypervisor_hostname=nodename,
                    numa_topology=found.get('numa_topology'),
                )
                tracker._setup_pci_tracker(admin, node, found)
                tracker._update_to_placement(admin, node, startup=True)
        driver.cleanup_host(conf.host)


def command(files: list[str], *words: str) -> dict[str, typing.Any]:
    """Run a command of the agent; return its exit code and its words."""
    out, err = io.StringIO(), io.StringIO()
    options = [f'--config-file={file}' for file in files]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.main([*options, *words])
    return {'code': code, 'out': out.getvalue(), 'err': err.getvalue()}


def reports_of(
    name: str, order: typing.Any, folder: pathlib.Path
) -> dict[str, typing.Any]:
    """Return both reports of a target, and the agent's words."""
    ours = folder / 'agent.conf'
    ours.write_text(_AGENT.format(target=name, folder=folder))
    placement = Placement(order['placement'])
    placement.begin(order['before'])
    nova = process.prepare(order['files'], ())
    failure = ''
    try:
        report_by_nova(name, nova.conf, order['instances'], order['cycles'])
    except nova.exception.NovaException as exc:
        failure = str(exc)
    by_nova = placement.report()
    placement.begin(order['before'])
    files = [*order['files'], str(ours)]
    return {
        'failure of nova': failure,
        'by nova': by_nova,
        'sync': command(files, 'sync', '--yes'),
        'plan': command(files, 'plan'),
        'by the agent': placement.report(),
    }


def main_() -> None:
    """Report each target in turn."""
    order = json.loads(pathlib.Path(sys.argv[1]).read_text())
    found = {}
    for name in sys.argv[2:]:
        folder = pathlib.Path(order['folder']) / name
        folder.mkdir(parents=True)
        found[name] = reports_of(name, order, folder)
    pathlib.Path(order['result']).write_text(json.dumps(found))


if __name__ == '__main__':
    main_()
