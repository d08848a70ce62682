"""Types of the compiled part of the package."""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
from types import GenericAlias, TracebackType
from os import PathLike
from typing import (
    Any,
    Generic,
    Literal,
    Protocol,
    SupportsIndex,
    TypedDict,
    TypeVar,
    Union,
    final,
    overload,
)

from typing_extensions import Self, TypeAlias, Unpack

__all__ = [
    "ArrowColumn",
    "FrozenTable",
    "LiveReader",
    "LiveTable",
    "Table",
    "__version__",
    "_command",
    "_freeze",
    "_open",
    "_rows",
    "asn",
    "compile",
    "load",
    "open",
]

__version__: str

_V = TypeVar("_V")
_W = TypeVar("_W")

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

_Address: TypeAlias = Union[str, bytes, IPv4Address, IPv6Address, tuple[int, int]]
_Key: TypeAlias = Union[
    _Address, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface, tuple[int, int, int]
]
# NumPy is not needed, so its arrays are iterables here.
_Addresses: TypeAlias = Union[Iterable[object], _ArrowArray, _ArrowStream]
_Routes: TypeAlias = Union[
    Mapping[str, _V], Mapping[Any, _V], Iterable[tuple[_Key, _V]], _ArrowArray, _ArrowStream
]
_Path: TypeAlias = Union[str, PathLike[str]]

class _Readable(Protocol):
    def read(self) -> bytes: ...

_Source: TypeAlias = Union[_Path, bytes, _Readable, _ArrowArray, _ArrowStream]

class _LoadOptions(TypedDict, total=False):
    format: Literal[
        "auto", "csv", "list", "text", "pyasn", "pfx2as", "netstat", "ipset", "iptables", "nft", "ris-whois", "delegated", "rpsl", "cisco", "mikrotik", "nginx", "json", "routes", "ip-json", "mrt", "mmdb", "lm"
    ]
    delimiter: str | None
    header: bool | None
    prefix: str | int | list[str] | list[int] | tuple[str, str] | tuple[int, int] | None
    columns: list[str] | tuple[str, ...] | dict[str, str] | None
    types: dict[str, type | str] | None
    join: dict[str, _Path] | None
    where: dict[str, str | int] | None
    duplicates: Literal["last", "first", "join", "error"]
    value: Literal["next-hop", "origin-as", "as-path", "peer", "communities"]
    peer: str | int | None
    lenient: bool
    strict: bool

_Out: TypeAlias = Literal["auto", "codes", "values", "arrow"]

# `keys`, `values` and `items` are lists, and the methods that find matches take keys of other types than `str`.
@final
class Table(MutableMapping[str, _V]):
    def __new__(cls, routes: _Routes[_V] | None = None, /, *, strict: bool = True) -> Self: ...
    @property
    def strict(self) -> bool: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: _Key, /) -> _V: ...
    def __setitem__(self, key: _Key, value: _V, /) -> None: ...
    def __delitem__(self, key: _Key, /) -> None: ...
    def __contains__(self, key: _Key, /) -> bool: ...  # type: ignore[override]
    def __iter__(self) -> Iterator[str]: ...
    def __reversed__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    @overload
    def insert(self, prefix: _Key, value: _V, /) -> None: ...
    @overload
    def insert(self, address: _Address, length: SupportsIndex, value: _V, /) -> None: ...
    def delete(self, key: _Key) -> None: ...
    @overload
    def get(self, key: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get(self, key: _Key, default: _W, /) -> _V | _W: ...
    @overload
    def get_key(self, key: _Key, default: None = None, /) -> str | None: ...
    @overload
    def get_key(self, key: _Key, default: _W, /) -> str | _W: ...
    def has_key(self, key: _Key) -> bool: ...
    def parent(self, key: _Key) -> str | None: ...
    def children(self, key: _Key) -> list[str]: ...
    def covering(self, key: _Key) -> list[tuple[str, _V]]: ...
    def covered(self, key: _Key) -> list[tuple[str, _V]]: ...
    def keys(self) -> list[str]: ...  # type: ignore[override]
    def values(self) -> list[_V]: ...  # type: ignore[override]
    def items(self) -> list[tuple[str, _V]]: ...  # type: ignore[override]
    @overload
    def pop(self, key: _Key, /) -> _V: ...
    @overload
    def pop(self, key: _Key, default: _W, /) -> _V | _W: ...
    @overload
    def setdefault(self, key: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def setdefault(self, key: _Key, default: _V, /) -> _V: ...
    def update(self, routes: _Routes[_V]) -> None: ...  # type: ignore[override]
    def popitem(self) -> tuple[str, _V]: ...
    def __or__(self, routes: _Routes[_V], /) -> Table[_V]: ...
    def __ror__(self, value: Any, /) -> Any: ...
    def __ior__(self, routes: _Routes[_V], /) -> Self: ...
    def clear(self) -> None: ...
    def copy(self) -> Table[_V]: ...
    def __copy__(self) -> Table[_V]: ...
    def freeze(self, engine: str = "auto") -> FrozenTable[_V]: ...
    def live(self, engine: str = "auto") -> LiveTable[_V]: ...
    def __setstate__(self, state: Any) -> None: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class FrozenTable(Mapping[str, _V]):
    def __len__(self) -> int: ...
    @overload
    def lookup(self, address: _Address, default: None = None, /) -> _V | None: ...
    @overload
    def lookup(self, address: _Address, default: _W, /) -> _V | _W: ...
    def lookup_prefix(self, address: _Address) -> tuple[str, _V] | None: ...
    # For an array of NumPy or an Arrow column the answers are `Any`: their type is of those packages.
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        prefixes: bool = False,
        out: Literal["arrow"],
        column: str | None = None,
    ) -> ArrowColumn: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        prefixes: bool = False,
        out: Literal["arrow"],
        column: str | None = None,
    ) -> tuple[ArrowColumn, ArrowColumn]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        prefixes: bool = False,
        out: Literal["auto", "values"] = "auto",
        column: None = None,
    ) -> list[_V | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        prefixes: bool = False,
        out: Literal["auto", "values"] = "auto",
        column: None = None,
    ) -> tuple[list[_V | None], list[str | None]]: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: bool = False,
        return_status: bool = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        prefixes: bool = False,
        out: _Out = "auto",
        column: str | list[str] | tuple[str, ...] | None = None,
    ) -> Any: ...
    @property
    def values_by_code(self) -> tuple[_V | None, ...]: ...
    @property
    def prefixes_by_code(self) -> tuple[str | None, ...]: ...
    @property
    def columns(self) -> list[str] | None: ...
    def arrow_type(self, column: str | None = None) -> str | None: ...
    @property
    def engines(self) -> tuple[str, str]: ...
    def __getitem__(self, key: _Key, /) -> _V: ...
    def __contains__(self, key: _Key, /) -> bool: ...  # type: ignore[override]
    def __iter__(self) -> Iterator[str]: ...
    def __reversed__(self) -> Iterator[str]: ...
    @overload
    def get(self, key: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get(self, key: _Key, default: _W, /) -> _V | _W: ...
    @overload
    def get_key(self, key: _Key, default: None = None, /) -> str | None: ...
    @overload
    def get_key(self, key: _Key, default: _W, /) -> str | _W: ...
    def has_key(self, key: _Key) -> bool: ...
    def parent(self, key: _Key) -> str | None: ...
    def children(self, key: _Key) -> list[str]: ...
    def covering(self, key: _Key) -> list[tuple[str, _V]]: ...
    def covered(self, key: _Key) -> list[tuple[str, _V]]: ...
    def keys(self) -> list[str]: ...  # type: ignore[override]
    def values(self) -> list[_V]: ...  # type: ignore[override]
    def items(self) -> list[tuple[str, _V]]: ...  # type: ignore[override]
    def thaw(self) -> Table[_V]: ...
    def save(
        self,
        path: _Path,
        /,
        *,
        answers: Literal["routes", "values"] = "routes",
        database_type: str | None = None,
        languages: list[str] | None = None,
        description: str | dict[str, str] | None = None,
        fields: dict[str, str] | None = None,
        build_time: int | None = None,
        aliases: bool = False,
        drop_compatible: bool = False,
    ) -> None: ...
    def reload(self) -> FrozenTable[_V]: ...
    @property
    def path(self) -> str | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> FrozenTable[_V]: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class LiveTable(Generic[_V]):
    def __len__(self) -> int: ...
    def __setitem__(self, prefix: _Key, value: _V, /) -> None: ...
    def __delitem__(self, prefix: _Key, /) -> None: ...
    def insert(self, prefix: _Key, value: _V) -> None: ...
    def delete(self, prefix: _Key) -> None: ...
    def update(self, routes: _Routes[_V]) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def reader(self) -> LiveReader[_V]: ...
    @overload
    def lookup(self, address: _Address, default: None = None, /) -> _V | None: ...
    @overload
    def lookup(self, address: _Address, default: _W, /) -> _V | _W: ...
    def lookup_prefix(self, address: _Address) -> tuple[str, _V] | None: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["arrow"],
    ) -> ArrowColumn: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["arrow"],
    ) -> tuple[ArrowColumn, ArrowColumn]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values"] = "auto",
    ) -> list[_V | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values"] = "auto",
    ) -> tuple[list[_V | None], list[str | None]]: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: bool = False,
        return_status: bool = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values", "arrow"] = "auto",
    ) -> Any: ...
    def __getitem__(self, key: _Key, /) -> _V: ...
    def __contains__(self, key: _Key, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __reversed__(self) -> Iterator[str]: ...
    @overload
    def get(self, key: _Key, default: None = None, /) -> _V | None: ...
    @overload
    def get(self, key: _Key, default: _W, /) -> _V | _W: ...
    @overload
    def get_key(self, key: _Key, default: None = None, /) -> str | None: ...
    @overload
    def get_key(self, key: _Key, default: _W, /) -> str | _W: ...
    def has_key(self, key: _Key) -> bool: ...
    def parent(self, key: _Key) -> str | None: ...
    def children(self, key: _Key) -> list[str]: ...
    def covering(self, key: _Key) -> list[tuple[str, _V]]: ...
    def covered(self, key: _Key) -> list[tuple[str, _V]]: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[_V]: ...
    def items(self) -> list[tuple[str, _V]]: ...
    def thaw(self) -> Table[_V]: ...
    def freeze(self, engine: str = "auto") -> FrozenTable[_V]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception: type[BaseException] | None,
        _value: BaseException | None,
        _traceback: TracebackType | None,
    ) -> bool: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class LiveReader(Generic[_V]):
    @overload
    def lookup(self, address: _Address, default: None = None, /) -> _V | None: ...
    @overload
    def lookup(self, address: _Address, default: _W, /) -> _V | _W: ...
    def lookup_prefix(self, address: _Address) -> tuple[str, _V] | None: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["arrow"],
    ) -> ArrowColumn: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["arrow"],
    ) -> tuple[ArrowColumn, ArrowColumn]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[False] = False,
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values"] = "auto",
    ) -> list[_V | None]: ...
    @overload
    def lookup_many(
        self,
        addresses: list[Any] | tuple[Any, ...],
        /,
        *,
        return_prefix: Literal[True],
        return_status: Literal[False] = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values"] = "auto",
    ) -> tuple[list[_V | None], list[str | None]]: ...
    @overload
    def lookup_many(
        self,
        addresses: _Addresses,
        /,
        *,
        return_prefix: bool = False,
        return_status: bool = False,
        threads: int | None = None,
        strict: bool = False,
        lenient: bool = False,
        out: Literal["auto", "values", "arrow"] = "auto",
    ) -> Any: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class ArrowColumn:
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Any: ...
    @overload
    def __getitem__(self, index: slice, /) -> ArrowColumn: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_pylist(self) -> list[Any]: ...
    def to_pandas(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...
    def _numpy(self) -> tuple[Any, Any] | None: ...
    @property
    def null_count(self) -> int: ...
    @property
    def type(self) -> str: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

def asn() -> FrozenTable[dict[str, object]]: ...
def load(
    source: _Source | list[_Source] | list[str] | tuple[_Source, ...],
    /,
    *,
    engine: str = "auto",
    **options: Unpack[_LoadOptions],
) -> FrozenTable[Any]: ...
def compile(
    source: FrozenTable[Any] | Table[Any] | _Source | list[_Source] | list[str],
    path: _Path,
    /,
    *,
    answers: Literal["routes", "values"] = "routes",
    **options: Unpack[_LoadOptions],
) -> None: ...
def open(path: _Path, /, *, trust: bool = False, mmap: bool = True) -> FrozenTable[Any]: ...
def _command(words: list[str]) -> int: ...
def _open(path: _Path, trust: bool, mmap: bool, identity: int) -> FrozenTable[Any]: ...
def _freeze(table: Table[_V], engine: str) -> FrozenTable[_V]: ...
def _rows(
    engine: str,
    columns: list[tuple[str, str]],
    prefixes: bytes,
    codes: list[int],
    rows: list[list[Any]],
) -> FrozenTable[Any]: ...
