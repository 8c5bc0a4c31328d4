# Our numbers and claims against the published ones, and the captions that carry the verdicts.


rule verify_numbers:
    input:
        numbers=project.as_found(item.numbers for item in project.judged()),
        manifests=project.as_found(item.manifest for item in project.judged()),
        published=project.published(),
    output:
        table=report(
            "<results>/comparison.csv",
            caption="../report/comparison.rst",
            category="Verdicts",
            labels={"item": "comparison", "shows": "every published number beside ours", "file": "csv"},
        ),
        manifest="<results>/comparison.manifest.json",
    log:
        "<logs>/verify_numbers.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("verify_numbers"),
    message:
        "Comparing our numbers with the published ones"
    script:
        "../scripts/verify_numbers.py"


rule verify_claims:
    input:
        numbers=project.as_found(item.numbers for item in project.judged()),
        manifests=project.as_found(item.manifest for item in project.judged()),
        comparison="<results>/comparison.csv",
        published=project.published(),
    output:
        table=report(
            "<results>/claims.csv",
            caption="../report/claims.rst",
            category="Verdicts",
            labels={"item": "claims", "shows": "every claim with its verdict", "file": "csv"},
        ),
        manifest="<results>/claims.manifest.json",
    log:
        "<logs>/verify_claims.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("verify_claims"),
        label=config["scale"],
    message:
        "Judging the papers' claims"
    script:
        "../scripts/verify_claims.py"


rule write_captions:
    input:
        claims="<results>/claims.csv",
        manifests=project.as_found(item.manifest for item in project.judged()),
        texts=[item.caption_text for item in project.judged()],
    output:
        captions=[item.caption for item in project.judged()],
        manifest="<results>/captions.manifest.json",
    log:
        "<logs>/write_captions.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("write_captions"),
    message:
        "Writing the captions of the report"
    script:
        "../scripts/write_captions.py"


rule plot_verdicts:
    input:
        claims="<results>/claims.csv",
        comparison="<results>/comparison.csv",
        register=in_tree("published/items.tsv"),
        manifests=["<results>/claims.manifest.json", "<results>/comparison.manifest.json"],
    output:
        png=report(
            "<results>/verdicts.png",
            caption="../report/verdicts.rst",
            category="Verdicts",
            labels={"item": "verdicts", "shows": "all claims at a glance", "file": "png"},
        ),
        pdf="<results>/verdicts.pdf",
        manifest="<results>/verdicts.manifest.json",
    log:
        "<logs>/plot_verdicts.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("plot_verdicts"),
        label=config["scale"],
    message:
        "Drawing the verdicts"
    script:
        "../scripts/plot_verdicts.py"
