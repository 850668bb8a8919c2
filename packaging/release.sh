#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build what a release ships, in build/release ("make release"): source
# distribution, wheel, Debian package and image (each if its tools are here), the
# changelog, a list of all that the wheel brings (SBOM, CycloneDX) and checksums.
# All but the image is built twice, and the release fails if one byte differs.
# The time of all files is that of the last commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BIN=$PWD/.venv/bin
OUT=$PWD/build/release
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
SETUPTOOLS_SCM_PRETEND_VERSION=$(packaging/version.sh)
PYTHONHASHSEED=0
export SOURCE_DATE_EPOCH SETUPTOOLS_SCM_PRETEND_VERSION PYTHONHASHSEED

if [[ $(git status --porcelain) && -z ${DIRTY:-} ]]; then
    echo 'this checkout has changes that are not committed; DIRTY=1 builds it' \
        'all the same' >&2
    exit 1
fi

build_distributions() { # into a directory
    "$BIN/python" -m build --no-isolation --sdist --outdir "$1" >/dev/null
    # setuptools gives each archive the time of its making.
    "$BIN/python" packaging/steady_archive.py "$1"/*.tar.gz
    local source
    source=$(mktemp -d)
    tar -x --strip-components=1 -C "$source" -f "$1"/compute_agent-*.tar.gz
    "$BIN/python" -m build --no-isolation --wheel --outdir "$1" "$source" \
        >/dev/null
    rm -r "$source"
}

build_deb() { # into a directory
    rm -rf build/deb
    mkdir -p build/deb/wheel
    cp "$1"/*.whl build/deb/wheel
    packaging/build_deb.sh >"$1.deb.log"
    cp build/deb/*.deb "$1"
}

describe() { # into a directory
    packaging/changelog.sh "$1/CHANGELOG.rst"
    # An environment with nothing but the wheel and what it needs.
    local wheel
    wheel=$(echo "$1"/*.whl)
    if [[ ! -x $OUT/environment/bin/python ]]; then
        "$BIN/python" -m venv --without-pip "$OUT/environment"
        "$BIN/python" -m pip --python "$OUT/environment/bin/python" install \
            --quiet "$wheel[explore,fleet,host]"
    fi
    "$BIN/cyclonedx-py" environment --output-reproducible --of JSON \
        --output-file "$1/compute-agent.cdx.json" \
        "$OUT/environment/bin/python"
}

rm -rf "$OUT"
if command -v dh dpkg-buildpackage >/dev/null; then
    has_deb=1
    "$BIN/sphinx-build" --fail-on-warning --quiet -b man \
        -d build/docs/trees docs build/docs/man
else
    has_deb=
    echo 'no package for Debian: "make deb-packages" names what is missing' >&2
fi
for number in 1 2; do
    mkdir -p "$OUT/$number"
    build_distributions "$OUT/$number"
    if [[ $has_deb ]]; then build_deb "$OUT/$number"; fi
    describe "$OUT/$number"
done
rm -rf "$OUT/environment"

diff --recursive "$OUT/1" "$OUT/2" || {
    echo 'two builds of the same commit differ' >&2
    exit 1
}
mv "$OUT"/1/* "$OUT"
rm -r "$OUT/1" "$OUT/2" "$OUT"/*.deb.log 2>/dev/null || true

if command -v buildah >/dev/null; then
    mkdir -p dist
    cp "$OUT"/*.whl dist
    buildah build --format docker --timestamp "$SOURCE_DATE_EPOCH" \
        --file packaging/Containerfile --tag compute-agent . >/dev/null
    buildah push --quiet compute-agent \
        "docker-archive:$OUT/compute-agent-image.tar:compute-agent"
else
    echo 'no image: buildah is not installed' >&2
fi
cd "$OUT"
sha256sum -- * >SHA256SUMS
cat SHA256SUMS
