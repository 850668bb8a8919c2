# SPDX-License-Identifier: Apache-2.0
"""The options whose value has a "$" before a word that names no option.

oslo.config replaces ``$name`` in a value by the value of the option ``name``.
Its error says which name it did not find, and that may be the rest of a
password. ``configuration.py`` calls this module for a message that names the
option instead.
"""

import contextlib
from collections.abc import Iterator

from oslo_config import cfg

from ... import error_text
from ...conf import misspelled

DEFAULT = 'DEFAULT'
#: oslo.config's errors about a reference. The last: an option that has itself.
ERRORS = (cfg.NoSuchOptError, cfg.TemplateSubstitutionError, RecursionError)


def told(conf: cfg.ConfigOpts | None, exc: Exception) -> str:
    """Return a message for one of ``ERRORS``; it has no part of a value.

    :param conf: the options that were read, or None if they are unknown
    """
    named = [_named(conf, *found) for found in _wrong(conf)] if conf else []
    if conf is not None and not named:  # no value is the cause
        return error_text.one_line(exc)
    options = ' and '.join(named) or 'a value in the configuration'
    verb = 'have' if len(named) > 1 else 'has'
    return (
        f'{options} {verb} a "$", and what follows it is not the name of '
        'another option: write "$$" for each "$" of the value'
    )


def _wrong(conf: cfg.ConfigOpts) -> Iterator[tuple[str, str]]:
    """Yield the group and the name of each option that cannot be read."""
    groups = [name for name in conf if _is_group(conf, name)]
    for name in conf:
        if name not in groups and _fails(conf, name):
            yield DEFAULT, name
    for group in groups:
        for name in conf[group]:
            if _fails(conf[group], name):
                yield group, name


def _is_group(conf: cfg.ConfigOpts, name: str) -> bool:
    with contextlib.suppress(ValueError, *ERRORS):
        return isinstance(conf[name], cfg.ConfigOpts.GroupAttr)
    return False


def _fails(
    options: cfg.ConfigOpts | cfg.ConfigOpts.GroupAttr, name: str
) -> bool:
    """Return True if the reference in a value cannot be replaced."""
    try:
        options[name]
    except ERRORS:
        return True
    except ValueError:  # about something else
        return False
    return False


def _named(conf: cfg.ConfigOpts, group: str, name: str) -> str:
    """Return an option with the file that sets it, if that is known."""
    setting = [
        path
        for path in misspelled.files(conf)
        if name in misspelled.read(path).get(group, ())
    ]
    # The last file counts.
    place = f' in {error_text.printable(str(setting[-1]))}' if setting else ''
    return f'[{group}] {name}{place}'
