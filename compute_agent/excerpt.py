# SPDX-License-Identifier: Apache-2.0
"""What came in as an error's line shows it: never more than part of a line.

Pure: no I/O, configuration, logging or clock. A value that is refused may be a
name of five thousand characters or a number of as many digits, which Python
does not even print. Whoever refuses something shows it through this; whoever
tells of something by its name, through ``printable``.
"""

MOST = 60  # characters


def of(value: object) -> str:
    """Return a value as Python spells it, if long only its beginning.

    Of a long string it also says how long it is.
    """
    if isinstance(value, str):
        more = f'... ({len(value)} characters)' if len(value) > MOST else ''
        return f'{value[:MOST]!r}{more}'
    try:
        text = repr(value)
    except ValueError:  # an integer beyond sys.get_int_max_str_digits()
        return f'a value of type {type(value).__name__}, too long to show,'
    return text if len(text) <= MOST else f'{text[:MOST]}...'


def printable(text: str) -> str:
    """Return a text that moves neither cursor nor line, else as it is.

    Names of providers may hold any character, and so may what servers say.
    """
    if text.isprintable():
        return text
    return ''.join(
        c if c.isprintable() else c.encode('unicode_escape').decode('ascii')
        for c in text
    )
