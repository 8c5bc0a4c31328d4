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
table{border-collapse:collapse;font-size:.85rem;margin:.6rem 0} .wide{overflow-x:auto} th,td{padding:.3rem
.45rem;border-bottom:1px solid #e2e4e8;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left} thead th{border-bottom:2px solid #1b1d21;vertical-align:bottom} tr.base
td{color:#6b717c} ol li,ul li{margin:.45rem 0} .broken{border-left:4px solid #c8102e;padding:.2rem
.8rem;background:#fbeef0} .stand-in{border-left:4px solid #e07b00;padding:.2rem .8rem;background:#fdf4e7}
code,pre{background:#f3f4f6;padding:.1rem .3rem} pre{padding:.8rem;overflow-x:auto;font-size:.85rem}
dt{font-weight:600} dd{margin:0 0 .5rem 0}
"""


def picture(figure: Figure, alt: str) -> str:
    """A figure as an image inside the page."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{base64.b64encode(stream.getvalue()).decode()}">'


def table(header: list[str], rows: list[list[str]], *, first_is_base: bool = False) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = []
    for number, row in enumerate(rows):
        mark = ' class="base"' if first_is_base and number == 0 else ""
        lines.append(f"<tr{mark}>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def page(title: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )
