#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install the package of build/nova-deb beside Debian's nova-compute, have
# nova's own loader load its drivers, install both anew and remove it. As root,
# in a Debian of "packaging/in_debian.sh", of which it changes a copy in memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [[ -z ${IN_COPY:-} ]]; then
    copy=$(mktemp -d)
    mount -t tmpfs tmpfs "$copy"
    mkdir "$copy/changed" "$copy/work" "$copy/root"
    directories=upperdir=$copy/changed,workdir=$copy/work
    mount -t overlay -o "lowerdir=/,$directories" overlay "$copy/root"
    for directory in proc sys dev; do
        mount --rbind "/$directory" "$copy/root/$directory"
    done
    IN_COPY=yes exec chroot "$copy/root" "$PWD/${BASH_SOURCE[0]}"
fi

name=python3-compute-agent-nova
module=/usr/lib/python3/dist-packages/nova/virt/compute_agent.py
deb=$(realpath build/nova-deb/${name}_*_all.deb)
work=$(mktemp -d)
apt="apt-get --quiet=2 --yes -o Dpkg::Use-Pty=0"
export DEBIAN_FRONTEND=noninteractive

fail() {
    echo "$0: $*" >&2
    exit 1
}

# Every file and directory, without what apt, dpkg and daemons write.
files() {
    find / -xdev \( -path /src -o -path /tmp -o -path /var/cache \
        -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \
        -o -path /run -o -path /root -o -path /var/lib/nova/.cache \) -prune \
        -o -print | sort
}

# What nova-compute does with its option when it starts, as nova's user.
load() {
    runuser -u nova -- python3 -W ignore - "$@" <<'END'
import importlib.metadata
import sys
from nova import config
from nova.virt import driver

config.parse_args(['nova-compute', *sys.argv[2:]])
made = driver.load_compute_driver(None, sys.argv[1] or None)
print('nova', importlib.metadata.version('nova'), 'loads',
      type(made).__module__, type(made).__name__)
END
}

# No daemon starts.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
$apt update
$apt install --no-install-recommends nova-compute >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
if load compute_agent.LibvirtDriver >/dev/null 2>&1; then
    fail "nova loads the driver without $name"
fi
load libvirt.LibvirtDriver
files >"$work/before"

$apt install "$deb" >/dev/null
[[ -z $(dpkg --verify $name) ]] || fail 'a file is not as it was packed'
load compute_agent.LibvirtDriver | tee "$work/loaded"
grep -q 'nova.virt.compute_agent LibvirtDriver$' "$work/loaded" ||
    fail 'another class was loaded'
load compute_agent.IronicDriver
# Nothing but nova's option turns it on. The second file, which Debian's service
# reads last, names nova's own driver when it is installed.
line=compute_driver=compute_agent.LibvirtDriver
sed -i "s/^compute_driver=.*/$line/" /etc/nova/nova-compute.conf
load '' --config-file /etc/nova/nova.conf \
    --config-file /etc/nova/nova-compute.conf |
    grep -q 'nova.virt.compute_agent' || fail 'the option has no effect'

$apt install --reinstall python3-nova >/dev/null
[[ -e $module ]] || fail 'an upgrade of nova removes the module'
load compute_agent.LibvirtDriver >/dev/null
$apt install --reinstall "$deb" >/dev/null
dpkg --listfiles $name

$apt purge $name >/dev/null 2>&1
files | diff "$work/before" - || fail 'removal leaves or takes files'
load libvirt.LibvirtDriver >/dev/null
if load compute_agent.LibvirtDriver >/dev/null 2>&1; then
    fail "nova loads the driver after $name was removed"
fi
echo "$(basename "$deb") was installed, loaded, installed anew and removed"
