# Data and checkpoints: retrieved once into raw/ (the layout of a mirror), then prepared in one format per kind.
# Everything here runs where Snakemake runs, because compute nodes have no internet.


rule retrieve_dataset:
    input:
        own=own_files,
        code=code("retrieve_dataset"),
    output:
        raw=directory("<resources>/{dataset}/raw"),
        manifest="<resources>/{dataset}/raw.manifest.json",
    log:
        "<logs>/retrieve_dataset/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(DATASETS),
    localrule: True
    conda:
        "../../envs/retrieve.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
        settings=retrieval_settings,
        mirror=mirror_for,
    message:
        "Retrieving {wildcards.dataset}"
    script:
        "../scripts/retrieve_dataset.py"


rule prepare_images:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_images"),
    output:
        images="<resources>/{dataset}/images.npz",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_images/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("images"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
    message:
        "Preparing the images of {wildcards.dataset}"
    script:
        "../scripts/prepare_images.py"


rule prepare_documents:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_documents"),
    output:
        documents="<resources>/{dataset}/documents.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_documents/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("documents"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
        documents=lookup(within=config, dpath="data/{dataset}/documents"),
        min_words=lookup(within=config, dpath="data/{dataset}/min_words"),
    message:
        "Preparing the documents of {wildcards.dataset}"
    script:
        "../scripts/prepare_documents.py"


rule prepare_text:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_text"),
    output:
        train="<resources>/{dataset}/train.jsonl",
        valid="<resources>/{dataset}/valid.jsonl",
        test="<resources>/{dataset}/test.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_text/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("text"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
    message:
        "Preparing the text of {wildcards.dataset}"
    script:
        "../scripts/prepare_text.py"


rule prepare_labelled_text:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_labelled_text"),
    output:
        train="<resources>/{dataset}/train.jsonl",
        test="<resources>/{dataset}/test.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_labelled_text/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("labelled_text"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
    message:
        "Preparing the labelled texts of {wildcards.dataset}"
    script:
        "../scripts/prepare_labelled_text.py"


rule prepare_table:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_table"),
    output:
        table="<resources>/{dataset}/table.csv",
        sample="<resources>/{dataset}/sample.csv",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_table/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("table"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
        settings=lookup(within=config, dpath="data/{dataset}"),
    message:
        "Preparing the table {wildcards.dataset}"
    script:
        "../scripts/prepare_table.py"


rule prepare_picture:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_picture"),
    output:
        picture="<resources>/{dataset}/picture.npz",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_picture/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("picture"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
        size=lookup(within=config, dpath="data/{dataset}/size"),
    message:
        "Preparing the picture and its mask"
    script:
        "../scripts/prepare_picture.py"


rule prepare_checkpoint:
    input:
        raw="<resources>/{dataset}/raw",
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
        code=code("prepare_checkpoint"),
    output:
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_checkpoint/{dataset}.log",
    wildcard_constraints:
        dataset=names_of("checkpoint"),
    localrule: True
    conda:
        "../../envs/torch.yaml"
    params:
        entry=lookup(within=DATASETS, dpath="{dataset}"),
    message:
        "Checking the checkpoint {wildcards.dataset}"
    script:
        "../scripts/prepare_checkpoint.py"
