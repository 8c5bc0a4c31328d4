# Tokens as particles: one job per item simulates all its systems side by side; others draw, film and turn them.


rule simulate_particles:
    output:
        arrays="<results>/{paper}/data/{item}.npz",
        manifest="<results>/{paper}/data/{item}.manifest.json",
    log:
        "<logs>/simulate_particles/{paper}_{item}.log",
    benchmark:
        "<benchmarks>/simulate_particles/{paper}_{item}.tsv"
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("particles", extension="png", below="data/"),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **project.used(
            "simulate_particles", settings="simulations/{paper}/{item}", dtype="simulations/dtype", device="device"
        ),
    message:
        "Simulating the particles of {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/simulate_particles.py"


rule plot_particles:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
    output:
        png=shown("<results>/{paper}/{item}.png"),
        pdf="<results>/{paper}/{item}.pdf",
        points="<results>/{paper}/{item}.csv",
        numbers="<results>/{paper}/{item}.numbers.csv",
        manifest="<results>/{paper}/{item}.manifest.json",
    log:
        "<logs>/plot_particles/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("particles", "trained_heads", extension="png"),
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_particles", "simulated/{paper}.py"),
    message:
        "Drawing {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/plot_particles.py"


rule animate_particles:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
    output:
        gif=shown("<results>/{paper}/{item}.gif"),
        mp4="<results>/{paper}/{item}.mp4",
        manifest="<results>/{paper}/{item}.film.manifest.json",
    log:
        "<logs>/animate_particles/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("particles", "trained_heads", extension="gif"),
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("animate_particles", "simulated/{paper}.py", frames="simulations/frames"),
    message:
        "Animating {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/animate_particles.py"


rule plot_turnable:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
    output:
        page=shown("<results>/{paper}/{item}.html"),
        manifest="<results>/{paper}/{item}.page.manifest.json",
    log:
        "<logs>/plot_turnable/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(PAPERS),
        item=project.items.pattern("particles", "trained_heads", extension="html"),
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_turnable", "simulated/{paper}.py"),
    message:
        "Writing the turnable view of {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/plot_turnable.py"
