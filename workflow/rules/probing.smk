# Inside pretrained models (papers T, E and A): jobs that capture write small files, jobs that draw read only those.

from clusterlens.probed.register import ALBERT, READS as PROBED


rule train_stand_in:
    input:
        train="<resources>/wikitext2/train.jsonl",
        valid="<resources>/wikitext2/valid.jsonl",
        upstream="<resources>/wikitext2/manifest.json",
    output:
        metrics="<resources>/{dataset}/training.csv",
        manifest="<resources>/{dataset}/raw.manifest.json",
    log:
        "<logs>/train_stand_in/{dataset}.log",
    benchmark:
        "<benchmarks>/train_stand_in/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.trained_here(),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **project.used("train_stand_in", settings="probing/stand_in"),
        entry=project.entry,
        checkpoints=project.stand_in_folder,
    message:
        "Training a tiny checkpoint for {wildcards.dataset}"
    script:
        "../scripts/train_stand_in.py"


rule probe_similarity:
    input:
        checkpoint="<resources>/{dataset}/manifest.json",
        text="<resources>/wikitext2/train.jsonl",
        manifest="<resources>/wikitext2/manifest.json",
    output:
        table="<results>/probing/{dataset}.similarity.csv",
        histograms="<results>/probing/{dataset}.histograms.csv",
        manifest="<results>/probing/{dataset}.similarity.manifest.json",
    log:
        "<logs>/probe_similarity/{dataset}.log",
    benchmark:
        "<benchmarks>/probe_similarity/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("checkpoint"),
    conda:
        "../../envs/torch.yaml"
    threads: project.probing_threads
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        **project.used(
            "probe_similarity",
            settings="probing/similarity",
            tokenizer="data/{dataset}/tokenizer",
            device="device",
        ),
    message:
        "Token similarity by layer of {wildcards.dataset}"
    script:
        "../scripts/probe_similarity.py"


rule probe_heads:
    input:
        checkpoint="<resources>/{dataset}/manifest.json",
        text="<resources>/c4/documents.jsonl",
        manifest="<resources>/c4/manifest.json",
    output:
        arrays="<results>/probing/{dataset}.heads.npz",
        by_text="<results>/probing/{dataset}.heads_by_text.csv",
        by_head="<results>/probing/{dataset}.heads_by_head.csv",
        manifest="<results>/probing/{dataset}.heads.manifest.json",
    log:
        "<logs>/probe_heads/{dataset}.log",
    benchmark:
        "<benchmarks>/probe_heads/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("checkpoint"),
    conda:
        "../../envs/torch.yaml"
    threads: project.probing_threads
    resources:
        gpu=config["probing"]["gpus"],
        mem_mb=8000,
        runtime=growing(240),
    params:
        **project.used(
            "probe_heads",
            settings="probing/head_correlation",
            tokenizer="data/{dataset}/tokenizer",
            device="device",
        ),
    message:
        "Attention heads of {wildcards.dataset}"
    script:
        "../scripts/probe_heads.py"


rule read_heads:
    input:
        manifest="<resources>/{dataset}/manifest.json",
    output:
        heads="<results>/probing/{dataset}.weights.npz",
        spectra="<results>/probing/{dataset}.spectra.npz",
        manifest="<results>/probing/{dataset}.weights.manifest.json",
    log:
        "<logs>/read_heads/{dataset}.log",
    benchmark:
        "<benchmarks>/read_heads/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("checkpoint"),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        **project.used("read_heads"),
    message:
        "The heads of {wildcards.dataset}"
    script:
        "../scripts/read_heads.py"


rule simulate_heads:
    input:
        heads=f"<results>/probing/{ALBERT}.weights.npz",
        upstream=f"<results>/probing/{ALBERT}.weights.manifest.json",
    output:
        arrays="<results>/{paper}/data/{item}.npz",
        manifest="<results>/{paper}/data/{item}.manifest.json",
    log:
        "<logs>/simulate_heads/{paper}_{item}.log",
    benchmark:
        "<benchmarks>/simulate_heads/{paper}_{item}.tsv"
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("trained_heads", extension="png", below="data/") or NOTHING,
    conda:
        "../../envs/torch.yaml"
    threads: project.probing_threads
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        **project.used(
            "simulate_heads",
            settings="probing/flows/{paper}/{item}",
            head="probing/head",
            dtype="simulations/dtype",
            device="device",
        ),
    message:
        "Simulating tokens under trained heads for {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/simulate_heads.py"


rule probe_layers:
    input:
        checkpoint="<resources>/{dataset}/manifest.json",
        text="<resources>/wikitext2/test.jsonl",
        manifest="<resources>/wikitext2/manifest.json",
    output:
        measures="<results>/probing/{dataset}.layers.csv",
        spectra="<results>/probing/{dataset}.eigenvalues.csv",
        manifest="<results>/probing/{dataset}.layers.manifest.json",
    log:
        "<logs>/probe_layers/{dataset}.log",
    benchmark:
        "<benchmarks>/probe_layers/{dataset}.tsv"
    wildcard_constraints:
        dataset=project.of_kind("checkpoint"),
    conda:
        "../../envs/torch.yaml"
    threads: project.probing_threads
    resources:
        mem_mb=8000,
        runtime=growing(120),
    params:
        **project.used(
            "probe_layers",
            settings="probing/layers",
            text="probing/text",
            tokenizer="data/{dataset}/tokenizer",
            device="device",
        ),
    message:
        "Every layer of {wildcards.dataset}"
    script:
        "../scripts/probe_layers.py"


rule plot_probed:
    input:
        unpack(lambda wildcards: PROBED[wildcards.paper, wildcards.item]),
    output:
        png=shown("<results>/{paper}/{item}.png"),
        pdf="<results>/{paper}/{item}.pdf",
        points="<results>/{paper}/{item}.csv",
        numbers="<results>/{paper}/{item}.numbers.csv",
        manifest="<results>/{paper}/{item}.manifest.json",
    log:
        "<logs>/plot_probed/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("probing", extension="png") or NOTHING,
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_probed", "probed/{paper}_{item}.py"),
    message:
        "Drawing {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/plot_probed.py"
