"""A table of columns without a dependency, with the interface of resource-tracker's TinyDataFrame."""
import csv
import io
from csv import DictReader
from time import sleep
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Union

PRINTED_ROWS = 10


class StatSpec(NamedTuple):
    """A statistic of a column: `agg` of its known values, under `agg_name` or the name of the function."""

    column: str
    agg: Callable[[List[Any]], Any]
    agg_name: Optional[str] = None
    round: Optional[int] = None  # decimal places; None = as it is


def _value_of(text: Optional[str]) -> Any:
    """A number where the text is one; None for an empty text, which is an unknown value."""
    if text is None or text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _rows_of(lines: Any) -> List[Dict[str, Any]]:
    rows = [{name: _value_of(text) for name, text in row.items() if name is not None or text}
            for row in DictReader(lines)]
    if any(None in row for row in rows):
        raise ValueError("a line has more values than the header has names")
    return rows


def urlopen(url: str) -> Any:
    """urllib's, imported when it is needed: it takes longer to import than all of this package."""
    from urllib.request import urlopen as urllib_urlopen
    return urllib_urlopen(url)


def _read_csv(path: str) -> List[Dict[str, Any]]:
    if path.startswith(("http://", "https://")):
        with urlopen(path) as answer:
            return _rows_of(answer.read().decode("utf-8").splitlines())
    with open(path, encoding="utf-8", newline="") as file:
        return _rows_of(file)


def _read_csv_patiently(path: str, retries: int, delay: float) -> List[Dict[str, Any]]:
    for attempt in range(retries + 1):
        try:
            return _read_csv(path)
        except Exception as error:  # whatever is wrong with the file, another process may be about to complete it
            if attempt == retries:
                raise RuntimeError(f"Failed to read CSV file after {retries + 1} attempts: {path}") from error
            sleep(delay)
            delay *= 2
    raise AssertionError("not reached")


class TinyDataFrame:
    """A table: columns with names, of values of any kind; None is an unknown value.

    data: a dictionary of lists, or a list of dictionaries; csv_file_path: a file or URL of CSV instead.
    retries, retry_delay: how often and after how many seconds a file that cannot be read is tried again; the delay
    doubles each time.

    table["name"] is a column, table[["a", "b"]] a table of some columns, table[3] a row as a dictionary, table[2:5] a
    table of some rows; iteration gives rows.
    """

    def __init__(self, data: Union[Dict[str, List[Any]], List[Dict[str, Any]], None] = None,
                 csv_file_path: Optional[str] = None, retries: int = 0, retry_delay: float = 0.1):
        assert (data is None) != (csv_file_path is None), "give either data or csv_file_path"
        assert data is None or isinstance(data, (dict, list)), "data is a dictionary or a list"
        assert csv_file_path is None or isinstance(csv_file_path, str), "csv_file_path is a text"
        self.columns: List[str] = []
        self._data: List[List[Any]] = []
        if csv_file_path:
            data = _read_csv_patiently(csv_file_path, retries, retry_delay)
        if isinstance(data, dict):
            self.columns, self._data = list(data), list(data.values())
        elif data and isinstance(data[0], dict):
            self.columns = list(dict.fromkeys(name for row in data for name in row))
            self._data = [[row.get(name) for row in data] for name in self.columns]

    @classmethod
    def from_csv_text(cls, text: str) -> "TinyDataFrame":
        """A table of CSV with a header; an empty value is None. A header alone keeps the columns."""
        table = cls(data=_rows_of(io.StringIO(text)))
        if not table.columns and text:
            table.columns = next(csv.reader(io.StringIO(text)))
            table._data = [[] for _ in table.columns]
        return table

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._data[0]) if self.columns else 0

    def _rows(self, which: slice) -> "TinyDataFrame":
        return TinyDataFrame({name: self._column(name)[which] for name in self.columns})

    def _column(self, name: str) -> List[Any]:
        if name not in self.columns:
            raise KeyError(f"Column '{name}' not found")
        return self._data[self.columns.index(name)]

    def __getitem__(self, key: Any) -> Any:
        """A column, some columns, a row or some rows; see the class."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return TinyDataFrame({name: self._column(name) for name in key})
        if isinstance(key, slice):
            return self._rows(key)
        if isinstance(key, int):
            return {name: self._column(name)[key] for name in self.columns}
        raise TypeError(f"Invalid key type: {type(key)}")

    def __setitem__(self, key: str, value: List[Any]) -> None:
        """Sets or adds a column."""
        if not isinstance(key, str):
            raise TypeError(f"Column name must be a string, got {type(key)}")
        if len(self) > 0 and len(value) != len(self):
            raise ValueError(f"Length of values ({len(value)}) must match dataframe length ({len(self)})")
        if key in self.columns:
            self._data[self.columns.index(key)] = value
        else:
            self.columns.append(key)
            self._data.append(value)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """Gives the rows as dictionaries."""
        return (self[i] for i in range(len(self)))

    def head(self, n: int = 5) -> "TinyDataFrame":
        """The first n rows."""
        return self._rows(slice(0, n))

    def tail(self, n: int = 5) -> "TinyDataFrame":
        """The last n rows."""
        return self._rows(slice(-n, None))

    def __repr__(self) -> str:
        size = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns"
        return f"{size}. First row as a dict: {self[0]}" if len(self) else size

    def __str__(self) -> str:
        """The first 10 rows as text, numbers to the right."""
        header = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns:\n"
        if len(self) == 0:
            return header + "Empty dataframe"
        rows = [[str(value) for value in row.values()] for row in self[:PRINTED_ROWS]]
        widths = [max(len(name), *(len(row[i]) for row in rows)) for i, name in enumerate(self.columns)]
        lines = [" | ".join(name.ljust(width) for name, width in zip(self.columns, widths)),
                 "-+-".join("-" * width for width in widths)]
        lines += [" | ".join(_aligned(text, width) for text, width in zip(row, widths)) for row in rows]
        if len(self) > PRINTED_ROWS:
            lines.append("...".ljust(len(lines[0])))
        return header + "\n".join(lines)

    def rename(self, columns: Dict[str, str]) -> "TinyDataFrame":
        """Renames columns, old name to new name, and returns the table itself."""
        for name in columns:
            self._require(name)
        self.columns = [columns.get(name, name) for name in self.columns]
        return self

    def _require(self, name: str) -> None:
        if name not in self.columns:
            raise KeyError(f"Column '{name}' not found in dataframe")

    def to_csv(self, csv_file_path: Optional[str] = None, quote_strings: bool = True) -> Optional[str]:
        """Writes CSV to a file, or returns it as text without one. None becomes an empty value."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC if quote_strings else csv.QUOTE_MINIMAL)
        writer.writerow(self.columns)
        writer.writerows(row.values() for row in self)
        if not csv_file_path:
            return text.getvalue()
        with open(csv_file_path, "w", encoding="utf-8", newline="") as file:
            file.write(text.getvalue())
        return None

    def to_dict(self) -> List[Dict[str, Any]]:
        """The rows as a list of dictionaries."""
        return list(self)

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame. ImportError: pandas is not installed."""
        import pandas
        return pandas.DataFrame(dict(zip(self.columns, self._data)))

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame. ImportError: polars is not installed."""
        import polars
        return polars.DataFrame(dict(zip(self.columns, self._data)))

    def _repr_html_(self) -> str:
        """The first rows as a table of a notebook."""
        from html import escape
        lines = [[escape(name) for name in self.columns]]
        lines += [[escape("" if value is None else str(value)) for value in row.values()] for row in self[:PRINTED_ROWS]]
        body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in line) + "</tr>" for line in lines)
        return f"<table>{body}</table>"

    def stats(self, specs: List[StatSpec]) -> Dict[str, Dict[str, Any]]:
        """Statistics of columns. One without any known value is None.

        One of an unknown column is left out, and so is one of which the function fails, which is logged.
        """
        result: Dict[str, Dict[str, Any]] = {}
        for spec in specs:
            if spec.column not in self.columns:
                continue
            known = [value for value in self._column(spec.column) if value is not None]
            name = spec.agg_name or spec.agg.__name__
            try:
                value = spec.agg(known) if known else None
            except Exception as error:  # the caller's function
                import logging
                logging.getLogger(__name__).error("%s of %s: %s", name, spec.column, error)
                continue
            result.setdefault(spec.column, {})[name] = \
                round(value, spec.round) if value is not None and spec.round is not None else value
        return result


def _aligned(text: str, width: int) -> str:
    try:
        float(text)
    except ValueError:
        return text.ljust(width)
    return text.rjust(width)
