"""What each figure on pretrained models reads: the small files that capturing jobs write."""

Files = dict[str, list[str]]  # by name, as paths of the workflow

ALBERT = "albert-xlarge-v2"
MODELS = {"albert": ALBERT, "t5": "t5-large", "longformer": "longformer-base-4096", "roberta": "roberta-base"}


def similarity(dataset: str) -> Files:
    kinds = ("similarity.csv", "histograms.csv", "similarity.manifest.json")
    return {"similarity": [f"<results>/probing/{dataset}.{kind}" for kind in kinds]}


def heads(dataset: str) -> Files:
    kinds = ("heads.npz", "heads_by_text.csv", "heads_by_head.csv", "heads.manifest.json")
    return {"heads": [f"<results>/probing/{dataset}.{kind}" for kind in kinds]}


def spectra(dataset: str) -> Files:
    """The eigenvalues of the value matrices of all heads."""
    return {"spectra": [f"<results>/probing/{dataset}.{kind}" for kind in ("spectra.npz", "weights.manifest.json")]}


def simulated(*items: str) -> Files:
    """Simulations of T's causal attention."""
    return {item: [f"<results>/transformers/data/{item}.{kind}" for kind in ("npz", "manifest.json")] for item in items}


def layers(*models: str) -> Files:
    """Every layer of these models in all their states."""
    kinds = ("layers.csv", "eigenvalues.csv", "layers.manifest.json")
    return {model: [f"<results>/probing/{MODELS[model]}.{kind}" for kind in kinds] for model in models}


READS: dict[tuple[str, str], Files] = {
    ("transformers", "fig1"): similarity(ALBERT),
    ("transformers", "fig1_t5"): similarity("t5-large"),
    ("transformers", "fig2"): heads(ALBERT),
    ("transformers", "model_sinks"): layers(*MODELS) | simulated("fig3", "fig4"),
    ("transformers", "depth"): layers(*MODELS),
    ("emergence", "albert_head_eigenvalues"): spectra(ALBERT),
    ("emergence", "albert_multihead_eigenvalues"): spectra(ALBERT),
    ("attention_clusters", "fig12"): layers("longformer"),
    ("attention_clusters", "fig13"): layers("longformer"),
    ("attention_clusters", "fig14"): layers("longformer", "roberta"),
    ("attention_clusters", "fig15"): layers("longformer", "roberta"),
}
