# Tokens as particles: one job per item runs all its systems side by side.


rule simulate_particles:
    input:
        code=code("simulate_particles"),
    output:
        arrays="<results>/{paper}/data/{item}.npz",
        manifest="<results>/{paper}/data/{item}.manifest.json",
    log:
        "<logs>/simulate_particles/{paper}_{item}.log",
    benchmark:
        "<benchmarks>/simulate_particles/{paper}_{item}.tsv"
    wildcard_constraints:
        paper="|".join(SIMULATED),
        item=simulated_items(below="data/"),
    conda:
        "../../envs/torch.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=lookup(within=config, dpath="simulations/{paper}/{item}"),
        dtype=lookup(within=config, dpath="simulations/dtype"),
        device=lookup(within=config, dpath="device"),
    message:
        "Simulating the particles of {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/simulate_particles.py"
