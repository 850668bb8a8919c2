#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Print the version of this checkout or unpacked source distribution, as the build
# would have it. Without setuptools-scm, that is the fallback of pyproject.toml.
cd "$(dirname "$0")/.." || exit
if [ -n "${SETUPTOOLS_SCM_PRETEND_VERSION:-}" ]; then
    echo "$SETUPTOOLS_SCM_PRETEND_VERSION"
    exit
fi
for python in .venv/bin/python python3; do
    "$python" -m setuptools_scm 2>/dev/null && exit
done
sed -n 's/^Version: //p' PKG-INFO 2>/dev/null | grep . ||
    sed -n 's/^fallback_version = "\(.*\)"/\1/p' pyproject.toml
