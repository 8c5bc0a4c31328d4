"""A page that stands alone: pictures inside it, no scripts, nothing to load."""

import base64
import io
from html import escape

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

STYLE = """
body{font:16px/1.55 system-ui,sans-serif;color:#1b1d21;max-width:62rem;margin:2rem auto;padding:0 1.2rem}
h1{font-size:1.7rem;line-height:1.2;margin-bottom:.2rem} h2{font-size:1.2rem;margin-top:2.2rem} .lead{color:#555b65}
img{max-width:100%;height:auto;display:block;margin:.6rem 0}
table{border-collapse:collapse;font-size:.82rem;margin:.6rem 0;width:100%} th,td{padding:.3rem
.35rem;border-bottom:1px solid #e2e4e8;text-align:right}
th:first-child,td:first-child{text-align:left} td small{display:block;color:#6b717c;white-space:nowrap}
thead th{border-bottom:2px solid #1b1d21;vertical-align:bottom} tr.base
td{color:#6b717c} ol li,ul li{margin:.45rem 0} .broken{border-left:4px solid #c8102e;padding:.2rem
.8rem;background:#fbeef0} .stand-in{border-left:4px solid #e07b00;padding:.2rem .8rem;background:#fdf4e7}
code,pre{background:#f3f4f6;padding:.1rem .3rem} pre{padding:.8rem;overflow-x:auto;font-size:.85rem}
dt{font-weight:600} dd{margin:0 0 .5rem 0} .advice{font-size:1.15rem;border-left:4px solid #075faf;padding:.4rem
.8rem;background:#eef4fb} pre{white-space:pre-wrap} ul.ranking{list-style:none;padding:0}
@media (max-width:60rem){table{font-size:.7rem} th,td{padding:.25rem .18rem}}
"""


def picture(figure: Figure, alt: str) -> str:
    """A figure as an image inside the page."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}">'


def table(header: list[str], rows: list[list[str]], *, first_is_base: bool = False) -> str:
    """Rows of cells; what stands behind a cell's ± goes to a line of its own, so that wide tables fit the page."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = []
    for number, row in enumerate(rows):
        mark = ' class="base"' if first_is_base and number == 0 else ""
        lines.append(f"<tr{mark}>" + "".join(f"<td>{two_lines(cell)}</td>" for cell in row) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def two_lines(cell: str) -> str:
    value, sign, interval = cell.partition(" ±")
    return escape(value) + (f"<small>±{escape(interval)}</small>" if sign else "")


def page(title: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )
