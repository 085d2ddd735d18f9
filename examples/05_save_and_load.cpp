// Training, saving, loading and inference: a net with dropout learns which of two noisy waves it sees, and a second one, loaded from the
// file, answers as the first does. Prints:
//
//   trained: right for more than 95 % of the waves
//   saved: hidden.bias hidden.weight norm.bias norm.num_batches_tracked norm.running_mean norm.running_var norm.weight out.bias out.weight
//   loaded: the same answers
#include <whit/whit.h>

#include <filesystem>
#include <iostream>

namespace nn = whit::nn;
using whit::Tensor;

// The names in the file are those in `field_names`; without it, fields are numbered.
struct Net {
  nn::Linear hidden{32, 64};
  nn::BatchNorm norm{64};
  nn::Linear out{64, 2};
  static constexpr std::array field_names{"hidden", "norm", "out"};
  Tensor operator()(const Tensor& waves) const { return out(norm(hidden(waves)).relu().dropout(0.2)); }
};

struct Batch {
  Tensor waves, classes;
};

Batch draw(int64_t count) {
  const Tensor classes = Tensor::randint(0, 2, {count});
  const Tensor frequency = 0.4 + 0.3 * classes.to_float().unsqueeze(1);
  const Tensor waves = (Tensor::arange(32) * frequency + Tensor::uniform({count, 1}, 0, 6)).sin() + 0.3 * Tensor::randn({count, 32});
  return {waves, classes};
}

void train(const Net& net) {
  const whit::Train training;  // while it stands, dropout drops and batch norm uses its batch
  nn::AdamW optimizer(nn::parameters(net), {.learning_rate = 0.01});
  for (int step = 0; step < 200; ++step) {
    const auto [waves, classes] = draw(64);
    optimizer.zero_grad();
    net(waves).cross_entropy(classes).backward();
    optimizer.step();
  }
}

int main() {
  Tensor::manual_seed(1);
  const Net net;
  train(net);
  const auto [waves, classes] = draw(500);
  const Tensor answers = net(waves).argmax(1).realize();
  const bool learned = (answers == classes).to_float().mean().item() > 0.95;
  std::cout << "trained: right for " << (learned ? "more" : "less") << " than 95 % of the waves\n";

  const std::string path = std::filesystem::temp_directory_path() / "whit_example_05.safetensors";
  nn::safe_save(nn::state_dict(net), path);
  const nn::StateDict saved = nn::safe_load(path);
  std::cout << "saved:";
  for (const auto& [name, tensor] : saved) std::cout << ' ' << name;
  std::cout << '\n';

  const Net other;
  nn::load_state_dict(other, saved);
  std::filesystem::remove(path);
  const bool same = (other(waves) == net(waves)).all().item<bool>();
  std::cout << "loaded: " << (same ? "the same" : "other") << " answers\n";
  return learned && same ? 0 : 1;
}
