# Tables rendered from the configuration in effect, and the short names of the spiking paper's items.


rule table_configuration:
    input:
        code=code("table_configuration"),
    output:
        table=shown("<results>/{paper}/{item}.csv"),
        manifest="<results>/{paper}/{item}.manifest.json",
    log:
        "<logs>/table_configuration/{paper}_{item}.log",
    wildcard_constraints:
        paper="spiking|attention_clusters",
        item="(?<=spiking/)table4|(?<=attention_clusters/)table[23]",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        settings=configuration_of,
    message:
        "Writing the configuration in effect as {wildcards.paper}/{wildcards.item}"
    script:
        "../scripts/table_configuration.py"


rule alias_spiking:
    input:
        "<results>/spiking/{file}",
    output:
        "<results>/{file}",
    log:
        "<logs>/alias_spiking/{file}.log",
    wildcard_constraints:
        file=r"(table\d|fig\d\w*|membrane)\.(csv|png|pdf)",
    localrule: True
    conda:
        "../../envs/base.yaml"
    message:
        "{output} is the spiking paper's {wildcards.file}"
    shell:
        "cp {input} {output} 2> {log}"
