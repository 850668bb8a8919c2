# SPDX-License-Identifier: Apache-2.0
"""The options of the host driver, groups ``[facts]`` and ``[rules]``.

The driver loader registers them. The options of libvirt's connection are those
of nova.conf (``drivers/libvirt_python/options.py``).
"""

from oslo_config import cfg

from ..libvirt_python import options as libvirtd

GROUP = 'facts'

OPTS: list[cfg.Opt] = [
    cfg.ListOpt(
        'directories',
        default=[
            '/etc/compute-agent/facts.d',
            '/etc/kubernetes/node-feature-discovery/features.d',
        ],
        help='The folders with files of facts that your own scripts write, '
        'separated by commas. A file whose name ends in .yaml or .yml has the '
        'key "facts" and, optionally, "expires"; another file has lines '
        'name=value, as for the local source of node-feature-discovery. The '
        'files are read and never run. A file is refused if it is a symbolic '
        'link, has more than 65536 bytes, belongs to another user than '
        "root and the agent's, or may be written by its group or by "
        'everybody; a folder is refused for the same owners and permissions. '
        'A folder that does not exist has no facts.',
    ),
]

RULES = 'rules'

RULE_OPTS: list[cfg.Opt] = [
    cfg.StrOpt(
        'directory',
        default='/etc/compute-agent/rules.d',
        help='The directory with your rules: conditions over facts, and the '
        'traits and child providers that they give. Every file whose name '
        'ends in .yaml is read when the agent starts and on SIGHUP, beside '
        'the starter rules that ship with the agent. If you set the option, '
        'the directory has to exist.',
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options on ``conf``."""
    conf.register_opts(OPTS, group=GROUP)
    conf.register_opts(RULE_OPTS, group=RULES)
    libvirtd.register_opts(conf)


def rules_directory(conf: cfg.ConfigOpts) -> tuple[str, bool]:
    """Return the directory, and True if an operator named it."""
    found = conf.get_location('directory', RULES)
    is_set = found is not None and found.location.is_user_controlled
    return conf[RULES].directory, is_set


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return the options by group, for the sample file."""
    return [(GROUP, OPTS), (RULES, RULE_OPTS)]
