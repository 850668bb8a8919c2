# SPDX-License-Identifier: Apache-2.0
"""The summary and the options of each command, as the commands give them.

``make surface`` writes them to ``compute_agent/cmd/app/commands.json``. Those of
cliff have a note.
"""

import inspect
import io
import json

from compute_agent.cmd.app import commands, main

_CLIFFS = {'complete', 'help'}


def table() -> dict[str, dict[str, str]]:
    """Return the rows by name, from the classes of the commands."""
    options = main.GlobalOptions(config_files=(), config_dirs=(), debug=False)
    app = main.ComputeAgent(options)
    app.stdout = io.StringIO()
    return {
        name: {
            'options': _options(app, name),
            'summary': _summary(app, name),
        }
        for name in sorted(app.command_manager.commands)
    }


def _class(app: main.ComputeAgent, name: str) -> type:
    found: type = app.command_manager.find_command(name.split())[0]
    return found


def _summary(app: main.ComputeAgent, name: str) -> str:
    first = (inspect.getdoc(_class(app, name)) or '').split('\n')[0]
    return first.rstrip('.') + (' (cliff)' if name in _CLIFFS else '')


def _options(app: main.ComputeAgent, name: str) -> str:
    parser = _class(app, name)(app, None, name).get_parser(name)
    actions = parser._get_optional_actions()
    return ' '.join(o for action in actions for o in action.option_strings)


def written() -> str:
    """Return the text of the file."""
    return f'{json.dumps(table(), indent=1, sort_keys=True)}\n'


if __name__ == '__main__':
    commands.TABLE.write_text(written())
