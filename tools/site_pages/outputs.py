"""Code blocks on narrow screens: rows of a table keep their columns and scroll, sentences wrap."""

import re

_CODE = re.compile(r"(<pre><span></span><code>)(.*?)(</code></pre>)", re.DOTALL)
_ROW = re.compile(r"(?<=\S) {2,}(?=\S).*(?<=\S) {2,}(?=\S)")
"""Three or more columns: words with two gaps of two or more spaces between them."""


def rows_kept(html: str) -> str:
    """Return the HTML of a page in which each row of a table in a code block is an element of the class `row`."""
    return _CODE.sub(lambda code: code[1] + "\n".join(map(_line, code[2].split("\n"))) + code[3], html)


def _line(line: str) -> str:
    whole = line.count("<span") == line.count("</span>")
    is_row = whole and _ROW.search(re.sub(r"<[^>]*>", "", line).strip())
    return f'<span class="row">{line}</span>' if is_row else line
