# Parameter-free attention: paper A's simulation study, its table of metrics and its figures.

from clusterlens.attention.cases import DATA_NAMES
from clusterlens.clustered.register import READS

CLUSTERING = {
    "iterations": "attention/iterations",
    "standardise": "attention/standardise",
    "windows": "attention/windows",
    "fragment_radius": "attention/fragment_radius",
    "clusters": "attention/clusters/{dataset}",
    "global_tokens": "attention/global_tokens/{dataset}",
    "device": "device",
}
RESAMPLING = {"resample": "data/{dataset}/resample", "seed": "data/{dataset}/seed"}


rule cluster_tokens:
    input:
        picture="<resources>/{dataset}/picture.npz",
        manifest="<resources>/{dataset}/manifest.json",
    output:
        tokens="<results>/attention_clusters/data/{dataset}.npz",
        measures="<results>/attention_clusters/data/{dataset}.measures.csv",
        spectra="<results>/attention_clusters/data/{dataset}.spectra.csv",
        manifest="<results>/attention_clusters/data/{dataset}.manifest.json",
    log:
        "<logs>/cluster_tokens/{dataset}.log",
    benchmark:
        "<benchmarks>/cluster_tokens/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("picture"),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **project.used("cluster_tokens", **CLUSTERING),
    message:
        "Attention clusters of {wildcards.dataset}"
    script:
        "../scripts/cluster_tokens.py"


use rule cluster_tokens as cluster_table with:
    input:
        table="<resources>/{dataset}/table.csv",
        sample="<resources>/{dataset}/sample.csv",
        manifest="<resources>/{dataset}/manifest.json",
    wildcard_constraints:
        dataset=project.of_kind("table"),
    params:
        **project.used("cluster_tokens", **CLUSTERING, **RESAMPLING, samples="attention/samples"),


rule vary_choices:
    input:
        table="<resources>/{dataset}/table.csv",
        sample="<resources>/{dataset}/sample.csv",
        manifest="<resources>/{dataset}/manifest.json",
    output:
        choices="<results>/attention_clusters/data/{dataset}.choices.csv",
        manifest="<results>/attention_clusters/data/{dataset}.choices.manifest.json",
    log:
        "<logs>/vary_choices/{dataset}.log",
    benchmark:
        "<benchmarks>/vary_choices/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("table"),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **project.used("vary_choices", grid="attention/sensitivity", **RESAMPLING),
    message:
        "Varying what the paper leaves open on {wildcards.dataset}"
    script:
        "../scripts/vary_choices.py"


rule table_metrics:
    input:
        measures=collect("<results>/attention_clusters/data/{dataset}.measures.csv", dataset=DATA_NAMES),
        manifests=collect("<results>/attention_clusters/data/{dataset}.manifest.json", dataset=DATA_NAMES),
    output:
        table=shown("<results>/attention_clusters/metrics.csv"),
        numbers="<results>/attention_clusters/metrics.numbers.csv",
        manifest="<results>/attention_clusters/metrics.manifest.json",
    log:
        "<logs>/table_metrics.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_metrics"),
    message:
        "Gathering the metrics of every pattern"
    script:
        "../scripts/table_metrics.py"


rule plot_attention:
    input:
        unpack(lambda wildcards: READS[wildcards.item]),
    output:
        png=shown("<results>/attention_clusters/{item}.png"),
        pdf="<results>/attention_clusters/{item}.pdf",
        points="<results>/attention_clusters/{item}.csv",
        numbers="<results>/attention_clusters/{item}.numbers.csv",
        manifest="<results>/attention_clusters/{item}.manifest.json",
    log:
        "<logs>/plot_attention/{item}.log",
    wildcard_constraints:
        item=project.items.pattern("attention", extension="png"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_attention", "clustered/{item}.py"),
    message:
        "Drawing {wildcards.item} of Attention Clusters"
    script:
        "../scripts/plot_attention.py"


# The figures with attention lines also depend on how many of them are drawn.
use rule plot_attention as plot_links with:
    wildcard_constraints:
        item="fig4|fig5",
    params:
        **project.used("plot_attention", "clustered/{item}.py", settings=("attention", "read_out")),


ruleorder: plot_links > plot_attention
