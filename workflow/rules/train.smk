# ViT against Spikformer (paper S): size, training, head correlations, membrane constants, and their tables and figures.


rule table_complexity:
    input:
        code=code("table_complexity"),
    output:
        table=shown("<results>/spiking/table1.csv"),
        manifest="<results>/spiking/table1.manifest.json",
    log:
        "<logs>/table_complexity/table1.log",
    benchmark:
        "<benchmarks>/table_complexity/table1.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        architecture=PRINTED_ARCHITECTURE,
    message:
        "Counting the parameters and FLOPs of the six variants"
    script:
        "../scripts/table_complexity.py"


rule train_model:
    input:
        images="<resources>/cifar10/images.npz",
        upstream="<resources>/cifar10/manifest.json",
        code=code("train_model"),
    output:
        metrics="<results>/runs/{run}/seed{seed}/metrics.csv",
        weights="<results>/runs/{run}/seed{seed}/weights.safetensors",
        manifest="<results>/runs/{run}/seed{seed}/manifest.json",
    log:
        "<logs>/train_model/{run}_seed{seed}.log",
    benchmark:
        "<benchmarks>/train_model/{run}_seed{seed}.tsv"
    wildcard_constraints:
        run="|".join(RUNS),
        seed=r"\d+",
    conda:
        "../../envs/torch.yaml"
    threads: 4 if config["training"]["gpus"] else 1
    resources:
        gpu=config["training"]["gpus"],
        mem_mb=16000,
        runtime=growing(720),
    params:
        architecture=config["architecture"],
        training=RECIPE,
        seed="{seed}",
        device=config["device"],
        checkpoints=checkpoint_folder,
    message:
        "Training {wildcards.run} with seed {wildcards.seed}"
    script:
        "../scripts/train_model.py"


rule table_final:
    input:
        metrics=collect("<results>/runs/{run}/seed{seed}/metrics.csv", run=VARIANTS, seed=SEEDS),
        manifests=collect("<results>/runs/{run}/seed{seed}/manifest.json", run=VARIANTS, seed=SEEDS),
        code=code("table_final"),
    output:
        table=shown("<results>/spiking/table2.csv"),
        manifest="<results>/spiking/table2.manifest.json",
    log:
        "<logs>/table_final/table2.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **run_list(VARIANTS),
    message:
        "Gathering the final epochs"
    script:
        "../scripts/table_final.py"


rule table_best:
    input:
        metrics=rules.table_final.input.metrics,
        manifests=rules.table_final.input.manifests,
        code=code("table_best"),
    output:
        table=shown("<results>/spiking/table3.csv"),
        manifest="<results>/spiking/table3.manifest.json",
    log:
        "<logs>/table_best/table3.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **run_list(VARIANTS),
    message:
        "Gathering the best of all epochs"
    script:
        "../scripts/table_best.py"


rule plot_training_curves:
    input:
        metrics=rules.table_final.input.metrics,
        manifests=rules.table_final.input.manifests,
        code=code("plot_training_curves"),
    output:
        png=shown("<results>/spiking/{item}.png"),
        pdf="<results>/spiking/{item}.pdf",
        points="<results>/spiking/{item}.csv",
        numbers="<results>/spiking/{item}.numbers.csv",
        manifest="<results>/spiking/{item}.manifest.json",
    log:
        "<logs>/plot_training_curves/{item}.log",
    wildcard_constraints:
        item="fig[3456]",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **run_list(VARIANTS),
    message:
        "Drawing spiking/{wildcards.item}"
    script:
        "../scripts/plot_training_curves.py"


rule evaluate_heads:
    input:
        weights=collect("<results>/runs/{run}/seed{seed}/weights.safetensors", run=RUNS, seed=SEEDS),
        manifests=collect("<results>/runs/{run}/seed{seed}/manifest.json", run=RUNS, seed=SEEDS),
        images="<resources>/cifar10/images.npz",
        code=code("evaluate_heads"),
    output:
        pairs="<results>/spiking/data/heads.csv",
        layers="<results>/spiking/data/head_layers.csv",
        constants="<results>/spiking/data/membrane_constants.csv",
        manifest="<results>/spiking/data/heads.manifest.json",
    log:
        "<logs>/evaluate_heads/heads.log",
    benchmark:
        "<benchmarks>/evaluate_heads/heads.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        **run_list(RUNS),
        architecture=config["architecture"],
        training=RECIPE,
        images=config["training"]["correlation_images"],
        device=config["device"],
    message:
        "Correlating the attention heads of all models"
    script:
        "../scripts/evaluate_heads.py"


rule plot_head_correlations:
    input:
        pairs=rules.evaluate_heads.output.pairs,
        layers=rules.evaluate_heads.output.layers,
        manifest=rules.evaluate_heads.output.manifest,
        code=code("plot_head_correlations"),
    output:
        png=shown("<results>/spiking/{item}.png"),
        pdf="<results>/spiking/{item}.pdf",
        points="<results>/spiking/{item}.csv",
        numbers="<results>/spiking/{item}.numbers.csv",
        manifest="<results>/spiking/{item}.manifest.json",
    log:
        "<logs>/plot_head_correlations/{item}.log",
    wildcard_constraints:
        item="fig[27]",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        layers=config["training"]["correlation_layers"],
    message:
        "Drawing spiking/{wildcards.item}"
    script:
        "../scripts/plot_head_correlations.py"


rule simulate_membrane:
    input:
        constants=rules.evaluate_heads.output.constants,
        upstream=rules.evaluate_heads.output.manifest,
        code=code("simulate_membrane"),
    output:
        points="<results>/spiking/data/membrane.csv",
        manifest="<results>/spiking/data/membrane.manifest.json",
    log:
        "<logs>/simulate_membrane/membrane.log",
    benchmark:
        "<benchmarks>/simulate_membrane/membrane.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        fixed=config["architecture"]["membrane_time_constant"],
        threshold=config["architecture"]["attention_threshold"],
        simulation={
            key: config["simulations"]["spiking"]["fig1"][key]
            for key in ("tokens", "dimension", "beta", "step", "time", "start", "seeds")
        },
    message:
        "Simulating spiking attention at the learned membrane constants"
    script:
        "../scripts/simulate_membrane.py"


rule plot_membrane:
    input:
        layers=rules.evaluate_heads.output.layers,
        constants=rules.evaluate_heads.output.constants,
        particles=rules.simulate_membrane.output.points,
        manifest=rules.simulate_membrane.output.manifest,
        metrics=collect("<results>/runs/{run}/seed{seed}/metrics.csv", run=["spikformer", LEARNED], seed=SEEDS),
        code=code("plot_membrane"),
    output:
        png=shown("<results>/spiking/membrane.png"),
        pdf="<results>/spiking/membrane.pdf",
        points="<results>/spiking/membrane.csv",
        numbers="<results>/spiking/membrane.numbers.csv",
        manifest="<results>/spiking/membrane.manifest.json",
    log:
        "<logs>/plot_membrane/membrane.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **run_list(["spikformer", LEARNED]),
        fixed=config["architecture"]["membrane_time_constant"],
    message:
        "Drawing spiking/membrane"
    script:
        "../scripts/plot_membrane.py"
