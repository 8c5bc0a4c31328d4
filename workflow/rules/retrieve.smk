# Data and checkpoints: retrieved once into raw/ (the layout of a mirror), then prepared in one format per kind.
# Everything here runs where Snakemake runs, because compute nodes have no internet. raw/ is no output of a rule but lies
# beside raw.manifest.json: Snakemake deletes outputs before a job starts, and what was retrieved stays until it is replaced.


rule retrieve_dataset:
    input:
        own=project.own_files,
    output:
        manifest="<resources>/{dataset}/raw.manifest.json",
    log:
        "<logs>/retrieve_dataset/{dataset}.log",
    wildcard_constraints:
        dataset=project.retrieved(),
    localrule: True
    conda:
        "../../envs/retrieve.yaml"
    params:
        **project.used("retrieve_dataset", settings=("data/{dataset}", "source")),
        entry=project.entry,
        mirror=project.mirror,
    message:
        "Retrieving {wildcards.dataset}"
    script:
        "../scripts/retrieve_dataset.py"


rule prepare_images:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        images="<resources>/{dataset}/images.npz",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_images/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("images"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_images"),
        entry=project.entry,
    message:
        "Preparing the images of {wildcards.dataset}"
    script:
        "../scripts/prepare_images.py"


rule prepare_documents:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        documents="<resources>/{dataset}/documents.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_documents/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("documents"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_documents", documents="data/{dataset}/documents", min_words="data/{dataset}/min_words"),
        entry=project.entry,
        changed=project.changed_data,
    message:
        "Preparing the documents of {wildcards.dataset}"
    script:
        "../scripts/prepare_documents.py"


rule prepare_text:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        train="<resources>/{dataset}/train.jsonl",
        valid="<resources>/{dataset}/valid.jsonl",
        test="<resources>/{dataset}/test.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_text/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("text"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_text"),
        entry=project.entry,
    message:
        "Preparing the text of {wildcards.dataset}"
    script:
        "../scripts/prepare_text.py"


rule prepare_labelled_text:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        train="<resources>/{dataset}/train.jsonl",
        test="<resources>/{dataset}/test.jsonl",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_labelled_text/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("labelled_text"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_labelled_text"),
        entry=project.entry,
    message:
        "Preparing the labelled texts of {wildcards.dataset}"
    script:
        "../scripts/prepare_labelled_text.py"


rule prepare_table:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        table="<resources>/{dataset}/table.csv",
        sample="<resources>/{dataset}/sample.csv",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_table/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("table"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_table", settings="data/{dataset}"),
        entry=project.entry,
        changed=project.changed_data,
    message:
        "Preparing the table {wildcards.dataset}"
    script:
        "../scripts/prepare_table.py"


rule prepare_picture:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        picture="<resources>/{dataset}/picture.npz",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_picture/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("picture"),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("prepare_picture", size="data/{dataset}/size"),
        entry=project.entry,
        changed=project.changed_data,
    message:
        "Preparing the picture and its mask"
    script:
        "../scripts/prepare_picture.py"


rule prepare_checkpoint:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_checkpoint/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("checkpoint"),
    localrule: True
    conda:
        "../../envs/torch.yaml"
    params:
        **project.used("prepare_checkpoint"),
        entry=project.entry,
    message:
        "Checking the checkpoint {wildcards.dataset}"
    script:
        "../scripts/prepare_checkpoint.py"


rule prepare_tokenizer:
    input:
        raw_manifest="<resources>/{dataset}/raw.manifest.json",
    output:
        tokenizer="<resources>/{dataset}/tokenizer.json",
        manifest="<resources>/{dataset}/manifest.json",
    log:
        "<logs>/prepare_tokenizer/{dataset}.log",
    wildcard_constraints:
        dataset=project.of_kind("tokenizer"),
    localrule: True
    conda:
        "../../envs/torch.yaml"
    params:
        **project.used("prepare_tokenizer"),
        entry=project.entry,
    message:
        "Preparing the tokenizer {wildcards.dataset}"
    script:
        "../scripts/prepare_tokenizer.py"
