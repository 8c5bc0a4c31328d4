"""Checkpoints of all classes and formats load to the same model; what cannot be probed is refused in one line."""

import json
import pickle
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from clusterlens.errors import UserError
from clusterlens.probing.architectures import longest, parts
from clusterlens.probing.load import load, untrained
from clusterlens.probing.text import Characters
from reference import probing, tiny

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def albert(tmp_path):
    tiny.save("albert", tmp_path / "albert")
    return tmp_path / "albert"


def output(model, ids=(5, 6, 7, 8)):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).last_hidden_state[0]


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_every_class_loads_with_tokenizer_and_facts(kind, tmp_path):
    saved = tiny.save(kind, tmp_path)
    found = load(str(tmp_path))
    torch.testing.assert_close(output(found.model), output(saved))
    assert found.model.dtype == torch.float32 and not found.model.training
    assert found.model.config._attn_implementation == "eager"
    assert found.tokenizer("w5 w9")["input_ids"] == [0, 5, 9, 2]
    wanted = {"model_type": kind, "layers": 3, "heads": 3, "hidden": 24, "head_dim": 7 if kind == "t5" else 8}
    assert {key: found.facts[key] for key in wanted} == wanted
    assert longest(found.model) == {"t5": None, "albert": 66, "bert": 66}.get(kind, 64)
    json.dumps(found.facts)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_half_precision_loads_as_float32(dtype, tmp_path):
    saved = tiny.model_of("roberta").to(dtype)
    saved.save_pretrained(tmp_path)
    tiny.save_tokenizer(tmp_path)
    model = load(str(tmp_path)).model
    assert {tensor.dtype for tensor in model.parameters()} == {torch.float32}
    torch.testing.assert_close(output(model), output(saved.float()))


@pytest.mark.parametrize("kind", ("roberta", "t5"))
def test_shards_and_torch_files_load_to_the_same_model(kind, tmp_path):
    whole = tiny.save(kind, tmp_path / "whole")
    tiny.save(kind, tmp_path / "shards", shard="10KB")
    assert len(list((tmp_path / "shards").glob("model-*.safetensors"))) > 1
    shutil.copytree(tmp_path / "whole", tmp_path / "torch")
    tensors = load_file(tmp_path / "whole" / "model.safetensors")
    (tmp_path / "torch" / "model.safetensors").unlink()
    torch.save(tensors, tmp_path / "torch" / "pytorch_model.bin")
    for name in ("shards", "torch"):
        torch.testing.assert_close(output(load(str(tmp_path / name)).model), output(whole))


def test_a_checkpoint_with_a_head_on_top_loads_without_it(tmp_path):
    from transformers import AlbertForMaskedLM, T5ForConditionalGeneration

    for kind, head in (("albert", AlbertForMaskedLM), ("t5", T5ForConditionalGeneration)):
        config = tiny.config_of(kind)
        config.is_encoder_decoder = kind == "t5"
        config.num_decoder_layers = 1
        model = head(config).eval()
        model.save_pretrained(tmp_path / kind)
        found = load(str(tmp_path / kind), tokenizer="characters").model
        inner = model.albert if kind == "albert" else model.get_encoder()
        torch.testing.assert_close(output(found), output(inner))


def test_albert_unrolls_to_any_depth(tmp_path):
    whole = tiny.save("albert", tmp_path)
    unrolled = load(str(tmp_path), layers=7).model
    assert len(parts(unrolled)) == 7 and len(set(map(id, (part.layer for part in parts(unrolled))))) == 1
    hidden, _ = probing.everything(whole, [5, 6, 7, 8])
    deeper, _ = probing.everything(unrolled, [5, 6, 7, 8])
    assert len(deeper) == 8
    for one, other in zip(hidden, deeper, strict=False):
        torch.testing.assert_close(torch.tensor(one), torch.tensor(other))
    for depth in (1, 3):
        state = output(load(str(tmp_path), layers=depth).model)
        torch.testing.assert_close(state, torch.tensor(deeper[depth]))


def test_one_head_has_the_scale_of_the_whole_width(tmp_path):
    tiny.save("albert", tmp_path)
    model = load(str(tmp_path), heads=1).model
    assert parts(model)[0].scale == pytest.approx(24**-0.5)
    _, maps = probing.everything(model, [5, 6, 7])
    assert maps[0].shape == (1, 3, 3)


def test_t5_repeats_its_last_layer(tmp_path):
    whole = tiny.save("t5", tmp_path)
    deep = load(str(tmp_path), layers=5).model
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        x, bias = whole.shared(ids), None
        for index in (0, 1, 2, 2, 2):
            x, bias, _ = whole.encoder.block[index](x, None, bias)
        torch.testing.assert_close(output(deep), whole.encoder.final_layer_norm(x)[0])
    assert load(str(tmp_path), layers=2).facts["layers"] == 2


def test_t5_heads_merge_by_their_mean(tmp_path):
    whole = tiny.save("t5", tmp_path)
    found = load(str(tmp_path), heads=1)
    ours = found.model.encoder.block[0].layer[0].SelfAttention
    theirs = whole.encoder.block[0].layer[0].SelfAttention
    for name in ("q", "k", "v"):
        blocks = getattr(theirs, name).weight.split(7)
        torch.testing.assert_close(getattr(ours, name).weight, sum(blocks) / 3)
    torch.testing.assert_close(ours.o.weight, sum(theirs.o.weight.split(7, dim=1)) / 3)
    torch.testing.assert_close(
        ours.relative_attention_bias.weight[:, 0], theirs.relative_attention_bias.weight.mean(dim=1)
    )
    _, maps = probing.everything(found.model, [5, 6, 7])
    assert maps[0].shape == (1, 3, 3)
    assert found.facts["heads"] == 1 and found.facts["trained"]["heads"] == 3


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_untrained_weights_have_the_same_shape_and_come_from_the_seed(kind, tmp_path):
    tiny.save(kind, tmp_path)
    options = {"layers": 5, "heads": 1} if kind in ("albert", "t5") else {}
    trained = load(str(tmp_path), **options)
    one, same, other = (untrained(trained, seed=seed) for seed in (0, 0, 1))
    shapes = [(name, tensor.shape) for name, tensor in trained.model.named_parameters()]
    assert [(name, tensor.shape) for name, tensor in one.model.named_parameters()] == shapes
    assert len(parts(one.model)) == len(parts(trained.model))
    torch.testing.assert_close(output(one.model), output(same.model))
    assert not torch.allclose(output(one.model), output(other.model))
    assert not torch.allclose(output(one.model), output(trained.model))
    assert one.model.config._attn_implementation == "eager"


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("roberta", {"layers": 4}, "only albert"),
        ("albert", {"layers": 0}, "1 or more"),
        ("albert", {"heads": 5}, "do not divide the hidden size 24"),
        ("t5", {"heads": 2}, "merged into 1 only"),
    ],
)
def test_impossible_depths_and_heads_are_refused(kind, options, message, tmp_path):
    tiny.save(kind, tmp_path)
    with pytest.raises(UserError, match=message):
        load(str(tmp_path), **options)


def test_a_longformer_is_cut_short_with_its_windows(tmp_path):
    whole = tiny.save("longformer", tmp_path)
    hidden, _ = probing.everything(whole, [5, 6, 7, 8])
    torch.testing.assert_close(output(load(str(tmp_path), layers=2).model), torch.tensor(hidden[2]), atol=1e-5, rtol=0)


def refused(folder, message, **options) -> str:
    with pytest.raises(UserError, match=message) as caught:
        load(str(folder), **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_decoder_only_models_are_refused(albert, tmp_path):
    from transformers import GPT2Config, GPT2Model

    GPT2Model(GPT2Config(n_layer=1, n_embd=8, n_head=2, vocab_size=20)).save_pretrained(tmp_path / "gpt2")
    refused(tmp_path / "gpt2", "gpt2 is a decoder-only model; probed are encoders: albert")
    rewrite(albert, is_decoder=True)
    refused(albert, "sees earlier tokens only")


def rewrite(folder, **changes):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_unknown_classes_are_refused(albert):
    for kind in ("distilbert", "vit", "nonsense"):
        rewrite(albert, model_type=kind)
        refused(albert, f"'{kind}' cannot be probed; probed are encoders: albert, bert, longformer, roberta, t5")


def test_a_missing_tokenizer_is_refused_unless_another_is_named(albert, tmp_path):
    (albert / "tokenizer.json").unlink()
    refused(albert, "no tokenizer .* 'tokenizer'")
    tiny.save_tokenizer(tmp_path / "words")
    assert load(str(albert), tokenizer=str(tmp_path / "words")).tokenizer("w7")["input_ids"] == [0, 7, 2]
    assert isinstance(load(str(albert), tokenizer="characters").tokenizer, Characters)
    refused(albert, "no such folder", tokenizer=str(tmp_path / "nothing"))


def test_half_downloaded_folders_are_refused(albert, tmp_path):
    (albert / "config.json").rename(albert / "other.json")
    refused(albert, "no config.json")
    (albert / "other.json").rename(albert / "config.json")
    whole = (albert / "model.safetensors").read_bytes()
    (albert / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    refused(albert, "damaged or cut short")
    (albert / "model.safetensors").unlink()
    refused(albert, "neither model.safetensors nor pytorch_model.bin")
    tiny.save("roberta", tmp_path / "shards", shard="10KB")
    sorted((tmp_path / "shards").glob("model-*.safetensors"))[1].unlink()
    refused(tmp_path / "shards", "1 of .* shards are missing")
    (tmp_path / "shards" / "model.safetensors.index.json").write_text("{}")
    refused(tmp_path / "shards", "not an index of shards")


def test_weights_of_another_model_are_refused(albert):
    rewrite(albert, hidden_size=30)
    refused(albert, "do not fit together")
    rewrite(albert, hidden_size=24, num_hidden_groups=2)
    refused(albert, "the weights lack")


@pytest.mark.parametrize("value", (float("nan"), float("inf")))
def test_weights_that_are_not_finite_are_refused(albert, value):
    tensors = load_file(albert / "model.safetensors")
    name = next(name for name in tensors if name.endswith("ffn.weight"))
    tensors[name][3, 4] = value
    save_file(tensors, albert / "model.safetensors", metadata={"format": "pt"})
    refused(albert, "ffn.weight hold values that are not finite")


def test_pickles_that_could_run_code_are_not_opened(albert, tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    (albert / "model.safetensors").unlink()
    torch.save({"weight": Harm()}, albert / "pytorch_model.bin")
    refused(albert, "could run code")
    (albert / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Harm()}, protocol=2))
    refused(albert, "could run code")
    assert not (tmp_path / "harm").exists()


def test_quantised_weights_are_refused(albert):
    rewrite(albert, quantization_config={"quant_method": "bitsandbytes"})
    refused(albert, "quantised")


def test_remote_code_is_never_run(albert, tmp_path):
    rewrite(albert, auto_map={"AutoModel": "harm.Model", "AutoConfig": "harm.Config"})
    (albert / "harm.py").write_text(f"open({str(tmp_path / 'harm')!r}, 'w')")
    load(str(albert))
    assert not (tmp_path / "harm").exists()


def test_no_such_folder(tmp_path):
    refused(tmp_path / "nothing", "no such folder")
    refused("./nothing", "no such folder")


class TestHub:
    """A hub id without a network: from the cache, or one line."""

    @pytest.fixture
    def cache(self, tmp_path, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
        return tmp_path / "cache"

    def fill(self, cache):
        place = cache / "models--someone--albert"
        (place / "refs").mkdir(parents=True)
        (place / "refs" / "main").write_text("c" * 40)
        tiny.save("albert", place / "snapshots" / ("c" * 40))

    def test_offline_takes_what_the_cache_has(self, cache, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        self.fill(cache)
        found = load("someone/albert")
        assert found.facts["revision"] == "c" * 40 and found.facts["source"] == "someone/albert"

    def test_an_unreachable_hub_is_no_obstacle_to_the_cache(self, cache, monkeypatch):
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        self.fill(cache)
        assert load("someone/albert").facts["layers"] == 3

    def test_not_in_the_cache(self, cache, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        refused("someone/else", "not in the hub's cache .HF_HUB_OFFLINE is set")
        monkeypatch.delenv("HF_HUB_OFFLINE")
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        refused("someone/else", "cannot be reached")
