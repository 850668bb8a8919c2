# SPDX-License-Identifier: Apache-2.0
"""The Ironic driver as ``cmd`` makes it, and a count of what it asks."""

import tempfile
import typing

import pytest
import requests
from oslo_config import cfg

from compute_agent.virt import driver, loader


def ironic_driver(url: str, **options: object) -> driver.ComputeDriver:
    """Return the driver for the Ironic at an address, found by entry point.

    :param options: of ``[ironic]``; those of ``[workarounds]`` by their names
    """
    given = {'auth_type': 'none', 'endpoint_override': url, **options}
    apart = {n: v for n, v in given.items() if n.startswith('skip_')}
    given = {n: v for n, v in given.items() if n not in apart}
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        for group, some in (('ironic', given), ('workarounds', apart)):
            lines = [f'{name} = {value}' for name, value in some.items()]
            file.write('\n'.join([f'[{group}]', *lines, '']))
        file.flush()
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[file.name], default_config_dirs=[])
        return loader.load('ironic', conf)


@pytest.fixture
def sent_to_ironic(
    monkeypatch: pytest.MonkeyPatch,
) -> list[str]:
    """Every request that goes over a real connection, as method and path.

    The placement of the tests is in process and has none.
    """
    seen: list[str] = []
    send = requests.adapters.HTTPAdapter.send

    def record(
        self: requests.adapters.HTTPAdapter,
        request: requests.PreparedRequest,
        *args: typing.Any,
        **kwargs: typing.Any,
    ) -> requests.Response:
        seen.append(f'{request.method} {request.path_url}')
        return send(self, request, *args, **kwargs)

    monkeypatch.setattr(requests.adapters.HTTPAdapter, 'send', record)
    return seen
