# SPDX-License-Identifier: Apache-2.0
"""The options of the driver exec, group ``[exec]``.

The driver loader registers them. The sample file and the documentation list
them.
"""

from oslo_config import cfg

GROUP = 'exec'

OPTS: list[cfg.Opt] = [
    cfg.FloatOpt(
        'timeout',
        default=30,
        min=1,
        max=600,
        help=(
            'The seconds after which a call of the program, and everything '
            'that it started, is ended. The node then keeps what placement '
            'has.'
        ),
    ),
    cfg.StrOpt(
        'user',
        sample_default='nobody',
        help=(
            'The user as whom the program runs, with the groups of that user. '
            'Only an agent that runs as root can change the user: its program '
            'runs as nobody unless this option names another user. Without '
            'root the program runs as the user of the agent.'
        ),
    ),
    cfg.DictOpt(
        'environment',
        default={},
        sample_default={'SMI': '/opt/vendor/smi'},
        help=(
            'Variables for the environment of the program, as NAME:VALUE, '
            'separated by commas. The program gets these and PATH, LANG and '
            'HOME, and no variable of the agent.'
        ),
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, for the sample file."""
    return [(GROUP, OPTS)]
