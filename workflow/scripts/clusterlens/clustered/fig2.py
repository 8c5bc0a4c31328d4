"""A Fig. 2: the standardised tokens of the three data sets before any attention."""

import pandas as pd
from matplotlib.figure import Figure

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.attention.prepared import Table, picture_tokens
from clusterlens.figures.clouds import feature_clouds
from clusterlens.figures.cluster_points import start_cloud
from clusterlens.metrics.numbers import number


def show(files: dict[str, list[str]]) -> tuple[Figure, pd.DataFrame, list[dict]]:
    clouds = {
        DATA_NAMES[dataset]: picture_tokens(*paths) if dataset == "picture" else Table.load(*paths).tokens()
        for dataset, paths in files.items()
    }
    points = pd.concat([start_cloud(tokens, panel) for panel, tokens in clouds.items()])
    figure = feature_clouds(points, {panel: tokens.features for panel, tokens in clouds.items()})
    return figure, points, [number(panel, "tokens", len(tokens.x)) for panel, tokens in clouds.items()]
