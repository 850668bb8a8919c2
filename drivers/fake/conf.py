# SPDX-License-Identifier: Apache-2.0
"""The options of the fake driver, group ``[fake]``.

The driver loader registers them. The sample file and the documentation list
them.
"""

from oslo_config import cfg

GROUP = 'fake'

OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'file',
        sample_default='/etc/compute-agent/fake.yaml',
        help=(
            'The path of the YAML file that describes the nodes, their '
            'providers and the providers they share. It must be set when '
            'compute_driver is fake. The file is read again in every cycle; '
            'while it is wrong, nothing is written and the log names the '
            'line. etc/fake.yaml is a commented example.'
        ),
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    conf.register_opts(OPTS, group=GROUP)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, for the sample file."""
    return [(GROUP, OPTS)]
