"""Write the Longformer twin of a RoBERTa checkpoint. Usage: python tools/convert.py <RoBERTa> <new folder>."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "workflow" / "scripts"))

from clusterlens.errors import UserError
from clusterlens.probing.convert import convert


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Write the Longformer twin of a RoBERTa checkpoint.")
    parser.add_argument("source", help="folder of save_pretrained, or hub id")
    parser.add_argument("target", help="new folder")
    parser.add_argument("--window", type=int, default=512, help="tokens in a window, half of them on each side")
    parser.add_argument("--positions", type=int, default=4096, help="longest text in tokens")
    asked = parser.parse_args(words)
    try:
        convert(asked.source, asked.target, window=asked.window, positions=asked.positions)
    except UserError as error:
        sys.exit(f"clusterlens: {error}")


if __name__ == "__main__":
    main()
