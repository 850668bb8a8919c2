# SPDX-License-Identifier: Apache-2.0
"""The Ironic driver as ``cmd`` makes it, and a count of what it asks."""

import tempfile

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
