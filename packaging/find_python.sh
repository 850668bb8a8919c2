#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the first of these Pythons that can make an environment for
# compute-agent, and say on stderr, in one line, why those before it cannot.
#   packaging/find_python.sh python3 /opt/python3.13/bin/python3
JUDGE='
import sys
here = "%d.%d.%d" % sys.version_info[:3]
if sys.version_info < (3, 11):
    sys.exit("is Python " + here)
try:
    import ensurepip, venv
except ImportError:
    sys.exit("is Python " + here + " without its venv module")
print(sys.executable, here)
'
refused=
for python in "$@"; do
    if ! command -v "$python" >/dev/null; then
        reason='is not there'
    elif answer=$("$python" -c "$JUDGE" 2>&1); then
        # A shim of pyenv depends on the directory and the PATH.
        path=${answer% *}
        echo "compute-agent takes $path, Python ${answer##* }${refused:+,}" \
            "${refused:+because $refused}" >&2
        echo "$path"
        exit 0
    else
        reason=$(printf '%s\n' "$answer" | tail -n 1)
        case $reason in
            'is Python '*) ;;
            *) reason='does not run' ;;
        esac
    fi
    case "$refused" in
        *"$python $reason"*) ;;
        *) refused="$refused${refused:+, }$python $reason" ;;
    esac
done
echo "compute-agent needs Python 3.11 or newer with its venv module ($refused);" \
    'install python3-venv, or say make PYTHON=/path/to/python3.11' >&2
exit 1
