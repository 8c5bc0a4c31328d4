# Parameter-free attention: paper A's simulation study.


rule cluster_picture:
    input:
        picture="<resources>/{dataset}/picture.npz",
        manifest="<resources>/{dataset}/manifest.json",
        code=code("cluster_picture"),
    output:
        tokens="<results>/attention_clusters/data/{dataset}.npz",
        measures="<results>/attention_clusters/data/{dataset}.measures.csv",
        manifest="<results>/attention_clusters/data/{dataset}.manifest.json",
    log:
        "<logs>/cluster_picture/{dataset}.log",
    benchmark:
        "<benchmarks>/cluster_picture/{dataset}.tsv"
    wildcard_constraints:
        dataset="picture",
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        study=lookup(within=config, dpath="attention"),
        clusters=lookup(within=config, dpath="attention/clusters/{dataset}"),
        global_tokens=lookup(within=config, dpath="attention/global_tokens/{dataset}"),
        device=lookup(within=config, dpath="device"),
    message:
        "Attention clusters of the picture's pixels"
    script:
        "../scripts/cluster_picture.py"


rule cluster_table:
    input:
        table="<resources>/{dataset}/table.csv",
        sample="<resources>/{dataset}/sample.csv",
        manifest="<resources>/{dataset}/manifest.json",
        code=code("cluster_table"),
    output:
        tokens="<results>/attention_clusters/data/{dataset}.npz",
        measures="<results>/attention_clusters/data/{dataset}.measures.csv",
        spectra="<results>/attention_clusters/data/{dataset}.spectra.csv",
        links="<results>/attention_clusters/data/{dataset}.links.csv",
        manifest="<results>/attention_clusters/data/{dataset}.manifest.json",
    log:
        "<logs>/cluster_table/{dataset}.log",
    benchmark:
        "<benchmarks>/cluster_table/{dataset}.tsv"
    wildcard_constraints:
        dataset="diabetes|heart",
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        study=lookup(within=config, dpath="attention"),
        data=lookup(within=config, dpath="data/{dataset}"),
        clusters=lookup(within=config, dpath="attention/clusters/{dataset}"),
        global_tokens=lookup(within=config, dpath="attention/global_tokens/{dataset}"),
        device=lookup(within=config, dpath="device"),
    message:
        "Attention clusters of the table {wildcards.dataset}"
    script:
        "../scripts/cluster_table.py"
