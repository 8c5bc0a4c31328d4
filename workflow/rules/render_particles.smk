# Figures, animations and turnable views of the simulated items.


rule plot_particles:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
        code=code("plot_particles"),
    output:
        png=shown("<results>/{paper}/{item}.png"),
        pdf="<results>/{paper}/{item}.pdf",
        points="<results>/{paper}/{item}.csv",
        numbers="<results>/{paper}/{item}.numbers.csv",
        manifest="<results>/{paper}/{item}.manifest.json",
    log:
        "<logs>/plot_particles/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(SIMULATED),
        item=simulated_items(),
    conda:
        "../../envs/base.yaml"
    message:
        "Drawing {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/plot_particles.py"


rule animate_particles:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
        code=code("animate_particles"),
    output:
        gif=shown("<results>/{paper}/{item}.gif"),
        mp4="<results>/{paper}/{item}.mp4",
        manifest="<results>/{paper}/{item}.film.manifest.json",
    log:
        "<logs>/animate_particles/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(SIMULATED),
        item=simulated_items("gif"),
    conda:
        "../../envs/base.yaml"
    params:
        frames=lookup(within=config, dpath="simulations/frames"),
    message:
        "Animating {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/animate_particles.py"


rule plot_turnable:
    input:
        arrays="<results>/{paper}/data/{item}.npz",
        upstream="<results>/{paper}/data/{item}.manifest.json",
        template="workflow/scripts/clusterlens/figures/particle_viewer.html",
        code=code("plot_turnable"),
    output:
        page=shown("<results>/{paper}/{item}.html"),
        manifest="<results>/{paper}/{item}.page.manifest.json",
    log:
        "<logs>/plot_turnable/{paper}_{item}.log",
    wildcard_constraints:
        paper="|".join(SIMULATED),
        item=simulated_items("html"),
    conda:
        "../../envs/base.yaml"
    message:
        "Writing the turnable view of {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/plot_turnable.py"
