# clusterlens: every table and figure of four works on clustering in transformers, as rule targets.
#
# Path grammar (mini sets <resources>, <results> and <logs> to .../mini, so that a stand-in never passes for a result):
#   <resources>/<dataset>/...               retrieved and prepared data, with manifest.json beside it
#   <results>/<paper>/<item>.csv            a table, or the points that a figure shows
#   <results>/<paper>/<item>.{pdf,png}      a figure
#   <results>/<paper>/<item>.manifest.json  where the item comes from
#   <results>/runs/<run>/seed<k>/...        a training run: metrics.csv, weights.safetensors, manifest.json
#   <results>/<item>.<ext>                  the spiking paper's items under their short names
#   <results>/{comparison,claims}.csv       our numbers and verdicts against the published ones
# Papers: spiking (S), transformers (T), emergence (E), attention_clusters (A).

from snakemake.utils import min_version

min_version("9.27")


configfile: "config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/retrieve.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/cluster.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/diagnose.smk"
include: "workflow/rules/render.smk"
include: "workflow/rules/render_particles.smk"
include: "workflow/rules/render_attention.smk"
include: "workflow/rules/verify.smk"


rule all:
    default_target: True
    input:
        item_targets(),
        caption_targets(),
        "<results>/comparison.csv",
        "<results>/claims.csv",
        "<results>/verdicts.png",


rule spiking:
    input:
        item_targets("spiking"),


rule transformers:
    input:
        item_targets("transformers"),


rule emergence:
    input:
        item_targets("emergence"),


rule attention_clusters:
    input:
        item_targets("attention_clusters"),


rule data_only:
    input:
        data_targets(),


onerror:
    print_failures()
