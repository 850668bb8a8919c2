# SPDX-License-Identifier: Apache-2.0
"""The ironic.conf of a local Ironic: one process, fake hardware, one file.

Pure. The paths are relative to the directory in which the process runs, so the
directory may have any name. ``local_ironic.py`` writes the file.
"""

DATABASE = 'ironic.sqlite'
HTPASSWD = 'htpasswd'

_FAKE = (
    'bios',
    'boot',
    'console',
    'deploy',
    'firmware',
    'inspect',
    'management',
    'power',
    'raid',
    'rescue',
    'vendor',
)
_NOOP = ('network', 'storage')

# SQLite needs API and conductor in one process. The power sync is off because
# it locks nodes from time to time; a request would then get a 409.
_TEXT = """\
[DEFAULT]
auth_strategy = {auth}
http_basic_auth_user_file = {htpasswd}
host = localhost
my_ip = 127.0.0.1
rpc_transport = none
state_path = .
graceful_shutdown_timeout = 1
enabled_hardware_types = fake-hardware
{interfaces}

[api]
host_ip = 127.0.0.1
port = {port}

[conductor]
automated_clean = false
sync_power_state_interval = 0

[database]
connection = sqlite:///{database}

[dhcp]
dhcp_provider = none
"""


def text(port: int, *, http_basic: bool) -> str:
    """Return the contents of the file.

    :param http_basic: True if clients need a name and password of htpasswd
    """
    kinds = {**dict.fromkeys(_FAKE, 'fake'), **dict.fromkeys(_NOOP, 'noop')}
    return _TEXT.format(
        auth='http_basic' if http_basic else 'noauth',
        database=DATABASE,
        htpasswd=HTPASSWD,
        interfaces='\n'.join(
            f'enabled_{name}_interfaces = {kind}'
            for name, kind in sorted(kinds.items())
        ),
        port=port,
    )
