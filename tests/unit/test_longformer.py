"""The small Longformer against Hugging Face's, forward and backward; scalings, loss, a GPU on paper, refusals."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.functional import cross_entropy
from transformers import LongformerConfig
from transformers import LongformerForMaskedLM as TheirMaskedLM
from transformers import LongformerForSequenceClassification as TheirClassification

from clusterlens.attention.blocks import HIDDEN
from clusterlens.errors import UserError
from clusterlens.models import banded, longformer
from clusterlens.models.banded import Band
from clusterlens.models.dropout import Dropout
from clusterlens.models.longformer import LongformerForClassification, LongformerForMaskedLM
from clusterlens.models.longformer_size import LongformerSize
from clusterlens.models.masked_loss import IGNORED, ROWS, linear_cross_entropy

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = LongformerSize(
    vocabulary=61, hidden=24, heads=3, feed_forward=40, layers=3, positions=500, window=20, dropout=0.0
)
LENGTHS = (1, 9, 20, 150, 300, 411)  # within half a window, a whole one, in one block, in blocks; most no multiple


def strong(model: nn.Module) -> nn.Module:
    """Weights large enough that attention is far from uniform."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" not in name.lower():
                weight += 0.2 * torch.randn(weight.shape, generator=generator)
    return model.eval()


def theirs_with(ours: nn.Module, kind: type, size: LongformerSize) -> nn.Module:
    """Hugging Face's model with our weights."""
    model = kind(LongformerConfig(**size.hugging_face, attn_implementation="eager")).eval()
    model.load_state_dict(ours.state_dict())
    return model


def batch(length: int, vocabulary: int = SMALL.vocabulary) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three texts, two of them padded, and targets for about a third of the tokens, one at least."""
    torch.manual_seed(length)
    tokens = torch.randint(4, vocabulary, (3, length))
    mask = torch.arange(length) < torch.tensor([length, length // 2 + 1, max(length - 3, 1)])[:, None]
    tokens[~mask] = SMALL.pad_token
    masked = (torch.rand(tokens.shape) < 0.3) & mask
    masked[0, 0] = True
    return tokens, mask, torch.where(masked, torch.randint(4, vocabulary, tokens.shape), IGNORED)


def gradients(model: nn.Module) -> dict[str, torch.Tensor]:
    return {
        name: torch.zeros_like(weight) if weight.grad is None else weight.grad
        for name, weight in model.named_parameters()
    }


def assert_same_gradients(ours: nn.Module, theirs: nn.Module) -> None:
    mine, wanted = gradients(ours), gradients(theirs)
    assert mine.keys() == wanted.keys()
    largest = max(float(grad.abs().max()) for grad in wanted.values())
    for name, grad in wanted.items():
        torch.testing.assert_close(mine[name], grad, atol=1e-5 * max(largest, 1), rtol=1e-4, msg=name)


@pytest.fixture(params=["compiled", "not compiled"])
def kernels(request, monkeypatch):
    """With the kernels for a CPU, and as without a compiler."""
    if request.param == "not compiled":
        monkeypatch.setattr(banded.KERNELS, "usable", lambda x: False)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("length", LENGTHS)
def test_masked_lm_is_hugging_faces_forward_and_backward(length):
    ours = strong(LongformerForMaskedLM(SMALL))
    theirs = theirs_with(ours, TheirMaskedLM, SMALL)
    tokens, mask, targets = batch(length)
    logits = theirs(tokens, attention_mask=mask.long()).logits
    torch.testing.assert_close(ours.logits(tokens, mask)[mask], logits[mask], atol=1e-5, rtol=1e-5)
    loss = ours(tokens, mask, targets)
    expected = cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=1e-6)
    loss.backward()
    expected.backward()
    assert_same_gradients(ours, theirs)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("length", LENGTHS[1:])
def test_global_tokens_are_hugging_faces_forward_and_backward(length):
    ours = strong(LongformerForMaskedLM(SMALL))
    theirs = theirs_with(ours, TheirMaskedLM, SMALL)
    tokens, mask, _ = batch(length)
    chosen = (0, length // 3)
    marked = torch.zeros_like(tokens)
    marked[:, chosen] = 1
    mine = ours.logits(tokens, mask, global_tokens=chosen)[mask]
    wanted = theirs(tokens, attention_mask=mask.long(), global_attention_mask=marked).logits[mask]
    torch.testing.assert_close(mine, wanted, atol=1e-5, rtol=1e-5)
    weight = torch.randn_like(mine)
    (mine * weight).mean().backward()
    (wanted * weight).mean().backward()
    assert_same_gradients(ours, theirs)


@pytest.mark.parametrize("length", LENGTHS)
def test_classification_is_hugging_faces_forward_and_backward(length):
    ours = strong(LongformerForClassification(SMALL, classes=3))
    theirs = TheirClassification(LongformerConfig(**SMALL.hugging_face, num_labels=3, attn_implementation="eager"))
    theirs.eval().load_state_dict(ours.state_dict())
    tokens, mask, _ = batch(length)
    labels = torch.tensor([0, 2, 1])
    mine, wanted = ours(tokens, mask), theirs(tokens, attention_mask=mask.long()).logits
    torch.testing.assert_close(mine, wanted, atol=1e-5, rtol=1e-5)
    cross_entropy(mine, labels).backward()
    cross_entropy(wanted, labels).backward()
    assert_same_gradients(ours, theirs)


def test_weights_go_both_ways_and_tied_ones_stay_tied():
    theirs = TheirMaskedLM(LongformerConfig(**SMALL.hugging_face))
    ours = LongformerForMaskedLM(SMALL)
    ours.load_state_dict(theirs.state_dict())
    assert all(torch.equal(value, theirs.state_dict()[name]) for name, value in ours.state_dict().items())
    assert ours.lm_head.decoder.weight is ours.longformer.embeddings.word_embeddings.weight
    assert ours.lm_head.bias is ours.lm_head.decoder.bias
    fine_tuned = LongformerForClassification(SMALL)
    head = fine_tuned.classifier.dense.weight.clone()
    fine_tuned.load_encoder(theirs.state_dict())
    for name, value in fine_tuned.longformer.state_dict().items():
        assert torch.equal(value, theirs.state_dict()["longformer." + name])
    assert torch.equal(fine_tuned.classifier.dense.weight, head)


def test_initial_weights_are_drawn_like_hugging_faces():
    torch.manual_seed(0)
    ours = LongformerForMaskedLM(replace(SMALL, hidden=96)).state_dict()
    theirs = TheirMaskedLM(LongformerConfig(**replace(SMALL, hidden=96).hugging_face)).state_dict()
    for name, weight in theirs.items():
        assert ours[name].std() == pytest.approx(float(weight.std()), rel=0.15, abs=1e-9), name
        assert float(ours[name].mean()) == pytest.approx(float(weight.mean()), abs=4e-3), name
    assert not ours["lm_head.decoder.weight"][SMALL.pad_token].any()


@pytest.mark.parametrize("shared", [False, True])
def test_exact_query_scaling_is_the_same_function(shared):
    tokens, mask, targets = batch(300)
    models = {}
    for scaling in ("sdp", "sq_exact"):
        torch.manual_seed(0)
        model = LongformerForMaskedLM(replace(SMALL, scaling=scaling, shared_projections=shared))
        models[scaling] = strong(model).double()
        model(tokens, mask, targets).backward()
        sort = LongformerForClassification(replace(SMALL, scaling=scaling, shared_projections=shared)).eval().double()
        sort.load_encoder(model.state_dict())
        models[scaling].first = sort.longformer(tokens, mask, global_tokens=(0, 7))[mask]
    sdp, exact = models.values()
    torch.testing.assert_close(sdp.logits(tokens, mask)[mask], exact.logits(tokens, mask)[mask], atol=1e-12, rtol=0)
    torch.testing.assert_close(sdp.first, exact.first, atol=1e-12, rtol=0)
    for name, grad in gradients(sdp).items():
        torch.testing.assert_close(gradients(exact)[name], grad, atol=1e-11, rtol=0)


def test_a_shared_projection_is_hugging_faces_with_equal_weights():
    size = replace(SMALL, shared_projections=True)
    ours = strong(LongformerForMaskedLM(size))
    theirs = theirs_with(ours, TheirMaskedLM, size)
    tokens, mask, _ = batch(300)
    wanted = theirs(tokens, attention_mask=mask.long()).logits
    torch.testing.assert_close(ours.logits(tokens, mask)[mask], wanted[mask], atol=1e-5, rtol=1e-5)
    separate = sum(weight.numel() for weight in LongformerForMaskedLM(SMALL).parameters())
    projection = SMALL.hidden * (SMALL.hidden + 1)
    assert separate - sum(weight.numel() for weight in ours.parameters()) == 4 * SMALL.layers * projection


def aliased(module: nn.Module, root: float) -> None:
    """Make Hugging Face's attention divide its hidden state, which is also the residual, in place before it starts."""
    module.attention.register_forward_pre_hook(lambda _, args: (args[0].div_(root), *args[1:]))


@pytest.mark.parametrize("chosen", [(), (0, 5)])
def test_in_place_scaling_is_hugging_faces_with_its_hidden_state_divided(chosen):
    """The local query is then not divided again, the query of a global token is."""
    ours = strong(LongformerForMaskedLM(replace(SMALL, scaling="sq_inplace")))
    theirs = theirs_with(ours, TheirMaskedLM, SMALL)
    root = (SMALL.hidden // SMALL.heads) ** 0.5
    for layer in theirs.longformer.encoder.layer:
        aliased(layer, root)
        with torch.no_grad():  # undoes the division of the query that Hugging Face's attention makes
            layer.attention.self.query.weight *= root
            layer.attention.self.query.bias *= root
    tokens, mask, _ = batch(300)
    marked = torch.zeros_like(tokens)
    marked[:, list(chosen)] = 1
    with torch.no_grad():
        wanted = theirs(tokens, attention_mask=mask.long(), global_attention_mask=marked).logits
        mine = ours.logits(tokens, mask, global_tokens=chosen)
    torch.testing.assert_close(mine[mask], wanted[mask], atol=1e-5, rtol=1e-5)


def test_in_place_scaling_of_a_shared_projection_divides_key_and_value_too():
    """p/√d as query, key and value: Hugging Face's model with q = p (divided there), k = p/√d and v = p/√d."""
    size = replace(SMALL, scaling="sq_inplace", shared_projections=True)
    ours = strong(LongformerForMaskedLM(size))
    theirs = theirs_with(ours, TheirMaskedLM, SMALL)
    with torch.no_grad():
        for layer in theirs.longformer.encoder.layer:
            for projection in (layer.attention.self.key, layer.attention.self.value):
                projection.weight /= (SMALL.hidden // SMALL.heads) ** 0.5
                projection.bias /= (SMALL.hidden // SMALL.heads) ** 0.5
    tokens, mask, _ = batch(300)
    wanted = theirs(tokens, attention_mask=mask.long()).logits
    torch.testing.assert_close(ours.logits(tokens, mask)[mask], wanted[mask], atol=1e-5, rtol=1e-5)


def test_arms_start_from_the_same_weights():
    states = []
    for scaling in ("sdp", "sq_exact", "sq_inplace"):
        torch.manual_seed(3)
        states.append(LongformerForMaskedLM(replace(SMALL, scaling=scaling)).state_dict())
    assert all(torch.equal(states[0][name], state[name]) for state in states for name in states[0])


@pytest.mark.parametrize("rows", [0, 1, ROWS - 1, 2 * ROWS + 5])
def test_loss_in_parts_is_the_loss_of_all_logits(rows):
    torch.manual_seed(0)
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((rows, 8), (30, 8), (30,))]
    targets = torch.randint(0, 30, (rows,))
    loss = linear_cross_entropy(*inputs, targets)
    if not rows:
        assert loss.item() == 0
        assert not any(grad.any() for grad in torch.autograd.grad(loss, inputs))
        return
    hidden, weight, bias = inputs
    expected = cross_entropy(hidden @ weight.T + bias, targets)
    torch.testing.assert_close(loss, expected)
    mine, wanted = torch.autograd.grad(3 * loss, inputs), torch.autograd.grad(3 * expected, inputs)
    for one, other in zip(mine, wanted, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize(("half", "chosen"), [(3, ()), (70, (0,)), (70, (2, 199))])
def test_banded_attention_with_dropout_is_dense_attention_with_the_same_shares_dropped(half, chosen, monkeypatch):
    """The kernels for a CPU against autograd through a dense matrix, dropout included."""
    torch.manual_seed(0)
    n, probability = 230, 0.4
    mask = torch.arange(n) < torch.tensor([[n], [201]])
    query, key, value = (torch.randn(2, n, 2, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    dense_gone = torch.rand(2, 2, n, n) < probability
    position = torch.arange(n)
    near = (position[:, None] - position).abs() <= half
    near[:, list(chosen)] = True
    seen = (near & mask[:, None])[:, None]
    scores = torch.einsum("bihd,bjhd->bhij", query, key) * 0.5
    shares = scores.masked_fill(~seen, HIDDEN).softmax(dim=-1).masked_fill(dense_gone, 0) / (1 - probability)
    wanted = torch.einsum("bhij,bjhd->bihd", shares, value)[mask]

    band = Band(mask, half, chosen)
    # the kernels' order: the keys of the window, then the global ones
    columns = (position[:, None] + torch.arange(-half, half + 1)).clamp(0, n - 1)
    columns = torch.cat([columns, torch.tensor(chosen, dtype=torch.long).expand(n, -1)], dim=1)
    monkeypatch.setattr(banded, "dropped", lambda shape, p: dense_gone[:, :, position[:, None], columns].view(shape))
    mine = band.attend(query, key, value, scale=0.5, dropout=probability)[mask]

    torch.testing.assert_close(mine, wanted)
    weight = torch.randn_like(wanted)
    for one, other in zip(
        torch.autograd.grad(mine, (query, key, value), weight),
        torch.autograd.grad(wanted, (query, key, value), weight),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_dropout_drops_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    layer, x = Dropout(0.1), torch.ones(1001, 999, requires_grad=True)
    y = layer(x)
    assert float((y == 0).double().mean()) == pytest.approx(0.1, abs=0.002)
    torch.testing.assert_close(y.detach().unique(), torch.tensor([0.0, 1 / 0.9]))
    y.sum().backward()
    assert torch.equal(x.grad, y)
    neighbours = (y[:, 1:] == 0) & (y[:, :-1] == 0)
    assert float(neighbours.double().mean()) == pytest.approx(0.01, abs=0.001)
    assert torch.equal(layer.eval()(x), x)


@pytest.mark.parametrize("n", [1, 150, 200, 256])
@pytest.mark.parametrize("chosen", [(), (0, 57)])
def test_the_way_of_a_gpu_is_the_way_of_the_cpu(chosen, n):
    torch.manual_seed(0)
    chosen = tuple(token for token in chosen if token < n)
    mask = torch.arange(n) < torch.tensor([[n], [n * 3 // 5 + 1]])
    band = Band(mask, 12, chosen)
    inputs = [torch.randn(2, n, 2, 8, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    mine = band.attend(*inputs, scale=0.3)[mask]
    other = band.attend_in_blocks(*inputs, scale=0.3, dropout=0.0)[mask]
    torch.testing.assert_close(mine, other)
    weight = torch.randn_like(mine)
    torch.testing.assert_close(torch.autograd.grad(mine, inputs, weight), torch.autograd.grad(other, inputs, weight))


@pytest.mark.parametrize("n", [200, 211])
def test_padding_that_sees_nothing_stays_finite(n):
    """A number that is none would reach the real tokens in the next layer."""
    band = Band(torch.arange(n)[None] < 20, 15)
    x = torch.randn(1, n, 1, 8)
    for out in (band.attend(x, x, x, scale=1.0), band.attend_in_blocks(x, x, x, scale=1.0, dropout=0.0)):
        assert out.isfinite().all()


@pytest.mark.parametrize("length", [40, 1000])
def test_both_models_go_through_on_a_gpu_that_is_not_there(length, monkeypatch):
    """Shapes and devices on CUDA; nothing is computed, so that the number of masked tokens has to be given."""
    monkeypatch.setattr(longformer, "masked_places", lambda targets: torch.arange(31, device=targets.device))
    monkeypatch.setattr(banded.BandedAttention, "apply", None)  # the way of the CPU
    with FakeTensorMode(), torch.device("cuda"):
        size = LongformerSize(vocabulary=500, hidden=32, heads=2, feed_forward=64, layers=2)
        tokens = torch.randint(4, 500, (2, length))
        pretrained, fine_tuned = LongformerForMaskedLM(size), LongformerForClassification(size)
        loss, logits = pretrained(tokens, tokens > 5, tokens), fine_tuned(tokens, tokens > 5)
    assert (loss.device.type, loss.shape) == ("cuda", ())
    assert (logits.device.type, logits.shape) == ("cuda", (2, 2))


@pytest.mark.parametrize("length", [40, 300])
def test_mixed_precision_gives_the_loss_and_gradients_of_full_precision(length):
    ours = strong(LongformerForMaskedLM(SMALL))
    tokens, mask, targets = batch(length)
    loss = ours(tokens, mask, targets)
    loss.backward()
    wanted = gradients(ours)
    ours.zero_grad()
    with torch.autocast("cpu", torch.bfloat16):
        mixed = ours(tokens, mask, targets)
    mixed.backward()
    assert mixed.dtype == torch.float32
    torch.testing.assert_close(mixed, loss, atol=0, rtol=0.02)
    for name, grad in gradients(ours).items():
        assert grad.dtype == torch.float32
        assert float((grad - wanted[name]).norm()) <= 0.1 * float(wanted[name].norm()) + 1e-3, name


@pytest.mark.parametrize("window", [-2, 0, 1, 127])
def test_a_window_without_halves_is_refused(window):
    with pytest.raises(UserError, match=f"window {window} .* even number"):
        LongformerSize(vocabulary=10, window=window)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scaling": "sq_exakt"}, "did you mean 'sq_exact'"),
        ({"heads": 3}, "3 heads do not divide"),
        ({"pad_token": 10}, "use 0 to 9"),
    ],
)
def test_impossible_sizes_are_refused(wrong, message):
    with pytest.raises(UserError, match=message):
        LongformerSize(vocabulary=10, **wrong)


def test_a_text_longer_than_the_positions_is_refused():
    model = LongformerForMaskedLM(replace(SMALL, positions=16))
    tokens = torch.full((1, 17), 5)
    with pytest.raises(UserError, match="17 tokens is longer than the model's 16 positions"):
        model.logits(tokens, tokens > 0)
