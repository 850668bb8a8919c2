#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build build/deb/compute-agent_VERSION-REVISION_ARCH.deb from the wheel in
# build/deb/wheel and the man page in build/docs/man ("make deb" makes both).
# The package is for the distribution that this machine runs: it uses its
# Python, and libvirt-python is compiled with its library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

revision=${DEB_REVISION:-1}
wheels=(build/deb/wheel/compute_agent-*.whl)
version=$(basename "${wheels[0]}" | cut -d- -f2)
# Debian sorts "~" before the end, as Python sorts these.
debian_version=$(sed -E 's/\.?(dev|a|b|rc)([0-9])/~\1\2/' <<<"$version")
source=build/deb/compute-agent-$version
PIP="$PWD/.venv/bin/python -m pip --disable-pip-version-check"
PYTHON=$(/usr/bin/python3 -c \
    'import sys; print("python%d.%d" % sys.version_info[:2])')
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date +%s)}
export PIP PYTHON SOURCE_DATE_EPOCH

for program in dh dpkg-buildpackage gcc pkg-config; do
    command -v "$program" >/dev/null || {
        echo "the package needs $program; on Debian: apt-get install" \
            "--no-install-recommends $(make --no-print-directory deb-packages)" >&2
        exit 1
    }
done

rm -rf "$source"
mkdir -p "$source"
cp -r packaging/debian "$source/debian"
cp -r "${wheels[0]}" packaging/compute-agent.conf build/docs/man/compute-agent.1 \
    etc/compute-agent.conf.sample etc/companion.conf etc/reporter.conf \
    etc/prometheus etc/grafana \
    "$source"
packaging/copy_docs.sh "$source"
for name in .service @.service .logrotate .sysusers .tmpfiles; do
    cp "etc/compute-agent$name" "$source/debian/"
done
cat >"$source/debian/changelog" <<END
compute-agent ($debian_version-$revision) unstable; urgency=medium

  * The release notes tell what changed.

 -- compute-agent maintainers <compute-agent@localhost>  $(
    date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH"
)
END
cd "$source"
dpkg-buildpackage --build=binary --no-sign --no-check-builddeps
