# clusterlens: every table and figure of four works on clustering in transformers, as rule targets.
#
# Path grammar (mini sets <resources>, <results> and <logs> to .../mini, so that a stand-in never passes for a result):
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

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


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
    default_target: True
    input:
        project.targets(),
        [item.caption for item in project.judged()],
        "<results>/comparison.csv",
        "<results>/claims.csv",
        "<results>/verdicts.png",
        "<results>/atlas/index.html",


rule spiking:
    input:
        project.targets("spiking"),


rule transformers:
    input:
        project.targets("transformers"),


rule emergence:
    input:
        project.targets("emergence"),


rule attention_clusters:
    input:
        project.targets("attention_clusters"),


rule data_only:
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


onerror:
    project.print_failures()
