#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Run a command in a clean Debian, in a copy of this checkout:
#   packaging/in_debian.sh forky make test
# As root, with mmdebstrap. The system has make and Python's venv; PACKAGES names
# more. It stays in build/debian/RELEASE for a week, with the copy (/src) and its
# environments. The network and the trusted certificates are this
# machine's, the mounts and the processes end with the command.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

release=$1
shift
root=$PWD/build/debian/$release

if ((EUID)) || ! command -v mmdebstrap >/dev/null; then
    echo 'a clean Debian is made by root with mmdebstrap; on Debian: apt-get' \
        'install mmdebstrap' >&2
    exit 1
fi
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
if ! flock --nonblock 9; then
    echo "another command runs in $root" >&2
    exit 1
fi
if [[ -z $(find "$root.made" -mtime -7 2>/dev/null) ]]; then
    rm -rf "$root" "$root.made"
    # A mirror that is some weeks behind will do.
    mmdebstrap --quiet --variant=minbase \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        --include=ca-certificates,git,make,python3,python3-venv \
        "$release" "$root"
    touch "$root.made"
fi

mkdir -p "$root/src"
find "$root/src" -mindepth 1 -maxdepth 1 ! -name .venv ! -name .servers \
    -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
        # git knows a file that was deleted by hand, too.
        if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi
    done |
    tar --create --null --files-from=- | tar --extract --directory="$root/src"
cp --dereference /etc/resolv.conf /etc/hosts "$root/etc/"
certificates=/etc/ssl/certs/ca-certificates.crt
cp --dereference "${PIP_CERT:-${SSL_CERT_FILE:-$certificates}}" \
    "$root$certificates"

# The copy has no git to ask for the version.
environment=(
    SETUPTOOLS_SCM_PRETEND_VERSION="$(packaging/version.sh)"
    PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
    DEBIAN_FRONTEND=noninteractive PACKAGES="${PACKAGES:-}"
    PIP_CERT="$certificates" SSL_CERT_FILE="$certificates"
    REQUESTS_CA_BUNDLE="$certificates"
)
while IFS= read -r line; do
    environment+=("$line")
done < <(env | grep -iE '^(CI|PIP_(EXTRA_)?INDEX_URL|COMPUTE_AGENT_[A-Z_]*|PYTEST_XDIST_[A-Z_]*|https?_proxy|no_proxy)=' || true)

inside='
if [ -n "$PACKAGES" ]; then
    apt-get update --quiet=2
    apt-get install --quiet=2 --yes --no-install-recommends $PACKAGES >/dev/null
fi
cd /src
exec "$@"'
export root
exec unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    exec chroot "$root" env -i "$@"' bash \
    "${environment[@]}" sh -ec "$inside" sh "$@"
