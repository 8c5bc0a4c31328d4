# ViT against Spikformer (paper S): size, training, head correlations, membrane constants, and their tables and figures.


rule table_complexity:
    output:
        table=shown("<results>/spiking/table1.csv"),
        numbers="<results>/spiking/table1.numbers.csv",
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
        **project.used("table_complexity"),
        architecture=project.shipped["architecture"],  # the printed models, whatever smaller ones are trained
    message:
        "Counting the parameters and FLOPs of the six variants"
    script:
        "../scripts/table_complexity.py"


rule train_model:
    input:
        images="<resources>/cifar10/images.npz",
        upstream="<resources>/cifar10/manifest.json",
    output:
        metrics="<results>/runs/{run}/seed{seed}/metrics.csv",
        weights="<results>/runs/{run}/seed{seed}/weights.safetensors",
        manifest="<results>/runs/{run}/seed{seed}/manifest.json",
    log:
        "<logs>/train_model/{run}_seed{seed}.log",
    benchmark:
        "<benchmarks>/train_model/{run}_seed{seed}.tsv"
    wildcard_constraints:
        run="|".join(project.runs),
        seed=r"\d+",
    conda:
        "../../envs/torch.yaml"
    threads: project.training_threads(config["training"]["gpus"])
    resources:
        gpu=config["training"]["gpus"],
        mem_mb=16000,
        runtime=growing(720),
    params:
        **project.used("train_model", architecture="architecture", training=("training", "experiment"), device="device"),
        seed="{seed}",
        checkpoints=project.checkpoint_folder,
    message:
        "Training {wildcards.run} with seed {wildcards.seed}"
    script:
        "../scripts/train_model.py"


rule table_final:
    input:
        metrics=collect("<results>/runs/{run}/seed{seed}/metrics.csv", run=VARIANTS, seed=project.seeds),
        manifests=collect("<results>/runs/{run}/seed{seed}/manifest.json", run=VARIANTS, seed=project.seeds),
    output:
        table=shown("<results>/spiking/table2.csv"),
        numbers="<results>/spiking/table2.numbers.csv",
        manifest="<results>/spiking/table2.manifest.json",
    log:
        "<logs>/table_final/table2.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_final"),
        **project.run_list(VARIANTS),
    message:
        "Gathering the final epochs"
    script:
        "../scripts/table_final.py"


rule table_best:
    input:
        metrics=rules.table_final.input.metrics,
        manifests=rules.table_final.input.manifests,
    output:
        table=shown("<results>/spiking/table3.csv"),
        numbers="<results>/spiking/table3.numbers.csv",
        manifest="<results>/spiking/table3.manifest.json",
    log:
        "<logs>/table_best/table3.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_best"),
        **project.run_list(VARIANTS),
    message:
        "Gathering the best of all epochs"
    script:
        "../scripts/table_best.py"


rule plot_training_curves:
    input:
        metrics=rules.table_final.input.metrics,
        manifests=rules.table_final.input.manifests,
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
        **project.used("plot_training_curves"),
        **project.run_list(VARIANTS),
    message:
        "Drawing spiking/{wildcards.item}"
    script:
        "../scripts/plot_training_curves.py"


rule evaluate_heads:
    input:
        weights=collect("<results>/runs/{run}/seed{seed}/weights.safetensors", run=project.runs, seed=project.seeds),
        manifests=collect("<results>/runs/{run}/seed{seed}/manifest.json", run=project.runs, seed=project.seeds),
        images="<resources>/cifar10/images.npz",
    output:
        pairs="<results>/spiking/data/heads.csv",
        layers="<results>/spiking/data/head_layers.csv",
        tokens="<results>/spiking/data/tokens.csv",
        operations="<results>/spiking/data/operations.csv",
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
        runtime=growing(120),
    params:
        **project.used(
            "evaluate_heads",
            architecture="architecture",
            training=("training", "experiment"),
            images="training/correlation_images",
            device="device",
        ),
        **project.run_list(project.runs),
    message:
        "Measuring heads, tokens and operations of all models"
    script:
        "../scripts/evaluate_heads.py"


rule plot_head_correlations:
    input:
        pairs=rules.evaluate_heads.output.pairs,
        layers=rules.evaluate_heads.output.layers,
        manifest=rules.evaluate_heads.output.manifest,
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
        **project.used("plot_head_correlations", layers="training/correlation_layers"),
    message:
        "Drawing spiking/{wildcards.item}"
    script:
        "../scripts/plot_head_correlations.py"


rule plot_token_similarity:
    input:
        tokens=rules.evaluate_heads.output.tokens,
        layers=rules.evaluate_heads.output.layers,
        manifest=rules.evaluate_heads.output.manifest,
    output:
        png=shown("<results>/spiking/token_similarity.png"),
        pdf="<results>/spiking/token_similarity.pdf",
        points="<results>/spiking/token_similarity.csv",
        numbers="<results>/spiking/token_similarity.numbers.csv",
        manifest="<results>/spiking/token_similarity.manifest.json",
    log:
        "<logs>/plot_token_similarity/token_similarity.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_token_similarity"),
    message:
        "Drawing spiking/token_similarity"
    script:
        "../scripts/plot_token_similarity.py"


rule table_energy:
    input:
        operations=rules.evaluate_heads.output.operations,
        manifest=rules.evaluate_heads.output.manifest,
    output:
        table=shown("<results>/spiking/energy.csv"),
        numbers="<results>/spiking/energy.numbers.csv",
        manifest="<results>/spiking/energy.manifest.json",
    log:
        "<logs>/table_energy/energy.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_energy"),
    message:
        "Counting operations and energy of the six variants"
    script:
        "../scripts/table_energy.py"


rule simulate_membrane:
    input:
        constants=rules.evaluate_heads.output.constants,
        upstream=rules.evaluate_heads.output.manifest,
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
        **project.used(
            "simulate_membrane",
            fixed="architecture/membrane_time_constant",
            threshold="architecture/attention_threshold",
            simulation="simulations/spiking/fig1",
        ),
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
        metrics=collect("<results>/runs/{run}/seed{seed}/metrics.csv", run=["spikformer", LEARNED], seed=project.seeds),
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
        **project.used("plot_membrane", fixed="architecture/membrane_time_constant"),
        **project.run_list(["spikformer", LEARNED]),
    message:
        "Drawing spiking/membrane"
    script:
        "../scripts/plot_membrane.py"


rule table_configuration:
    output:
        table=shown("<results>/spiking/{item}.csv"),
        numbers="<results>/spiking/{item}.numbers.csv",
        manifest="<results>/spiking/{item}.manifest.json",
    log:
        "<logs>/table_configuration/spiking_{item}.log",
    wildcard_constraints:
        item="table4",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("table_configuration", architecture="architecture", training=("training", "experiment")),
        paper="spiking",
    message:
        "Writing the configuration in effect as spiking/{wildcards.item}"
    script:
        "../scripts/table_configuration.py"
