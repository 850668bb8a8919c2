# SPDX-License-Identifier: Apache-2.0
"""Write source distributions anew, so that equal files are equal bytes.

The members are sorted, belong to root, and have the time SOURCE_DATE_EPOCH.
``release.sh`` calls it with the archives.
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile


def steady(content: bytes, epoch: int) -> bytes:
    """Return the same archive with one owner, one time and one order."""
    made = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(content)) as old,
        gzip.GzipFile(
            fileobj=made, mode='wb', filename='', mtime=epoch
        ) as out,
        tarfile.open(fileobj=out, mode='w', format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.uid = member.gid = 0
            member.uname = member.gname = ''
            member.mtime = epoch
            member.pax_headers = {}
            member.mode = 0o755 if member.mode & 0o100 else 0o644
            new.addfile(
                member, old.extractfile(member) if member.isfile() else None
            )
    return made.getvalue()


def main(paths: list[str]) -> None:
    """Write each archive anew."""
    epoch = int(os.environ['SOURCE_DATE_EPOCH'])
    for path in map(pathlib.Path, paths):
        path.write_bytes(steady(path.read_bytes(), epoch))


if __name__ == '__main__':
    main(sys.argv[1:])
