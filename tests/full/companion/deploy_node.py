# SPDX-License-Identifier: Apache-2.0
"""Have nova's driver deploy an instance on a node, as nova-compute does.

It runs in nova's environment: ``deploy_node.py --config-file FILE … TOLD``, and
TOLD is JSON. The instance's row is made first. The exit code is 3 if the driver
refuses the instance; its reason is printed to stderr, and the row is deleted.
"""

from nova import monkey_patch  # type: ignore[import-not-found]

monkey_patch.patch(backend='threading')  # before anything else of nova

import json  # noqa: E402
import pathlib  # noqa: E402
import sys  # noqa: E402
import typing  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).parents[2] / 'parity'))

import novas_turns  # noqa: E402
from nova import config, context, exception, objects  # noqa: E402
from nova.network import model  # type: ignore[import-not-found]  # noqa: E402
from nova.virt import driver  # type: ignore[import-not-found]  # noqa: E402

REFUSED = 3
SIZES = {'root_gb': 1, 'ephemeral_gb': 0, 'vcpus': 1, 'memory_mb': 1}

Told: typing.TypeAlias = dict[str, typing.Any]


def main() -> int:
    """Deploy the instance; return the exit code."""
    *files, words = sys.argv[1:]
    told = json.loads(words)
    config.parse_args(['nova', *files])
    objects.register_all()
    # nova-compute writes to the same database.
    novas_turns.take()
    admin = context.RequestContext('user', 'project', is_admin=True)
    instance = created(admin, told)
    image = objects.ImageMeta.from_dict(
        {'id': told['instance'], 'properties': told['image']}
    )
    made = driver.load_compute_driver(None, 'compute_agent.IronicDriver')
    made.prepare_for_spawn(instance)
    try:
        made.spawn(admin, instance, image, [], None, {}, model.NetworkInfo([]))
    except exception.ValidationError as exc:
        instance.destroy()
        print(exc, file=sys.stderr)  # noqa: T201
        return REFUSED
    return 0


def created(admin: typing.Any, told: Told) -> typing.Any:
    """Return an instance on the node, with its row in the database."""
    known = objects.ComputeNode.get_by_host_and_nodename(
        admin, told['host'], told['node']
    )
    one = objects.Instance(
        admin,
        uuid=told['instance'],
        project_id='project',
        user_id='user',
        host=told['host'],
        node=told['node'],
        image_ref=told['instance'],
        display_name='one',
        hostname='one',
        metadata={},
        config_drive='',
        system_metadata={},
        flavor=flavor(told['extra_specs']),
        instance_type_id=1,
        vm_state='active',
        power_state=1,
        compute_id=known.id,
        **SIZES,
    )
    one.create()
    return one


def flavor(specs: dict[str, str]) -> typing.Any:
    """Return a flavor with these extra specs."""
    return objects.Flavor(
        id=1,
        flavorid='1',
        name='metal',
        swap=0,
        rxtx_factor=1,
        vcpu_weight=0,
        disabled=False,
        is_public=True,
        description='',
        extra_specs=specs,
        **SIZES,
    )


if __name__ == '__main__':
    sys.exit(main())
