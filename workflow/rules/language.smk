# The small Longformer of paper A: tokenizer, pre-training, fine-tuning, and its tables and figure.

from clusterlens.models.arms import MODEL, TASKS

TOKENIZER = {"roberta": "roberta-tokenizer", "own": "own-tokenizer"}[config["language_model"]["tokenizer"]]
LONGFORMER = {key: f"language_model/{key}" for key in (*MODEL, "window")}
PRETRAINED = project.language_jobs()
FINETUNED = project.language_jobs(window=config["language_model"]["window"])


use rule prepare_tokenizer as train_tokenizer with:
    input:
        text="<resources>/wikitext2/train.jsonl",
        manifest="<resources>/wikitext2/manifest.json",
    output:
        tokenizer="<resources>/own-tokenizer/tokenizer.json",
        manifest="<resources>/own-tokenizer/manifest.json",
    log:
        "<logs>/prepare_tokenizer/own-tokenizer.log",
    params:
        **project.used("prepare_tokenizer", vocabulary="language_model/vocabulary"),
        entry=None,  # nothing is published
    message:
        "Learning a tokenizer from WikiText-2"


rule tokenize_text:
    input:
        train="<resources>/{dataset}/train.jsonl",
        valid="<resources>/{dataset}/valid.jsonl",
        tokenizer=f"<resources>/{TOKENIZER}/tokenizer.json",
        manifests=["<resources>/{dataset}/manifest.json", f"<resources>/{TOKENIZER}/manifest.json"],
    output:
        tokens="<resources>/{dataset}/tokens.npz",
        manifest="<resources>/{dataset}/tokens.manifest.json",
    log:
        "<logs>/tokenize_text/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("text"),
    localrule: True
    conda:
        "../../envs/torch.yaml"
    params:
        **project.used(
            "tokenize_text",
            tokenizer="language_model/tokenizer",
            max_length="language_model/max_sequence_length",
            min_characters="language_model/pretraining/min_characters",
        ),
    message:
        "Tokenising {wildcards.dataset}"
    script:
        "../scripts/tokenize_text.py"


use rule tokenize_text as tokenize_labelled_text with:
    input:
        train="<resources>/{dataset}/train.jsonl",
        test="<resources>/{dataset}/test.jsonl",
        tokenizer=f"<resources>/{TOKENIZER}/tokenizer.json",
        manifests=["<resources>/{dataset}/manifest.json", f"<resources>/{TOKENIZER}/manifest.json"],
    wildcard_constraints:
        dataset=project.of_kind("labelled_text"),
    params:
        **project.used(
            "tokenize_text", tokenizer="language_model/tokenizer", max_length="language_model/max_sequence_length"
        ),


rule pretrain_longformer:
    input:
        tokens="<resources>/wikitext2/tokens.npz",
        upstream="<resources>/wikitext2/tokens.manifest.json",
    output:
        runs=directory("<results>/runs/pretraining/{job}"),
        manifest="<results>/runs/pretraining/{job}.manifest.json",
    log:
        "<logs>/pretrain_longformer/{job}.log",
    benchmark:
        "<benchmarks>/pretrain_longformer/{job}.tsv"
    wildcard_constraints:
        job="|".join(PRETRAINED),
    conda:
        "../../envs/torch.yaml"
    threads: project.training_threads(config["language_model"]["gpus"])
    resources:
        gpu=config["language_model"]["gpus"],
        mem_mb=16000,
        runtime=growing(720),
    params:
        **project.used("pretrain_longformer", phase="language_model/pretraining", device="device", **LONGFORMER),
        runs=lambda wildcards: PRETRAINED[wildcards.job],
        checkpoints=project.language_checkpoints("pretraining"),
    message:
        "Pre-training {wildcards.job}"
    script:
        "../scripts/pretrain_longformer.py"


rule finetune_longformer:
    input:
        pretrained="<results>/runs/pretraining/{job}",
        imdb="<resources>/imdb/tokens.npz",
        sst2="<resources>/sst2/tokens.npz",
        manifests=[
            "<results>/runs/pretraining/{job}.manifest.json",
            *collect("<resources>/{task}/tokens.manifest.json", task=TASKS),
        ],
    output:
        runs=directory("<results>/runs/finetuning/{job}"),
        manifest="<results>/runs/finetuning/{job}.manifest.json",
    log:
        "<logs>/finetune_longformer/{job}.log",
    benchmark:
        "<benchmarks>/finetune_longformer/{job}.tsv"
    wildcard_constraints:
        job="|".join(FINETUNED),
    conda:
        "../../envs/torch.yaml"
    threads: project.training_threads(config["language_model"]["gpus"])
    resources:
        gpu=config["language_model"]["gpus"],
        mem_mb=16000,
        runtime=growing(720),
    params:
        **project.used("finetune_longformer", phase="language_model/finetuning", device="device", **LONGFORMER),
        runs=lambda wildcards: FINETUNED[wildcards.job],
        checkpoints=project.language_checkpoints("finetuning"),
    message:
        "Fine-tuning {wildcards.job}"
    script:
        "../scripts/finetune_longformer.py"


rule plot_pretraining:
    input:
        runs=collect("<results>/runs/pretraining/{job}", job=PRETRAINED),
        manifests=collect("<results>/runs/pretraining/{job}.manifest.json", job=PRETRAINED),
        texts="<resources>/wikitext2/tokens.manifest.json",
    output:
        png=shown("<results>/attention_clusters/fig11.png"),
        pdf="<results>/attention_clusters/fig11.pdf",
        points="<results>/attention_clusters/fig11.csv",
        numbers="<results>/attention_clusters/fig11.numbers.csv",
        manifest="<results>/attention_clusters/fig11.manifest.json",
    log:
        "<logs>/plot_pretraining/fig11.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_pretraining", window="language_model/window"),
        jobs=PRETRAINED,
    message:
        "Drawing attention_clusters/fig11"
    script:
        "../scripts/plot_pretraining.py"


rule table_finetuning:
    input:
        pretrained=collect("<results>/runs/pretraining/{job}", job=FINETUNED),
        finetuned=collect("<results>/runs/finetuning/{job}", job=FINETUNED),
        manifests=collect("<results>/runs/finetuning/{job}.manifest.json", job=FINETUNED),
    output:
        table=shown("<results>/attention_clusters/table1.csv"),
        numbers="<results>/attention_clusters/table1.numbers.csv",
        manifest="<results>/attention_clusters/table1.manifest.json",
    log:
        "<logs>/table_finetuning/table1.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_finetuning", window="language_model/window"),
        jobs=FINETUNED,
    message:
        "Gathering the fine-tuned models"
    script:
        "../scripts/table_finetuning.py"


use rule table_configuration as table_language_configuration with:
    output:
        table=shown("<results>/attention_clusters/{item}.csv"),
        numbers="<results>/attention_clusters/{item}.numbers.csv",
        manifest="<results>/attention_clusters/{item}.manifest.json",
    log:
        "<logs>/table_configuration/attention_clusters_{item}.log",
    wildcard_constraints:
        item="table[23]",
    params:
        **project.used("table_configuration", language_model="language_model"),
        paper="attention_clusters",
    message:
        "Writing the configuration in effect as attention_clusters/{wildcards.item}"
