#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the first of these Pythons that can make an environment for
# compute-agent, and say on stderr, in one line, why those before it cannot.
#   packaging/find_python.sh python3 /opt/python3.13/bin/python3
JUDGE='
import sys
here = "%d.%d.%d" % sys.version_info[:3]
try:
    import ensurepip, venv
except ImportError:
    here += " without its venv module"
print(sys.executable)
print(here)
sys.exit(sys.version_info < (3, 11) or " " in here)
'
refused=
for python in "$@"; do
    # A shim of pyenv depends on the directory and the PATH, so the path of the
    # program itself is printed.
    answer=$("$python" -c "$JUDGE" 2>/dev/null)
    judged=$?
    version=$(printf '%s\n' "$answer" | tail -n 1)
    path=$(printf '%s\n' "$answer" | tail -n 2 | head -n 1)
    if [ "$judged" = 0 ] && [ -x "$path" ]; then
        note=${refused:+; not used: $refused}
        echo "compute-agent uses Python $version ($path)$note" >&2
        echo "$path"
        exit 0
    fi
    refused="$refused${refused:+, }$python (${version:-cannot be run})"
done
echo "compute-agent needs Python 3.11 or newer with its venv module; not used:" \
    "$refused; install python3-venv, or say make PYTHON=/path/to/python3.11" >&2
exit 1
