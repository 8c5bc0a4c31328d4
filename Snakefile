# clusterlens: every table and figure of four works on clustering in transformers, as rule targets.
#
# Path grammar (mini and laptop add their name to <resources>, <results> and <logs>, so that neither passes for a result):
#   <resources>/<dataset>/...               retrieved and prepared data, with manifest.json beside it
#   <results>/<paper>/<item>.csv            a table, or the points that a figure shows
#   <results>/<paper>/<item>.{pdf,png}      a figure
#   <results>/<paper>/<item>.manifest.json  where the item comes from
#   <results>/runs/<run>/seed<k>/...        a training run: metrics.csv, weights.safetensors, manifest.json
#   <results>/runs/<phase>/<job>/...        a job's language models: metrics and weights; phase: pretraining, finetuning
#   <results>/<item>.<ext>                  the spiking paper's items under their short names
#   <results>/{comparison,claims}.csv       our numbers and verdicts against the published ones
#   <results>/atlas/index.html              everything above on pages to read
# Papers: spiking (S), transformers (T), emergence (E), attention_clusters (A).

import os
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")

SHIPPED = workflow.current_basedir.join("config/config.yaml").get_path_or_uri(secret_free=True)
OWN = Path("config/config.yaml")  # of another working folder


configfile: os.path.relpath(SHIPPED)


if OWN.is_file() and not OWN.samefile(SHIPPED):

    configfile: str(OWN)


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/retrieve.smk"
include: "workflow/rules/particles.smk"
include: "workflow/rules/attention.smk"
include: "workflow/rules/image_models.smk"
include: "workflow/rules/language.smk"
include: "workflow/rules/probing.smk"
include: "workflow/rules/diagnose.smk"
include: "workflow/rules/verify.smk"
include: "workflow/rules/atlas.smk"


rule all:
    "Every item of the four papers, the comparison, the claims and the atlas (the default)"
    default_target: True
    input:
        project.wanted_targets(),
        [item.caption for item in project.judged()],
        "<results>/comparison.csv",
        "<results>/claims.csv",
        "<results>/verdicts.png",
        "<results>/atlas/index.html",


rule spiking:
    "Every table and figure of S, Clustering in Spiking Transformers"
    input:
        project.targets("spiking"),


rule transformers:
    "Every figure of T, Clustering in Transformers"
    input:
        project.targets("transformers"),


rule emergence:
    "Every figure of E, Emergence of Clustering in Self-Attention"
    input:
        project.targets("emergence"),


rule attention_clusters:
    "Every table and figure of A, Attention Clusters, and the diagnosis"
    input:
        project.targets("attention_clusters"),


rule data_only:
    "Every data set and checkpoint, retrieved and prepared; in mini those that need no network"
    input:
        project.data_targets(),


rule alias_spiking:
    input:
        "<results>/spiking/{file}",
    output:
        "<results>/{file}",
    log:
        "<logs>/alias_spiking/{file}.log",
    wildcard_constraints:
        file=r"(table\d|fig\d\w*|membrane|energy|token_similarity)\.(csv|png|pdf)",
    localrule: True
    conda:
        "envs/base.yaml"
    message:
        "{output} is the spiking paper's {wildcards.file}"
    shell:
        "cp {input:q} {output:q} 2> {log:q}"


if workflow.modifier.is_main_snakefile():
    names = [*project.names(), *(rule.name for rule in workflow.rules)]
    screen = Screen(names, of_run(config, project.cores), lambda: planned(workflow))
    screen.watch()
    describe(workflow.rules)


onerror:
    screen.end()
