# SPDX-License-Identifier: Apache-2.0
"""Ask placement for hosts for each flavor, as nova's scheduler does.

It runs in nova's environment: ``candidates.py --config-file FILE … REQUESTS
NODE ANSWERS``. REQUESTS is a file such as ``flavors.yaml``, NODE the name of
nova's compute node, and ANSWERS is written: for each name the queries that nova
sends, and the allocations of each candidate. The request's building, the
prefilters and the client are nova's, in the order of its scheduler.
"""

from nova import monkey_patch  # type: ignore[import-not-found]

monkey_patch.patch(backend='threading')  # before anything else of nova

import json  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402
import typing  # noqa: E402
import uuid  # noqa: E402

import yaml  # noqa: E402
from nova import config, context, objects  # noqa: E402
from nova.pci import request as pci_request  # type: ignore[import-not-found]  # noqa: E402
from nova.scheduler import (  # type: ignore[import-not-found]  # noqa: E402
    host_manager,
    request_filter,
    utils,
)
from nova.scheduler.client import report  # type: ignore[import-not-found]  # noqa: E402
from nova.virt import hardware  # type: ignore[import-not-found]  # noqa: E402

# Those of a guest are random; the queries of two runs are compared.
IDS = uuid.UUID('77777777-7777-4777-8777-777777777777')
FLAVOR = {'vcpus': 1, 'memory_mb': 256, 'root_gb': 1}
IMAGE = {'disk_format': 'qcow2', 'container_format': 'bare'}

Case: typing.TypeAlias = dict[str, typing.Any]


class Scheduler:
    """The part of nova's scheduler that asks placement.

    :param node: the name of a compute node, for requests that name one
    """

    def __init__(self, node: str) -> None:
        self._node = node
        self._context = context.RequestContext('a-user', 'a-project')
        self._hosts = host_manager.HostManager()
        self._client = report.SchedulerReportClient()

    def ask(self, name: str, case: Case) -> dict[str, typing.Any]:
        """Return the queries of a request and their candidates."""
        spec = self._spec(name, case)
        request_filter.process_reqspec(self._context, spec)
        requests = [self._request(spec, pinned=True)]
        if requests[0].cpu_pinning_requested:
            # nova asks once more, for hosts that know no PCPU.
            requests.append(self._request(spec, pinned=False))
        answers = [self._candidates(one) for one in requests]
        return {
            'queries': [one.to_querystring() for one in requests],
            'refused': sum(one is None for one in answers),
            'candidates': [
                {uuid: one['resources'] for uuid, one in found.items()}
                for answer in answers
                for found in answer or ()
            ],
        }

    def _spec(self, name: str, case: Case) -> typing.Any:
        """Return what nova-api makes of a request for a server."""
        flavor = _flavor(name, case)
        image = objects.ImageMeta.from_dict(
            {**IMAGE, **case.get('image', {}), 'id': str(IDS)}
        )
        pci = pci_request.get_pci_requests_from_flavor(flavor)
        for number, one in enumerate(pci.requests):
            one.request_id = str(uuid.uuid5(IDS, f'{name} {number}'))
        properties = {}
        if case.get('names_the_node'):
            properties['requested_destination'] = objects.Destination(
                node=self._node
            )
        spec = objects.RequestSpec.from_components(
            self._context,
            instance_uuid=str(IDS),
            image=image,
            flavor=flavor,
            numa_topology=hardware.numa_get_constraints(flavor, image),
            pci_requests=pci,
            filter_properties=properties,
            instance_group=None,
            availability_zone=None,
        )
        spec.is_bfv = case.get('is_bfv', False)
        spec.requested_networks = objects.NetworkRequestList(objects=[])
        return spec

    def _request(self, spec: typing.Any, *, pinned: bool) -> typing.Any:
        return utils.resources_from_request_spec(
            self._context, spec, self._hosts, enable_pinning_translate=pinned
        )

    def _candidates(
        self, request: typing.Any
    ) -> list[dict[str, dict[str, typing.Any]]] | None:
        """Return the allocations of each, or None if placement refuses.

        It does so for a resource class that it does not know.
        """
        found, _, _ = self._client.get_allocation_candidates(
            self._context, request
        )
        if found is None:
            return None
        return [one['allocations'] for one in found]


def _flavor(name: str, case: Case) -> typing.Any:
    sizes = {**FLAVOR, **case.get('flavor', {})}
    specs = {str(k): str(v) for k, v in case.get('specs', {}).items()}
    return objects.Flavor(
        flavorid=name,
        name=name,
        ephemeral_gb=sizes.pop('ephemeral_gb', 0),
        swap=sizes.pop('swap', 0),
        extra_specs=specs,
        **sizes,
    )


def main() -> None:
    """Write the answers to all requests."""
    *options, requests, node, answers = sys.argv[1:]
    config.parse_args(['nova-scheduler', *options])
    objects.register_all()
    scheduler = Scheduler(node)
    cases = yaml.safe_load(pathlib.Path(requests).read_text())
    found = {name: scheduler.ask(name, case) for name, case in cases.items()}
    pathlib.Path(answers).write_text(json.dumps(found, indent=1))


if __name__ == '__main__':
    main()
