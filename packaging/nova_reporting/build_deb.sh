#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build build/nova-deb/python3-compute-agent-nova_VERSION-REVISION_all.deb from
# nova_reporting/, with the distribution's Python. Debian 13 or newer has a nova
# that it works with; it is the same package for each of these.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

revision=${DEB_REVISION:-1}
version=$(sed -n 's/^version = //p' nova_reporting/setup.cfg)
source=build/nova-deb/compute-agent-nova-$version
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
export SOURCE_DATE_EPOCH

for program in dh dh_python3 dpkg-buildpackage pybuild; do
    command -v "$program" >/dev/null || {
        echo "the package needs $program; on Debian: apt-get install" \
            "--no-install-recommends" \
            "$(make --no-print-directory nova-deb-packages)" >&2
        exit 1
    }
done

rm -rf build/nova-deb
mkdir -p "$source/nova/virt"
cp nova_reporting/{README.md,pyproject.toml,setup.cfg} "$source"
cp nova_reporting/nova/virt/compute_agent.py "$source/nova/virt"
cp -r packaging/nova_reporting/debian "$source/debian"
cat >"$source/debian/changelog" <<END
compute-agent-nova ($version-$revision) unstable; urgency=medium

  * The release notes tell what changed.

 -- compute-agent maintainers <compute-agent@localhost>  $(
    date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH"
)
END
cd "$source"
# It needs no compiler, which a build on Debian has in any case.
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps
