# SPDX-License-Identifier: Apache-2.0
"""The program around the commands: start, options, output, signals.

Begin with ``main.py``. ``command.py`` is the base class of every command,
``listing.py`` and ``output.py`` print results, ``confirm.py`` asks the
operator, ``bulk.py`` acts on each line of standard input, ``signals.py`` turns
signals into requests to stop or to reload.
"""
