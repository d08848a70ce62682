"""FrozenTable.save with a path that ends with .mmdb: a MaxMind DB."""

import threading

import pytest

import longmatch

ROWS = {
    "10.0.0.0/8": {"asn": 64500, "site": "office"},
    "10.9.0.0/16": {"asn": 64501, "site": None},
    "2001:db8::/32": {"asn": 64500, "site": "docs"},
}


@pytest.fixture
def table():
    return longmatch.Table(ROWS).freeze()


def test_load_reads_it_back(table, tmp_path):
    path = tmp_path / "sites.mmdb"
    table.save(path)
    read = longmatch.load(path)
    for address in ["10.1.1.1", "10.9.1.1", "2001:db8::1", "192.0.2.1"]:
        assert read.lookup(address) == table.lookup(address), address
    # Loaded rows, opened files and single values are data, too.
    read.save(tmp_path / "again.MMDB")
    assert longmatch.load(tmp_path / "again.MMDB").lookup("10.9.1.1")["asn"] == 64501
    table.save(tmp_path / "sites.lm")
    longmatch.open(tmp_path / "sites.lm").save(path, fields={"site": "city.names.en"})
    assert longmatch.load(path).lookup("10.1.1.1") == {"asn": 64500, "city.names.en": "office"}
    longmatch.Table({"10.0.0.0/8": "office"}).freeze().save(path)
    assert longmatch.load(path).lookup("10.1.1.1") == "office"


def test_another_reader_agrees(table, tmp_path):
    maxminddb = pytest.importorskip("maxminddb")
    path = tmp_path / "sites.mmdb"
    table.save(
        path,
        database_type="Sites",
        languages=["en", "de"],
        description={"en": "sites", "de": "Standorte"},
        fields={"site": "city.names.en", "asn": "asn:string"},
        build_time=1_700_000_000,
        aliases=True,
    )
    with maxminddb.open_database(str(path)) as reader:
        assert reader.get("10.1.1.1") == {"asn": "64500", "city": {"names": {"en": "office"}}}
        assert reader.get("10.9.1.1") == {"asn": "64501"}
        assert reader.get("2001:db8::1") == {"asn": "64500", "city": {"names": {"en": "docs"}}}
        assert reader.get("192.0.2.1") is None
        assert reader.get("2002:a01:101::") == reader.get("10.1.1.1")
        metadata = reader.metadata()
    assert metadata.database_type == "Sites"
    assert metadata.languages == ["en", "de"]
    assert metadata.description == {"en": "sites", "de": "Standorte"}
    assert metadata.build_epoch == 1_700_000_000


def test_the_same_options_make_the_same_bytes(table, tmp_path):
    path = tmp_path / "sites.mmdb"
    made = []
    for description in ["sites", {"en": "sites"}, "other"]:
        table.save(path, build_time=1, description=description)
        made.append(path.read_bytes())
    assert made[0] == made[1] != made[2]


def test_compiled_tables_have_none_of_the_options(table, tmp_path):
    options = {
        "database_type": "Sites",
        "languages": [],
        "description": "",
        "fields": {},
        "build_time": 0,
        "aliases": True,
        "drop_compatible": True,
    }
    for keyword, value in options.items():
        with pytest.raises(TypeError, match=f"^{keyword}=: only a MaxMind DB has it: give a path that ends with .mmdb$"):
            table.save(tmp_path / "sites.lm", **{keyword: value})
    with pytest.raises(ValueError, match="answers='values': a MaxMind DB"):
        table.save(tmp_path / "sites.mmdb", answers="values")
    with pytest.raises(ValueError, match=r"sites.mmdb: compile writes compiled tables \(.lm\): FrozenTable.save"):
        longmatch.compile(table, tmp_path / "sites.mmdb")
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_is_named(table, tmp_path):
    path = tmp_path / "sites.mmdb"
    table.save(path, build_time=1)
    old = path.read_bytes()
    refused = [
        ({"fields": {"city": "city"}}, "no column is named 'city': the columns are asn, site"),
        ({"fields": {"site": "asn"}}, "the path 'asn' collides"),
        ({"fields": {"site": "a..b"}}, "a key of the path 'a..b' is empty"),
        ({"fields": {"asn": "asn:uint16", "site": "site:uint32"}}, "10.0.0.0/8: column 'site': 'office' is not a value"),
        ({"fields": {"asn": "asn:number"}}, r'fields={"asn": "asn:number"}: "number" is not a type: the types are'),
        ({"description": "long " * 40_000}, "the metadata exceed 128 KiB"),
    ]
    for options, message in refused:
        with pytest.raises(ValueError, match=message):
            table.save(path, **options)
    for options in [{"languages": "en"}, {"fields": ["site"]}, {"build_time": "now"}, {"description": 1}]:
        with pytest.raises(TypeError, match=next(iter(options))):
            table.save(path, **options)
    assert path.read_bytes() == old
    with pytest.raises(FileNotFoundError, match="no/sites.mmdb"):
        table.save(tmp_path / "no" / "sites.mmdb")


def test_prefixes_where_the_format_has_ipv4(tmp_path):
    path = tmp_path / "sites.mmdb"
    table = longmatch.Table({"10.0.0.0/8": 1, "::1/128": 2}).freeze()
    with pytest.raises(ValueError, match=r"sites.mmdb: ::1/128: a MaxMind DB .*\(drop_compatible=True leaves out"):
        table.save(path)
    table.save(path, drop_compatible=True)
    assert longmatch.load(path).keys() == ["10.0.0.0/8"]
    inside = longmatch.Table({"2002::/24": 1}).freeze()
    with pytest.raises(ValueError, match="2002::/24: addresses of 2002::/16"):
        inside.save(path, aliases=True)


def test_other_threads_run_meanwhile(tmp_path):
    table = longmatch.asn()
    done = threading.Event()

    def write():
        table.save(tmp_path / "asn.mmdb")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 10
    read = longmatch.load(tmp_path / "asn.mmdb")
    for address in ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "10.0.0.1"]:
        assert read.lookup(address) == table.lookup(address)
