"""Access to the file system, only in this module: reading with a size limit, atomic writing, gzip by file name.

The path `-`, `STANDARD_STREAM`, is standard input or standard output. To name a file that is called `-`, write `./-`.

Files are untrusted. Their size, and the memory that their content will take, are limited before they are parsed
(`resources`). The limits of the parser (depth, digits) are reported as an `InputError` that names the file.
"""

import gzip
import io
import json
import os
import re
import stat
import sys
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TypeAlias, cast
from urllib.parse import quote

from forestcoll.base.endings import note_written
from forestcoll.base.errors import InputError, argument, shown
from forestcoll.base.exact import WrittenFloat
from forestcoll.base.file_kinds import PROGRAM, kind_of_text
from forestcoll.base.folders import make_folder
from forestcoll.base.resources import advice, check_json_memory, check_text_memory, most_text
from forestcoll.base.together import new_part, reported, written_together

MAX_BYTES = 2 * 2**30
"""The largest document that is read, in bytes after decompression (2 GiB): a schedule of thousands of nodes."""

STANDARD_STREAM = Path("-")
"""Standard input when a path is read, standard output when it is written."""

_PIECE_BYTES = 2**20

_unread: list[bytearray] = []
"""Standard input, if `peek_bytes` read it and nothing has read it since; it can be read only once."""


def input_name(path: Path) -> str:
    """Return what messages call a file that is read."""
    return "standard input" if path == STANDARD_STREAM else str(path)


def is_standard_stream(path: Path | None) -> bool:
    """Return whether `path` names standard input or output."""
    return path == STANDARD_STREAM


PathLike: TypeAlias = str | os.PathLike[str]
"""The name of a file: a text, in which `-` is the standard stream, or a path."""


def as_path(path: PathLike) -> Path:
    """Return `path` as a `Path`.

    Raises:
        InputError: `path` is neither a text nor a path.
    """
    if isinstance(path, str):
        return path_of(path)
    if isinstance(path, os.PathLike):
        return Path(path)
    raise InputError(f"{argument(path)} does not name a file; expected a text or a path")


def path_of(text: str) -> Path:
    """Return the path that `text` names; `./-` is made absolute, because `pathlib` shortens it to `-`."""
    path = Path(text)
    return path.absolute() if path == STANDARD_STREAM and text != "-" else path


def file_in(folder: Path, name: object, where: str) -> Path:
    """Return the file that a document in `folder` calls `name`. It is in this folder or in one of its folders.

    Raises:
        InputError: `name` is no text, or leads out of the folder; `where` is the place of the name.
    """
    if not isinstance(name, str) or not name or "\0" in name:
        raise InputError(f"{where} is {shown(name)}; expected the name of a file")
    path = path_of(str(folder / name))
    inside = Path(os.path.realpath(folder))
    is_plain = not Path(name).is_absolute() and ".." not in Path(name).parts
    if not is_plain or not Path(os.path.realpath(path)).is_relative_to(inside):
        raise InputError(f"{where} is {shown(name)}, which is outside the folder; put the file into the folder")
    return path.absolute() if path == STANDARD_STREAM else path


def read_document(path: Path, *, limit: int = MAX_BYTES) -> dict[str, object]:
    """Return the JSON object in the file at `path` (gzip if its name ends in `.gz`), of at most `limit` bytes.

    Numbers with a decimal point or an exponent are returned as `WrittenFloat`, so that no digit is lost.

    Raises:
        InputError: the file is missing, a directory, unreadable, too large, or not one JSON object.
    """
    return parse_document(read_bytes(path, limit=limit), path)


def parse_document(data: bytes | bytearray, path: Path) -> dict[str, object]:
    """Return the JSON object in `data`, the content of the file at `path`, as `read_document` does.

    Raises:
        InputError: `data` is not one JSON object in UTF-8, or takes too much memory.
    """
    name = input_name(path)
    check_json_memory(data, name)
    text = decoded(data, path)
    try:
        document = json.loads(text, parse_float=WrittenFloat, parse_constant=WrittenFloat)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise InputError(f"{name}: the file is empty; expected a JSON object, {{...}}") from None
        if not text.lstrip().startswith(("{", "[")) and (kind := kind_of_text(text)) is not None:
            raise InputError(f"{name}: is {kind.name}, not JSON; {kind.use}") from None
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(
            f"{name}: not valid JSON: {error.msg.removesuffix(' at')} at {where}; fix the file there"
        ) from None
    except RecursionError:
        raise InputError(f"{name}: JSON nested too deeply; a forestcoll file needs at most six levels") from None
    except ValueError:  # the remaining cause: an integer with more digits than Python reads
        raise InputError(f"{name}: holds a number of thousands of digits; write shorter numbers") from None
    if not isinstance(document, dict):
        raise InputError(f"{name}: holds a JSON {_json_type(document)}; expected an object, {{...}}")
    return cast("dict[str, object]", document)


def _json_type(value: object) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def decoded(data: bytes | bytearray, path: Path, *, encoding: str = "utf-8-sig") -> str:
    """Return the text of the file at `path` whose content is `data`.

    Raises:
        InputError: it is not text, or is compressed though its name does not end in `.gz`.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 text (byte {error.start}); save it as UTF-8"
        if data.startswith(b"\x1f\x8b"):
            fault = "compressed with gzip; decompress it"
            if path != STANDARD_STREAM:
                fault = "compressed with gzip, but its name does not end in .gz; decompress it or give it this ending"
        raise InputError(f"{input_name(path)}: {fault}") from None


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytearray:
    """Return the content of the file at `path`, decompressed if its name ends in `.gz`, of at most `limit` bytes.

    Raises:
        InputError: the file is missing, a directory, unreadable, larger than `limit`, or larger than the memory allows.
    """
    fitting = most_text()
    data = _begin_of(path, min(limit, fitting))
    if len(data) > limit:
        raise InputError(f"{input_name(path)}: larger than the limit of {limit >> 20} MiB")
    if len(data) > fitting:
        raise InputError(f"{input_name(path)}: more than {fitting >> 20} MiB, which takes too much memory; {advice()}")
    return data


def peek_bytes(path: Path) -> bytearray:
    """Return what `read_bytes` returns. If `path` is standard input, its next reader gets the same content again.

    Raises:
        InputError: as in `read_bytes`.
    """
    data = read_bytes(path)
    if path == STANDARD_STREAM:
        _unread[:] = [data]
    return data


def read_start(path: Path, length: int = 4096) -> bytes:
    """Return the first `length` bytes of the file at `path`, decompressed if its name ends in `.gz`.

    Raises:
        InputError: the file is missing, a directory, or unreadable.
    """
    return bytes(_begin_of(path, length)[:length])


def holds_program(path: Path) -> bool:
    """Return whether a file begins as a program for a runtime does; standard input can still be read then.

    Raises:
        InputError: as in `read_bytes`; or the file is neither a program nor JSON, as schedules are.
    """
    data = bytes(peek_bytes(path)[:4096]) if path == STANDARD_STREAM else read_start(path)
    start = data.decode("utf-8-sig", errors="replace").lstrip()
    if (kind := kind_of_text(start)) is None and (found := _neither(start)) is not None:
        _unread.clear()
        raise InputError(f"{input_name(path)}: {found}; expected a schedule, MSCCL XML, a plan of MSCCL++ or GOAL")
    return kind is PROGRAM


def _neither(start: str) -> str | None:
    """Return what the beginning of a text of no known kind is, if it is neither MSCCL XML nor JSON."""
    if start.startswith("<"):
        root = _ROOT.search(start)
        return "XML without an element" if root is None else f"XML, but its root is <{root[1]}>, not <algo>"
    line = start.partition("\n")[0]
    is_text = line and not line.startswith(("{", "[")) and "\ufffd" not in line
    return f"neither JSON nor XML: it begins with {shown(line.rstrip())}" if is_text else None


_ROOT = re.compile(r"<([A-Za-z_][\w.:-]*)")
"""The first element of XML."""


def _begin_of(path: Path, length: int) -> bytearray:
    """Return the content of a file, or a little more than its first `length` bytes."""
    try:
        if path != STANDARD_STREAM and path.is_dir():
            raise InputError(f"{path}: is a folder; name a file in it")
        with _open_for_reading(path) as file:
            return _bounded_content(file, length)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(
            f"{path}: not a complete gzip file ({error}), but its name ends in .gz; compress or rename it"
        ) from None
    except OSError as error:
        raise InputError(f"{input_name(path)}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL byte in the name
        raise InputError(f"{str(path)!r}: not a file name: {error}") from None


def read_text(path: Path, *, limit: int = MAX_BYTES) -> str:
    """Return the UTF-8 text of the file at `path`.

    Raises:
        InputError: as in `read_bytes`, or the content is not UTF-8 text, or takes too much memory.
    """
    data = read_bytes(path, limit=limit)
    check_text_memory(data, path)
    return decoded(data, path)


def _bounded_content(file: IO[bytes], limit: int) -> bytearray:
    """Return what `file` contains, or a little more than `limit` bytes; one large read would allocate all of it."""
    data = bytearray()
    while len(data) <= limit and (piece := file.read(_PIECE_BYTES)):
        data += piece
    return data


def _open_for_reading(path: Path) -> IO[bytes]:
    if path == STANDARD_STREAM:
        return io.BytesIO(_unread.pop()) if _unread else open(0, "rb", closefd=False)
    return cast("IO[bytes]", gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def write_bytes(path: Path, chunks: Iterable[bytes]) -> None:
    """Write the bytes in `chunks` to the file at `path`, as `write_text` writes text."""
    _write(path, chunks)


def write_text(path: Path, chunks: Iterable[str | bytes]) -> None:
    """Write the text in `chunks` to `path`, completely or not at all; gzip if its name ends in `.gz`. Bytes are UTF-8.

    The text is written to a temporary file in the same folder, which then replaces `path` in one step. Until then the
    old file stays unchanged. If the process is interrupted or terminated (SIGTERM, SIGHUP), the temporary file is
    removed. Devices, pipes and `STANDARD_STREAM` are written directly. In a block of `written_together`, the file takes
    its place at the end of the block.

    Raises:
        InputError: the file cannot be written (no such folder, no permission, a full disk).
        OSError: standard output cannot be written.
    """
    if path == STANDARD_STREAM:
        with written_together() as files:
            files.streams.append(lambda: _write_standard_output(chunks))
        return
    _write(path, chunks)


def _write_standard_output(chunks: Iterable[str | bytes]) -> None:
    """Write a file to standard output: in UTF-8, also where messages are printed in another encoding."""
    note_written()
    if (buffer := getattr(sys.stdout, "buffer", None)) is None:  # a stream of a notebook or a test
        sys.stdout.writelines(chunk.decode() if isinstance(chunk, bytes) else chunk for chunk in chunks)
        return
    sys.stdout.flush()
    _encode(buffer, chunks)
    buffer.flush()


def check_writable(path: Path) -> None:
    """Check that a file can be written to `path`, before a long computation of what it will hold.

    Raises:
        InputError: there is no such folder, it cannot be written to, or `path` is a folder.
    """
    with reported(path):
        target = _target_of(path)
        if _is_written_directly(path):
            return
        if not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written: the folder {target.parent} does not exist")
        if not os.access(target.parent, os.W_OK):
            raise InputError(f"{path}: cannot be written: Permission denied")


def _write(path: Path, chunks: Iterable[str | bytes]) -> None:
    with reported(path):
        target = _target_of(path)
        is_direct = _is_written_directly(path)
    if is_direct:
        with written_together() as files:
            files.streams.append(lambda: _write_directly(path, chunks))
        return
    with reported(path), new_part(target, path) as part:
        _fill(_new_file(part), chunks, compress=target.suffix == ".gz")
        part.chmod(_mode_for(target))


def _write_directly(path: Path, chunks: Iterable[str | bytes]) -> None:
    with reported(path), path.open("wb") as device:
        _write_chunks(device, chunks, compress=False)


def _target_of(path: Path) -> Path:
    """Return the file that `path` names, which is no link."""
    if "\0" in str(path):
        raise InputError(f"{str(path)!r}: not a file name: embedded null byte")
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it")
    return target


def is_stream(path: Path) -> bool:
    """Return whether `path` names the standard stream, a device or a pipe, also one that leads to a file."""
    return path.parts[:2] == ("/", "dev") or _is_written_directly(path)


def _is_written_directly(path: Path) -> bool:
    """Return whether `path` names a device, a pipe or the standard stream."""
    # check `path`, not its target: /dev/stdout may lead to a pipe, which has no name of its own
    return path == STANDARD_STREAM or (path.exists() and not path.is_dir() and not stat.S_ISREG(path.stat().st_mode))


def _new_file(part: Path) -> IO[bytes]:
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    return open(descriptor, "wb")  # noqa: PTH123 (a descriptor, not a path)


def _fill(file: IO[bytes], chunks: Iterable[str | bytes], *, compress: bool) -> None:
    """Write the chunks to the file, to the disk too, and close it."""
    with file:
        _write_chunks(file, chunks, compress=compress)
        file.flush()
        os.fsync(file.fileno())


def _mode_for(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those of a new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write_chunks(file: IO[bytes], chunks: Iterable[str | bytes], *, compress: bool) -> None:
    if not compress:
        _encode(file, chunks)
        return
    # The header has no name and no time, so that the same schedule gives the same bytes.
    with (
        gzip.GzipFile(filename="", mode="wb", compresslevel=4, fileobj=file, mtime=0) as packed,
        io.BufferedWriter(cast("io.RawIOBase", packed), 2**20) as buffered,
    ):
        _encode(buffered, chunks)


def _encode(file: IO[bytes] | io.BufferedWriter, chunks: Iterable[str | bytes]) -> None:
    for chunk in chunks:
        # half of a surrogate pair, which JSON may hold, is no character
        file.write(chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk)


def write_file_or_folder(path: Path, texts: Mapping[str, str], ending: str) -> list[Path]:
    """Write one text to a file, or several texts to files of a folder, completely or not at all.

    Args:
        path: the file; or the folder, which is made if it does not exist.
        texts: the texts by the names of their files in a folder, without an ending. Characters other than letters,
            digits and `_.-~` are written as in a URL.
        ending: the ending of the files.

    Returns:
        The files.

    Raises:
        InputError: there are several texts and `path` is the name of a file, or a file cannot be written.
    """
    if len(texts) == 1 and not path.is_dir():
        write_text(path, list(texts.values()))
        return [path]
    if is_stream(path) or path.name.endswith(ending):
        names = ", ".join(list(texts)[:3])
        raise InputError(f"{path}: {len(texts)} files are written, for hosts that differ ({names}); name a folder")
    files = [path / f"{quote(name, safe='')}{ending}" for name in texts]
    with written_together():
        make_folder(path)
        for file, text in zip(files, texts.values(), strict=True):
            write_text(file, [text])
    return files
