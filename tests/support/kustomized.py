# SPDX-License-Identifier: Apache-2.0
"""Render a folder as kustomize does, as far as packaging/kubernetes goes.

It knows resources, generators without hashes, namespaces, images and patches of
lists by name. A word that it does not know is an error, so a file that says more
than this judges is noticed.
"""

import base64
import pathlib
import typing

import yaml

Doc = dict[str, typing.Any]

_KNOWN = {
    'apiVersion',
    'configMapGenerator',
    'images',
    'kind',
    'namespace',
    'patches',
    'resources',
    'secretGenerator',
}


def rendered(folder: pathlib.Path) -> list[Doc]:
    """Return the objects of a folder with a kustomization.yaml.

    :raises AssertionError: a name is missing, or there twice
    """
    said = yaml.safe_load((folder / 'kustomization.yaml').read_text())
    assert set(said) <= _KNOWN, f'{folder}: {set(said) - _KNOWN}'
    docs: list[Doc] = []
    for name in said['resources']:
        path = folder / name
        docs += (
            rendered(path.resolve())
            if path.is_dir()
            else yaml.safe_load_all(path.read_text())
        )
    for kind in ('ConfigMap', 'Secret'):
        key = f'{kind[0].lower()}{kind[1:]}Generator'
        for one in said.get(key, ()):
            _generate(docs, folder, kind, one)
    for patch in said.get('patches', ()):
        change = yaml.safe_load((folder / patch['path']).read_text())
        found = _find(docs, change['kind'], change['metadata']['name'])
        assert found is not None, f'{folder}: nothing to patch'
        _merge(found, change)
    images = {each['name']: each for each in said.get('images', ())}
    for doc in docs:
        if 'namespace' in said:
            doc['metadata']['namespace'] = said['namespace']
        _set_images(doc, images)
    names = [(doc['kind'], doc['metadata']['name']) for doc in docs]
    assert len(names) == len(set(names)), names
    return docs


def _generate(
    docs: list[Doc], folder: pathlib.Path, kind: str, one: Doc
) -> None:
    files = {name: (folder / name).read_text() for name in one['files']}
    old = _find(docs, kind, one['name'])
    replaces = one.get('behavior') == 'replace'
    assert replaces == (old is not None), f'{folder}: {one["name"]}'
    if kind == 'Secret':
        files = {
            name: base64.b64encode(text.encode()).decode()
            for name, text in files.items()
        }
    if old is not None:
        old['data'] = files
        return
    named = {'name': one['name']}
    docs.append(
        {'apiVersion': 'v1', 'kind': kind, 'metadata': named, 'data': files}
    )


def _find(docs: list[Doc], kind: str, name: str) -> Doc | None:
    wanted = kind, name
    found = (d for d in docs if (d['kind'], d['metadata']['name']) == wanted)
    return next(found, None)


def _merge(target: Doc, change: Doc) -> None:
    """Merge maps, and lists of named things by their names."""
    for key, value in change.items():
        mine = target.get(key)
        if isinstance(value, dict) and isinstance(mine, dict):
            _merge(mine, value)
        elif isinstance(value, list) and isinstance(mine, list):
            for item in value:
                same = [one for one in mine if one['name'] == item['name']]
                if same:
                    _merge(same[0], item)
                else:
                    mine.append(item)
        else:
            target[key] = value


def _set_images(value: object, images: dict[str, Doc]) -> None:
    if isinstance(value, list):
        for each in value:
            _set_images(each, images)
    if isinstance(value, dict):
        chosen = images.get(str(value.get('image')))
        if chosen is not None:
            value['image'] = f'{chosen["newName"]}:{chosen["newTag"]}'
        for each in value.values():
            _set_images(each, images)
