# The small Longformer of paper A: its tables of hyperparameters.


use rule table_configuration as table_language_configuration with:
    output:
        table=shown("<results>/attention_clusters/{item}.csv"),
        numbers="<results>/attention_clusters/{item}.numbers.csv",
        manifest="<results>/attention_clusters/{item}.manifest.json",
    log:
        "<logs>/table_configuration/attention_clusters_{item}.log",
    wildcard_constraints:
        item="table[23]",
    params:
        **project.used("table_configuration", language_model="language_model"),
        paper="attention_clusters",
    message:
        "Writing the configuration in effect as attention_clusters/{wildcards.item}"
