"""Every example of the docstrings, of the package's README, of docs/python.md and of docs/from-pytricia.md."""

import doctest
import pathlib
import runpy

import pytest

import longmatch
from longmatch import _longmatch

PACKAGE = pathlib.Path(__file__).parents[1]
DOCS = PACKAGE.parents[1] / "docs"
PAGES = [PACKAGE / "README.md", DOCS / "python.md", DOCS / "from-pytricia.md"]


def docstrings():
    finder = doctest.DocTestFinder(exclude_empty=False)
    globs = {"longmatch": longmatch}
    yield from finder.find(longmatch, "longmatch", globs=globs)
    for name in longmatch.__all__:
        item = getattr(longmatch, name)
        yield from finder.find(item, f"longmatch.{name}", module=False, globs=globs)


def test_docstrings():
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    ran = sum(runner.run(test).attempted for test in docstrings())
    assert runner.failures == 0
    assert ran > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, ran = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0
    assert ran > 3


def test_everything_public_has_a_docstring():
    assert longmatch.__doc__ and _longmatch.__doc__
    for name in longmatch.__all__:
        item = getattr(longmatch, name)
        assert item.__doc__, name
        for method in vars(item) if isinstance(item, type) else ():
            if not method.startswith("_"):
                assert getattr(item, method).__doc__, f"{name}.{method}"


def test_typed_uses_run():
    runpy.run_path(str(PACKAGE / "tests" / "typed.py"))
