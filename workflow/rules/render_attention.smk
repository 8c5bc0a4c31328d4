# Paper A's parameter-free figures and its table of metrics, drawn from the files of cluster.smk.


rule table_metrics:
    input:
        measures=collect(
            "<results>/attention_clusters/data/{dataset}.measures.csv", dataset=["picture", "diabetes", "heart"]
        ),
        manifests=collect(
            "<results>/attention_clusters/data/{dataset}.manifest.json", dataset=["picture", "diabetes", "heart"]
        ),
        code=code("table_metrics"),
    output:
        table=shown("<results>/attention_clusters/metrics.csv"),
        manifest="<results>/attention_clusters/metrics.manifest.json",
    log:
        "<logs>/table_metrics.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["Data A", "Data B", "Data C"],
    message:
        "Gathering the metrics of every pattern"
    script:
        "../scripts/table_metrics.py"


rule plot_picture:
    input:
        picture="<resources>/picture/picture.npz",
        manifest="<resources>/picture/manifest.json",
        code=code("plot_picture"),
    output:
        png=shown("<results>/attention_clusters/fig1.png"),
        pdf="<results>/attention_clusters/fig1.pdf",
        points="<results>/attention_clusters/fig1.csv",
        manifest="<results>/attention_clusters/fig1.manifest.json",
    log:
        "<logs>/plot_picture.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    message:
        "Drawing the picture and its mask"
    script:
        "../scripts/plot_picture.py"


rule plot_start_clouds:
    input:
        picture="<resources>/picture/picture.npz",
        picture_manifest="<resources>/picture/manifest.json",
        samples=collect("<resources>/{dataset}/sample.csv", dataset=["diabetes", "heart"]),
        table_manifests=collect("<resources>/{dataset}/manifest.json", dataset=["diabetes", "heart"]),
        code=code("plot_start_clouds"),
    output:
        png=shown("<results>/attention_clusters/fig2.png"),
        pdf="<results>/attention_clusters/fig2.pdf",
        points="<results>/attention_clusters/fig2.csv",
        manifest="<results>/attention_clusters/fig2.manifest.json",
    log:
        "<logs>/plot_start_clouds.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["diabetes", "heart"],
    message:
        "Drawing the starting clouds"
    script:
        "../scripts/plot_start_clouds.py"


rule plot_image_clusters:
    input:
        tokens="<results>/attention_clusters/data/picture.npz",
        measures="<results>/attention_clusters/data/picture.measures.csv",
        manifest="<results>/attention_clusters/data/picture.manifest.json",
        code=code("plot_image_clusters"),
    output:
        png=shown("<results>/attention_clusters/fig3.png"),
        pdf="<results>/attention_clusters/fig3.pdf",
        points="<results>/attention_clusters/fig3.csv",
        manifest="<results>/attention_clusters/fig3.manifest.json",
    log:
        "<logs>/plot_image_clusters.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    message:
        "Drawing global attention on the picture"
    script:
        "../scripts/plot_image_clusters.py"


rule plot_table_clusters:
    input:
        tokens="<results>/attention_clusters/data/diabetes.npz",
        measures="<results>/attention_clusters/data/diabetes.measures.csv",
        links="<results>/attention_clusters/data/diabetes.links.csv",
        manifest="<results>/attention_clusters/data/diabetes.manifest.json",
        code=code("plot_table_clusters"),
    output:
        png=shown("<results>/attention_clusters/fig4.png"),
        pdf="<results>/attention_clusters/fig4.pdf",
        points="<results>/attention_clusters/fig4.csv",
        numbers="<results>/attention_clusters/fig4.numbers.csv",
        manifest="<results>/attention_clusters/fig4.manifest.json",
    log:
        "<logs>/plot_table_clusters.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        dataset="diabetes",
    message:
        "Drawing global attention on the diabetes table"
    script:
        "../scripts/plot_table_clusters.py"


use rule plot_table_clusters as plot_heart_clusters with:
    input:
        tokens="<results>/attention_clusters/data/heart.npz",
        measures="<results>/attention_clusters/data/heart.measures.csv",
        links="<results>/attention_clusters/data/heart.links.csv",
        manifest="<results>/attention_clusters/data/heart.manifest.json",
        code=code("plot_table_clusters"),
    output:
        png=shown("<results>/attention_clusters/fig5.png"),
        pdf="<results>/attention_clusters/fig5.pdf",
        points="<results>/attention_clusters/fig5.csv",
        manifest="<results>/attention_clusters/fig5.manifest.json",
    log:
        "<logs>/plot_heart_clusters.log",
    params:
        dataset="heart",
    message:
        "Drawing global attention on the heart table"


rule plot_window_clouds:
    input:
        tokens=collect("<results>/attention_clusters/data/{dataset}.npz", dataset=["diabetes", "heart"]),
        measures=collect("<results>/attention_clusters/data/{dataset}.measures.csv", dataset=["diabetes", "heart"]),
        manifests=collect("<results>/attention_clusters/data/{dataset}.manifest.json", dataset=["diabetes", "heart"]),
        code=code("plot_window_clouds"),
    output:
        png=shown("<results>/attention_clusters/fig6.png"),
        pdf="<results>/attention_clusters/fig6.pdf",
        points="<results>/attention_clusters/fig6.csv",
        manifest="<results>/attention_clusters/fig6.manifest.json",
    log:
        "<logs>/plot_window_clouds.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["diabetes", "heart"],
        windows=lookup(within=config, dpath="attention/windows"),
    message:
        "Drawing local windows on the tables"
    script:
        "../scripts/plot_window_clouds.py"


rule plot_window_masks:
    input:
        tokens="<results>/attention_clusters/data/picture.npz",
        measures="<results>/attention_clusters/data/picture.measures.csv",
        manifest="<results>/attention_clusters/data/picture.manifest.json",
        code=code("plot_window_masks"),
    output:
        png=shown("<results>/attention_clusters/fig7.png"),
        pdf="<results>/attention_clusters/fig7.pdf",
        points="<results>/attention_clusters/fig7.csv",
        manifest="<results>/attention_clusters/fig7.manifest.json",
    log:
        "<logs>/plot_window_masks.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        windows=lookup(within=config, dpath="attention/windows"),
    message:
        "Drawing masks under local windows"
    script:
        "../scripts/plot_window_masks.py"


rule plot_scaling_clouds:
    input:
        tokens=collect("<results>/attention_clusters/data/{dataset}.npz", dataset=["diabetes", "heart"]),
        spectra=collect("<results>/attention_clusters/data/{dataset}.spectra.csv", dataset=["diabetes", "heart"]),
        manifests=collect("<results>/attention_clusters/data/{dataset}.manifest.json", dataset=["diabetes", "heart"]),
        code=code("plot_scaling_clouds"),
    output:
        png=shown("<results>/attention_clusters/fig8.png"),
        pdf="<results>/attention_clusters/fig8.pdf",
        points="<results>/attention_clusters/fig8.csv",
        numbers="<results>/attention_clusters/fig8.numbers.csv",
        manifest="<results>/attention_clusters/fig8.manifest.json",
    log:
        "<logs>/plot_scaling_clouds.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["diabetes", "heart"],
        windows=lookup(within=config, dpath="attention/windows"),
        global_tokens=lookup(within=config, dpath="attention/global_tokens"),
    message:
        "Drawing clouds under the scaling modes"
    script:
        "../scripts/plot_scaling_clouds.py"


rule plot_scaling_spectra:
    input:
        spectra=collect("<results>/attention_clusters/data/{dataset}.spectra.csv", dataset=["diabetes", "heart"]),
        manifests=collect("<results>/attention_clusters/data/{dataset}.manifest.json", dataset=["diabetes", "heart"]),
        code=code("plot_scaling_spectra"),
    output:
        png=shown("<results>/attention_clusters/fig9.png"),
        pdf="<results>/attention_clusters/fig9.pdf",
        points="<results>/attention_clusters/fig9.csv",
        numbers="<results>/attention_clusters/fig9.numbers.csv",
        manifest="<results>/attention_clusters/fig9.manifest.json",
    log:
        "<logs>/plot_scaling_spectra.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["diabetes", "heart"],
        windows=lookup(within=config, dpath="attention/windows"),
    message:
        "Drawing spectra under the scaling modes"
    script:
        "../scripts/plot_scaling_spectra.py"


rule plot_longformer_clouds:
    input:
        tokens=collect("<results>/attention_clusters/data/{dataset}.npz", dataset=["picture", "diabetes", "heart"]),
        measures=collect(
            "<results>/attention_clusters/data/{dataset}.measures.csv", dataset=["picture", "diabetes", "heart"]
        ),
        manifests=collect(
            "<results>/attention_clusters/data/{dataset}.manifest.json", dataset=["picture", "diabetes", "heart"]
        ),
        code=code("plot_longformer_clouds"),
    output:
        png=shown("<results>/attention_clusters/fig10.png"),
        pdf="<results>/attention_clusters/fig10.pdf",
        points="<results>/attention_clusters/fig10.csv",
        manifest="<results>/attention_clusters/fig10.manifest.json",
    log:
        "<logs>/plot_longformer_clouds.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["picture", "diabetes", "heart"],
        windows=lookup(within=config, dpath="attention/windows"),
        global_tokens=lookup(within=config, dpath="attention/global_tokens"),
    message:
        "Drawing Longformer's pattern on all data"
    script:
        "../scripts/plot_longformer_clouds.py"


rule plot_correlations:
    input:
        tables=collect("<resources>/{dataset}/table.csv", dataset=["diabetes", "heart"]),
        manifests=collect("<resources>/{dataset}/manifest.json", dataset=["diabetes", "heart"]),
        code=code("plot_correlations"),
    output:
        png=shown("<results>/attention_clusters/fig16.png"),
        pdf="<results>/attention_clusters/fig16.pdf",
        points="<results>/attention_clusters/fig16.csv",
        numbers="<results>/attention_clusters/fig16.numbers.csv",
        manifest="<results>/attention_clusters/fig16.manifest.json",
    log:
        "<logs>/plot_correlations.log",
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        names=["diabetes", "heart"],
    message:
        "Drawing the correlations of the tables"
    script:
        "../scripts/plot_correlations.py"
