# The atlas: everything that was made, on pages that open from the file system.


rule write_atlas:
    input:
        claims="<results>/claims.csv",
        comparison="<results>/comparison.csv",
        picture="<results>/verdicts.png",
        files=project.shown_files(),
        manifests=project.as_found(item.manifest for item in project.judged()),
        texts=[item.caption_text for item in project.items.of()],
        published=project.published(),
    output:
        index="<results>/atlas/index.html",
        ledger="<results>/atlas/ledger.html",
        papers=[f"<results>/atlas/{paper}.html" for paper in PAPERS],
        pages=[item.page for item in project.items],
        style="<results>/atlas/atlas.css",
        code="<results>/atlas/atlas.js",
        report="<results>/atlas/report.rst",
        manifest="<results>/atlas/manifest.json",
    log:
        "<logs>/write_atlas.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("write_atlas"),
        label=config["scale"],
    message:
        "Writing the atlas to {output.index}"
    script:
        "../scripts/write_atlas.py"
