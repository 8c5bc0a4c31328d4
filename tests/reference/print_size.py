"""The sizes of the text in a figure's PDF, when it is printed at most 17.5 cm wide."""

import re
import zlib
from pathlib import Path

PAGE = 17.5 / 2.54 * 72  # points
SUPERSCRIPT = 0.7  # of the text around it: what Matplotlib makes of an exponent


def printed_sizes(pdf: Path) -> list[float]:
    """Font sizes in points, each once; exponents count as the text that they belong to."""
    data = pdf.read_bytes()
    left, _, right, _ = map(float, re.search(rb"/MediaBox \[ ?([\d. ]+)\]", data)[1].split())
    drawn = b"".join(inflated(part) for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL))
    sizes = {float(size) for size in re.findall(rb"/F\S* ([\d.]+) Tf", drawn)}
    own = {size for size in sizes if not any(abs(size - SUPERSCRIPT * other) < 0.01 for other in sizes)}
    return sorted(size * min(1, PAGE / (right - left)) for size in own)


def inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""
