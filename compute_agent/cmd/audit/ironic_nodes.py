# SPDX-License-Identifier: Apache-2.0
"""All nodes of Ironic and their instances, for an audit.

The driver ``ironic`` has the connection. It is loaded by its entry point if
there is an account, whatever drivers this agent uses.
"""

from oslo_config import cfg

from ... import errors
from ...audit import cloud
from ...transport import clouds
from ...transport.account import Origin
from ...virt import cloud_nodes, loader
from ..app import configuration

_DRIVER = 'ironic'
NOT_ASKED = (
    'Ironic was not asked: [ironic] auth_type is not set, and there is no '
    '--os-cloud'
)
_EMPTY = (
    'Ironic lists no node: check the region in [ironic], and that its user '
    'may see all nodes'
)


def read(conf: cfg.ConfigOpts) -> cloud.Ironic:
    """Return the instance of each node, or the reason why it is unknown.

    One request for each thousand nodes.

    :raises errors.ConfigError: an option of ``[ironic]`` is wrong
    """
    with configuration.explained(conf):
        loader.driver_class(_DRIVER).register_opts(conf)
        account = clouds.settle(conf, _DRIVER)
        group = conf[_DRIVER]
        if not (group.auth_type or group.auth_section):
            return cloud.Ironic(problem=NOT_ASKED)
        driver = loader.load(_DRIVER, conf)
    if not isinstance(driver, cloud_nodes.CloudNodes):
        raise errors.ConfigError(
            f'driver {_DRIVER} cannot list all nodes of its service'
        )
    try:
        found = driver.cloud_nodes()
    except errors.ConfigError:
        raise
    except errors.AgentError as exc:
        # The catalog of a cloud without Ironic has no address for it.
        return cloud.Ironic(
            problem=f'Ironic did not answer completely: {exc}',
            is_failure=account.origin is Origin.OPTIONS,
        )
    if not found:
        return cloud.Ironic(problem=_EMPTY)
    return cloud.Ironic(
        instances={one.uuid: one.instance_uuid for one in found}
    )
