#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Write the changelog of the release notes to a file. In a clone without tags, reno
# calls all of them 0.0.0.
set -e
file=$1
cd "$(dirname "$0")/.."
.venv/bin/reno --quiet report --no-show-source --title compute-agent \
    --output "$file" .
sed -i '/^0\.0\.0$/{N;s/.*/Not yet released\n================/}' "$file"
