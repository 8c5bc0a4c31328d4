# Paper A's Appendix B as a tool: attention patterns on any data, compared with global attention.


rule diagnose_patterns:
    input:
        own=project.diagnosed_files(),
        example=project.diagnosed_example(),
    output:
        tokens="<results>/diagnose/tokens.npz",
        measures="<results>/diagnose/measures.csv",
        spectra="<results>/diagnose/spectra.csv",
        outcome="<results>/diagnose/outcome.json",
        manifest="<results>/diagnose/outcome.manifest.json",
    log:
        "<logs>/diagnose_patterns.log",
    benchmark:
        "<benchmarks>/diagnose_patterns.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: 2
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        **project.used("diagnose_patterns", settings="diagnose", device="device"),
    message:
        "Comparing attention patterns with global attention"
    script:
        "../scripts/diagnose_patterns.py"


rule page_diagnosis:
    input:
        tokens="<results>/diagnose/tokens.npz",
        measures="<results>/diagnose/measures.csv",
        spectra="<results>/diagnose/spectra.csv",
        outcome="<results>/diagnose/outcome.json",
        manifest="<results>/diagnose/outcome.manifest.json",
    output:
        page="<results>/diagnose/report.html",
        ranking="<results>/diagnose/ranking.csv",
        manifest="<results>/diagnose/report.manifest.json",
    log:
        "<logs>/page_diagnosis.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        **project.used("page_diagnosis", settings="diagnose"),
    message:
        "Writing the diagnosis to {output.page}"
    script:
        "../scripts/page_diagnosis.py"


rule alias_diagnosis:
    input:
        page="<results>/diagnose/report.html",
        manifest="<results>/diagnose/report.manifest.json",
    output:
        page=shown("<results>/attention_clusters/diagnose.html"),
        manifest="<results>/attention_clusters/diagnose.manifest.json",
    log:
        "<logs>/alias_diagnosis.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    message:
        "{output.page} is {input.page}"
    shell:
        "(cp {input.page:q} {output.page:q} && cp {input.manifest:q} {output.manifest:q}) 2> {log:q}"
