"""Everything but training on a pretended GPU: simulations, patterns, models from the inside, probes."""

import numpy as np
import pytest
import torch

from clusterlens.attention.iteration import by_pattern
from clusterlens.attention.patterns import PATTERNS
from clusterlens.attention.study import follow
from clusterlens.attention.tokens import Tokens
from clusterlens.models.image_models import RUNS, build
from clusterlens.models.inside import describe_layers, operations, untrained
from clusterlens.particles.integrators import INTEGRATORS
from clusterlens.particles.record import record
from clusterlens.particles.settings import FIELDS
from clusterlens.probing.by_state import probe
from clusterlens.probing.capture import capture
from clusterlens.probing.head_weights import heads_of
from clusterlens.probing.heads import Heads, effective_beta, sum_eigenvalues, value_eigenvalues
from clusterlens.probing.load import load
from clusterlens.probing.measure import flow_run
from clusterlens.probing.statistics import AttentionByKey, HeadCorrelations, HiddenStates
from clusterlens.probing.text import Paragraph
from clusterlens.provenance import ROOT
from clusterlens.schema import read_yaml
from clusterlens.training.images import Preparation
from reference import tiny
from reference.fake_cuda import pretended_card

PAPER = read_yaml(ROOT / "config" / "config.yaml")
ARCHITECTURE = PAPER["architecture"] | {
    "image_size": 8, "patch_size": 4, "embedding_dimension": 16, "depth": 2, "heads": 2, "time_steps": 2, "classes": 3,
}  # fmt: skip
STEPPING = [name for name in INTEGRATORS if name not in ("map", "adaptive")]  # adaptive steps depend on values
PARAMETERS = {"window": 4, "global_tokens": [0, -1], "stride": 3, "random_keys": 2, "features": 8, "rank": 4}


class TestHarness:
    """What the pretended card finds, and what it lets through."""

    @pytest.mark.parametrize("kind", ["argument", "buffer", "result"])
    def test_a_tensor_left_on_the_cpu_is_found(self, kind):
        class Model(torch.nn.Linear):
            def forward(self, x):
                mask = torch.ones(3) if kind == "buffer" else torch.ones(3, device=x.device)
                return super().forward(x) * mask

        with pretended_card() as device, pytest.raises(RuntimeError, match=r"cuda:0.*cpu|cpu.*cuda:0"):
            out = Model(4, 3).to(device)(torch.ones(2, 4, device="cpu" if kind == "argument" else device))
            out + torch.zeros(3) if kind == "result" else None

    def test_a_wrong_type_is_found(self):
        with pretended_card() as device, pytest.raises(RuntimeError, match="dtype"):
            torch.ones(2, 4, device=device) @ torch.ones(4, 3, device=device, dtype=torch.float64)

    def test_values_on_the_card_are_not_read_by_the_way(self):
        with pretended_card() as device, pytest.raises((RuntimeError, TypeError)):
            torch.ones(3, device=device).numpy()

    def test_what_is_allowed_between_devices_is_let_through(self):
        with pretended_card() as device:
            x = torch.ones(5, 3, device=device)
            assert (x * torch.tensor(2.0))[torch.tensor([0, 2])].shape == (2, 3)
            assert x[x[:, 0] > 0].device.type == "cuda"
            assert np.asarray(x.cpu()).shape == (5, 3) and float(x.sum()) == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("field", FIELDS)
def test_particles(field, dtype):
    block = {"field": field, "tokens": 5, "dimension": 2, "time": 0.2, "seeds": [0, 1], "beta": [1.0, 9.0]}
    block |= {"value": "gaussian"} if FIELDS[field].rescaled else {}
    block |= {"snapshots": [0.2], "measures": ["mean_cosine", "rank"]}
    with pretended_card() as device:
        for integrator in ["map"] if FIELDS[field].discrete else STEPPING:
            [run] = record(block | {"integrator": integrator}, dtype=dtype, device=device)
            assert run.path.shape == (3, 5, 2)


@pytest.mark.parametrize("name", PATTERNS)
def test_attention_patterns(name):
    chosen = {option: PARAMETERS[option] for option in PATTERNS[name].options() if option in PARAMETERS}
    tokens = Tokens(np.ones((12, 3)))
    with pretended_card() as device:
        history = follow(tokens, by_pattern(name, **chosen), iterations=2, axis="feature", device=device)
    assert history.shape == (3, 12, 3)


@pytest.mark.parametrize("run", RUNS)
def test_image_models_from_the_inside(run):
    images = torch.zeros(2, 8, 8, 3, dtype=torch.uint8)
    with pretended_card() as device:
        batches = Preparation(PAPER["training"], 3, device)(images).split(2)
        assert batches[0].device.type == "cuda" and batches[0].dtype == torch.float32
        trained = build(run, ARCHITECTURE).to(device).eval()
        for model in (trained, untrained(run, ARCHITECTURE, seed=0, images=batches[0])):
            tokens, heads = describe_layers(model, batches)
            assert len(tokens) == 3 and [one.images for one in heads] == [2, 2]
        assert operations(trained, batches)["macs"] > 0


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_probes(kind, tmp_path):
    tiny.save(kind, tmp_path)
    ids = tiny.texts_of([9, 12])
    alike, padded = HeadCorrelations(), HeadCorrelations(padding=True)
    received, kept = AttentionByKey(), HiddenStates(2)
    with pretended_card(number=0) as device:  # 0: no token of Longformer is global
        checkpoint = load(str(tmp_path), device=device)
        assert checkpoint.model.device.type == "cuda"
        capture(checkpoint.model, ids, [alike.add, padded.add, received.add, kept.add], batch_size=2)
        texts = {"text": [Paragraph("", tuple(one)) for one in ids]}
        measures, _ = probe(checkpoint, texts, fresh_seeds=[0], eigenvalues=4, batch_size=2)
    assert alike.per_text(1).shape == padded.per_text(1).shape == (2, 3, 3)
    assert len(measures) >= 2 * 2 * 4 and received.received[1].shape == (3, 9) and kept.of(1).shape == (12, 24)


def test_flows_of_trained_heads(tmp_path):
    heads_of(tiny.model_of("albert"), 1).save(tmp_path / "heads.npz")
    settings = {"tokens": 4, "start": "sphere", "time": 0.4, "step": 0.1, "seeds": [0, 1], "snapshots": [0.4]}
    with pretended_card() as device:
        heads = Heads.load(tmp_path / "heads.npz", device=device)
        assert heads.query.device.type == "cuda" and heads.query.dtype == torch.float64
        assert len(value_eigenvalues(heads)) == len(effective_beta(heads)) == 3 and len(sum_eigenvalues(heads)) == 24
        for one in (heads, heads.like(seed=0), heads.only(1)):
            assert flow_run(one, settings).path.shape == (5, 4, 3)
