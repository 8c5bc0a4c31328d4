"""The `snakemake` command of the project's environment: Snakemake itself, with targets told apart from option values.

Snakemake's parser lets `--resources`, `--config` and their like take every word that follows, so that
`snakemake --cores 1 --resources gpu=1 results/table2.csv` fails. Here a word that cannot be a value of such an option
(no `=`, or for --configfile no YAML or JSON suffix) is taken for a target, as the user meant it.
"""

import sys

ASSIGNMENTS = {
    "--resources",
    "--res",
    "--config",
    "-C",
    "--default-resources",
    "--default-res",
    "--set-threads",
    "--set-resources",
    "--set-scatter",
    "--set-resource-scopes",
}
CONFIG_FILES = {"--configfile", "--configfiles"}


def is_value(option: str, word: str) -> bool:
    """Whether `word` can be one of the values that follow `option`."""
    if option in ASSIGNMENTS:
        return "=" in word
    return word.endswith((".yaml", ".yml", ".json"))


def rearrange(words: list[str]) -> list[str]:
    """The same command line with misplaced targets moved to its end, behind `--`."""
    if "--" in words:
        end = words.index("--")
        words, given = words[:end], words[end + 1 :]
    else:
        given = []
    kept: list[str] = []
    moved: list[str] = []
    option = None
    for word in words:
        if word.startswith("-"):
            name = word.split("=", 1)[0]
            option = name if name in ASSIGNMENTS | CONFIG_FILES else None
            kept.append(word)
        elif option and not is_value(option, word):
            moved.append(word)
        else:
            kept.append(word)
    targets = moved + given
    return [*kept, "--", *targets] if targets else kept


def main() -> None:
    from snakemake.cli import main as snakemake

    sys.argv[1:] = rearrange(sys.argv[1:])
    snakemake()


if __name__ == "__main__":
    main()
