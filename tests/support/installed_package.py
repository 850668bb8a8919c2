# SPDX-License-Identifier: Apache-2.0
"""A folder that looks as if pip had installed a distribution into it."""

import collections.abc
import pathlib


def install(
    folder: pathlib.Path,
    name: str,
    version: str = '1.0',
    *,
    points: str = '',
    modules: collections.abc.Mapping[str, str] | None = None,
    tops: collections.abc.Iterable[str] = (),
) -> None:
    """Install a distribution with its modules.

    :param points: the text of its entry points
    :param modules: path below the folder without its ending → text
    :param tops: the packages that it says it has
    """
    info = folder / f'{name.replace("-", "_")}-{version}.dist-info'
    info.mkdir(parents=True)
    (info / 'METADATA').write_text(
        f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'
    )
    (info / 'entry_points.txt').write_text(points)
    (info / 'top_level.txt').write_text('\n'.join(tops))
    for module, text in (modules or {}).items():
        file = folder / f'{module}.py'
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
