# SPDX-License-Identifier: Apache-2.0
"""Output without characters that move a cursor, and without passwords.

Names of providers, and the texts of servers and libraries, may contain escape
sequences, line breaks, and marks that reverse the direction of the text. A log
line is escaped as a whole, whoever wrote it. ``command.py`` escapes data.
"""

import logging
from collections.abc import Mapping

from ... import error_text


class PlainText(logging.Filter):
    """Makes each log message one printable line without passwords in URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Escape the message; return True."""
        try:
            text = record.getMessage()
        except (TypeError, ValueError):  # logging reports it
            return True
        plain = error_text.printable(error_text.without_credentials(text))
        is_text = isinstance(record.msg, str) and _are_values(record.args)
        if plain != text or not is_text:
            record.msg, record.args = plain, ()
        _limit_extra(record)
        return True


def _are_values(args: object) -> bool:
    """Return True if arguments of a log call are nothing but numbers and text.

    oslo.log's JSON has the arguments, too, with all that an object holds.
    """
    return isinstance(args, tuple) and all(map(_is_value, args))


def _is_value(one: object) -> bool:
    return isinstance(one, str | int | float | None)


def _limit_extra(record: logging.LogRecord) -> None:
    """Replace the objects in a record's extra values by their text.

    oslo.log's JSON has the extra values of its own loggers. It writes the
    ``context`` itself, without the token.
    """
    values = vars(record)
    extra = values.get('extra')
    if isinstance(extra, Mapping):
        values['extra'] = {name: _limited(name, extra[name]) for name in extra}
    for name in values.get('extra_keys', ()):
        values[name] = _limited(name, values.get(name))


def _limited(name: str, value: object) -> object:
    """Return an extra value that holds no more than its text shows."""
    if name == 'context' or isinstance(value, int | float | None):
        return value
    return error_text.without_credentials(str(value))


class OwnWords(logging.Formatter):
    """Formats a record as oslo.log does, but adds no error by itself.

    In an ``except`` block, oslo.log adds the text of the error to each warning
    and error. The agent's lines have that text already, printable and without
    passwords. ``LOG.exception`` gives the error to the record.

    :param inner: a formatter of oslo.log
    """

    def __init__(self, inner: logging.Formatter) -> None:
        super().__init__()
        self._inner = inner

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, or the lines if there is a traceback."""
        if record.exc_info:
            return self._inner.format(record)
        try:
            # oslo.log adds no error of this class.
            raise KeyError('no error: see OwnWords')
        except KeyError:
            return self._inner.format(record)


_FILTER = PlainText()


def escape_logs() -> None:
    """Escape what all handlers write from now on, whichever logger has them.

    A handler that has the filter does not get another one. The file of
    log_config_append may give any logger handlers, and new ones when it is
    read again.
    """
    root = logging.getLogger()
    for logger in (root, *root.manager.loggerDict.values()):
        for handler in getattr(logger, 'handlers', ()):
            handler.addFilter(_FILTER)
            formatter = handler.formatter
            if type(formatter).__module__.startswith('oslo_log.'):
                handler.setFormatter(OwnWords(formatter))
