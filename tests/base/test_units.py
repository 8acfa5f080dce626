from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forestcoll.base.units import bandwidth_in, bytes_per_microsecond, data_size, has_known_size, size_name
from refusal import refusal


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("7B", 7),
        ("1K", 2**10),
        ("1Ki", 2**10),
        ("1KiB", 2**10),
        ("1KB", 10**3),
        ("1kB", 10**3),
        ("1kb", 10**3),
        ("1k", 2**10),
        ("1mib", 2**20),
        ("128M", 128 * 2**20),
        ("4G", 4 * 2**30),
        ("4GB", 4 * 10**9),
        ("2T", 2 * 2**40),
        ("2TiB", 2 * 2**40),
        ("2TB", 2 * 10**12),
        ("1P", 2**50),
        ("1e6", 10**6),
        ("1E+6", 10**6),
        ("1e3KB", 10**6),
        ("2.5MiB", 2621440),
        (" 1 GB ", 10**9),
    ],
)
def test_sizes_are_read(text: str, size: int) -> None:
    assert data_size(text) == size


@pytest.mark.parametrize(
    "text", ["", "K", "0", "0.5", "1.5B", "-1K", "1XB", "1KK", "1.2.3K", "1/2K", "1e-3G", "\N{ARABIC-INDIC DIGIT ONE}K"]
)
def test_an_invalid_size_is_refused(text: str) -> None:
    assert refusal(data_size, text) == f"{text!r}; expected a size of 1 byte or more such as 64K, 2.5MiB or 1GB"


@pytest.mark.parametrize(("text", "unit"), [("64Kb", "KB"), ("1Mb", "MB"), ("1Gib", "GiB")])
def test_a_size_that_looks_like_bits_is_refused(text: str, unit: str) -> None:
    assert refusal(data_size, text) == f"{text!r} looks like bits; write a size in bytes, as {unit}"


@pytest.mark.parametrize(
    ("size", "name"),
    [
        (0, "0B"),
        (1, "1B"),
        (999, "999B"),
        (1000, "1KB"),
        (1024, "1KiB"),
        (1500, "1500B"),
        (65536, "64KiB"),
        (100_000, "100KB"),
        (1_024_000, "1024KB"),
        (10**6, "1MB"),
        (2**20, "1MiB"),
        (1000 * 2**20, "1000MiB"),
        (2**30, "1GiB"),
        (87381, "87381B"),
        (123_456, "120.6KiB"),
        (123_456_789, "117.7MiB"),
        (2**60, "1024PiB"),
    ],
)
def test_sizes_are_shown_exactly_if_that_is_short(size: int, name: str) -> None:
    assert size_name(size) == name


@given(st.integers(1, 2**60))
@example(1)
def test_a_shown_size_is_read_back_exactly_or_nearly(size: int) -> None:
    name = size_name(size)
    if "." not in name and len(name) < 9:
        near = Fraction(data_size(name), size)
        assert abs(near - 1) <= Fraction(1, 1000)
    number = name.rstrip("KMGTPiB")
    assert len(number) <= 5


@given(st.integers(1, 99_999), st.sampled_from(["", "K", "KB", "MiB", "GB", "T", "PB"]))
def test_a_size_of_few_digits_is_shown_exactly(number: int, unit: str) -> None:
    size = data_size(f"{number}{unit}")
    assert data_size(size_name(size)) == size


@pytest.mark.parametrize(
    ("value", "unit", "bandwidth"),
    [
        ("400Gb/s", "GB/s", 50),
        ("25GB/s", "GB/s", 25),
        ("200 Gbps", "GB/s", 25),
        ("200 Gbit/s", "GB/s", 25),
        (" 25 GBps ", "GB/s", 25),
        ("1.6Tb/s", "GB/s", 200),
        ("1TB/s", "GB/s", 1000),
        ("100kb/s", "KB/s", Fraction(25, 2)),
        ("1KiB/s", "KB/s", Fraction(128, 125)),
        ("2GiB/s", "MiB/s", 2048),
        ("1/3 GB/s", "Gb/s", Fraction(8, 3)),
        ("1e3MB/s", "GB/s", 1),
        ("8b/s", "B/s", 1),
        ("1 furlongs/d", "furlongs/d", 1),
        ("25/3", "furlongs", Fraction(25, 3)),
        (0.1, "GB/s", Fraction(1, 10)),
        ("-1GB/s", "GB/s", -1),
    ],
)
def test_bandwidths_are_converted_exactly(value: object, unit: str, bandwidth: Fraction) -> None:
    assert bandwidth_in(unit, value) == bandwidth


FURLONGS = "the network's bandwidth_unit 'furlongs', whose size is not known"
LONG = "has more than 60 digits; round it, such as to 25 or '25/3'"
NUMBER = "; write a number such as 25 or '25/3', or one with a unit, '400Gb/s'"


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        ("25Gx/s", "GB/s", "has the unknown unit 'Gx/s'; use one such as GB/s, GiB/s, Gb/s or Gbps"),
        ("25gb/s", "GB/s", "has the unknown unit 'gb/s'; write GB/s (bytes) or Gb/s (bits)"),
        ("25gbit/s", "GB/s", "has the unknown unit 'gbit/s'; write Gbit/s (bits)"),
        (
            "25GB/s",
            "furlongs",
            f"cannot be converted to {FURLONGS}; write a number without a unit",
        ),
        ("GB/s", "GB/s", f"is not a number{NUMBER}"),
        ("1/0GB/s", "GB/s", f"has a zero denominator{NUMBER}"),
        ("1.1.1GB/s", "GB/s", f"is not a number{NUMBER}"),
        (f"{'9' * 61}GB/s", "GB/s", LONG),
        (f"{'9' * 60}TB/s", "B/s", LONG),
        ("1e999999999GB/s", "GB/s", LONG),
        ("25GB/s each", "GB/s", f"is not a number{NUMBER}"),
        (True, "GB/s", f"is not a number{NUMBER}"),
    ],
)
def test_an_invalid_bandwidth_is_named_in_the_error(value: object, unit: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        bandwidth_in(unit, value)
    assert str(caught.value) == message


def test_units_of_known_size() -> None:
    assert all(map(has_known_size, ["B/s", "kB/s", "KB/s", "Mb/s", "GiB/s", "Gbps", "TB/s", "Tbit/s", "b/s"]))
    assert not any(map(has_known_size, ["", "furlongs", "GB", "gb/s", "packets/us"]))
    assert bytes_per_microsecond("GB/s") == 1000
    assert refusal(bytes_per_microsecond, "GB") == (
        "bandwidth_unit is 'GB', whose size in bytes is not known; use one such as GB/s, GiB/s, Gb/s or Gbps"
    )
