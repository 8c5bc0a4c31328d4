"""How S names its six variants, and the runs behind them; free of torch, so that tables and figures can use it."""

VARIANTS = {
    "vit": "Baseline ViT",
    "vit_no_mlp": "ViT No MLP",
    "vit_no_skip": "ViT No Skip Connections",
    "spikformer": "Baseline Spikformer",
    "spikformer_no_mlp": "Spikformer No MLP",
    "spikformer_no_skip": "Spikformer No Skip Connections",
}
LEARNED = "spikformer_parametric"
NAMES = VARIANTS | {LEARNED: "Spikformer Learned Constants"}
