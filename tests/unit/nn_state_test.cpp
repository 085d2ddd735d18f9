// Models as trees of tensors: how they are found, named, loaded and saved.
#include <filesystem>
#include <fstream>

#include "unit/nn_values.h"

namespace whit {
namespace {

std::vector<std::string> names_of(const nn::StateDict& dict) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : dict) names.push_back(name);
  return names;
}
using Names = std::vector<std::string>;

struct Block {
  nn::Linear first{2, 3}, second{3, 2, false};
};
struct Named {
  nn::Linear hidden{2, 4};
  Block block;
  static constexpr std::array field_names{"hidden", "block"};
};
struct Everything {
  Tensor scale = lcg({2}, 1), unused;
  std::vector<Block> blocks = std::vector<Block>(2);
  std::array<nn::Linear, 1> pair{nn::Linear(1, 1)};
  std::optional<nn::Linear> absent;
  std::tuple<int, Tensor> tuple{3, lcg({1}, 2)};
  std::map<std::string, Tensor> map{{"b", lcg({1}, 3)}, {"a", lcg({1}, 4)}};
  std::unique_ptr<Block> owned;
  std::variant<int, nn::Linear> choice = nn::Linear(1, 1, false);
  std::string text = "no tensor";
  std::function<Tensor(const Tensor&)> activation = [](const Tensor& x) { return x; };
  int64_t count = 3;
  Sizes sizes{1, 2};
  ConvOptions options;
};
// A class whose members are its own affair.
class Closed {
 public:
  explicit Closed(int64_t size) : layer_(size, size) {}
  auto fields() const { return std::tie(layer_); }

 private:
  nn::Linear layer_;
};
struct Sixteen {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

TEST(State, NamesOfFields) {
  EXPECT_EQ(names_of(nn::state_dict(nn::Linear(1, 1))), (Names{"bias", "weight"}));
  EXPECT_EQ(names_of(nn::state_dict(nn::BatchNorm(1))), (Names{"bias", "num_batches_tracked", "running_mean", "running_var", "weight"}));
  EXPECT_EQ(names_of(nn::state_dict(Block())), (Names{"0.bias", "0.weight", "1.weight"}));
  EXPECT_EQ(names_of(nn::state_dict(Named())), (Names{"block.0.bias", "block.0.weight", "block.1.weight", "hidden.bias", "hidden.weight"}));
  EXPECT_EQ(names_of(nn::state_dict(Closed(2))), (Names{"0.bias", "0.weight"}));
  EXPECT_EQ(names_of(nn::state_dict(Everything())), (Names{"0", "2.0.0.bias", "2.0.0.weight", "2.0.1.weight", "2.1.0.bias", "2.1.0.weight",
                                                           "2.1.1.weight", "3.0.bias", "3.0.weight", "5.1", "6.a", "6.b", "8.weight"}));
}

TEST(State, ParametersComeOnceAndInOrder) {
  Block block;
  block.second.weight = block.first.weight;
  const std::vector<Tensor> found = nn::parameters(std::tie(block, block.first));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].handle(), block.first.weight.handle());
  EXPECT_EQ(found[1].handle(), block.first.bias.handle());
  Sixteen many;
  many.a = many.p = lcg({1}, 1);
  EXPECT_EQ(nn::parameters(many).size(), 1u);
}

TEST(State, LoadingKeepsTheTensors) {
  const Block from, into;
  const Tensor alias = into.first.weight;
  nn::load_state_dict(into, nn::state_dict(from));
  EXPECT_EQ(alias.to_vector(), from.first.weight.to_vector());
  EXPECT_EQ(into.second.weight.to_vector(), from.second.weight.to_vector());
  // Values are converted to the model's dtype.
  nn::load_state_dict(nn::StateDict{{"x", alias}}, {{"x", Tensor::ones({3, 2}, {.dtype = DType::float16})}});
  EXPECT_EQ(alias.dtype(), DType::float32);
  EXPECT_EQ(alias.to_vector(), std::vector<float>(6, 1));
}

TEST(State, LoadingNamesAllThatIsWrongAndChangesNothing) {
  const Block block;
  const std::vector<float> before = block.first.bias.to_vector();
  nn::StateDict dict = nn::state_dict(Block());
  dict.erase("0.weight");
  dict["1.weight"] = lcg({2, 2}, 1);
  dict["2.extra"] = lcg({1}, 1);
  try {
    nn::load_state_dict(block, dict);
    FAIL();
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    EXPECT_NE(message.find("missing: 0.weight (3, 2) float32"), std::string::npos) << message;
    EXPECT_NE(message.find("shape: 1.weight is (2, 3) in the model, (2, 2) in what is loaded"), std::string::npos) << message;
    EXPECT_NE(message.find("unexpected: 2.extra"), std::string::npos) << message;
    EXPECT_NE(message.find("nn_state_test.cpp:"), std::string::npos) << message;
  }
  EXPECT_EQ(block.first.bias.to_vector(), before);
  dict.erase("1.weight");
  nn::load_state_dict(block, dict, false);  // not strict: what is there
  EXPECT_EQ(block.first.bias.to_vector(), dict["0.bias"].to_vector());
}

class StateFile : public testing::Test {
 protected:
  const std::string path = testing::TempDir() + "whit_state_test.safetensors";
  void TearDown() override { std::filesystem::remove(path); }
};

std::vector<uint8_t> bytes_of_tensor(const Tensor& tensor) {
  std::vector<uint8_t> bytes(size_t(tensor.numel()) * item_size(tensor.dtype()));
  tensor.copy_to(bytes.data(), bytes.size());
  return bytes;
}

TEST_F(StateFile, EveryTypeComesBackBitForBit) {
  nn::StateDict dict;
  for (size_t i = size_t(DType::boolean); i < size_t(DType::index); ++i) {
    const DType type = DType(i);
    std::vector<uint8_t> bytes(6 * item_size(type));
    for (size_t k = 0; k < bytes.size(); ++k) bytes[k] = type == DType::boolean ? k % 2 : uint8_t(k * 83 + 17 * i);
    dict[std::string(name(type))] = Tensor::from_blob(bytes.data(), {2, 3}, {.dtype = type});
    EXPECT_EQ(bytes_of_tensor(dict[std::string(name(type))]), bytes);
  }
  dict["scalar"] = Tensor(2.5);
  dict["empty"] = Tensor(std::vector<float>(), {0, 4});
  nn::safe_save(dict, path, {{"made by", "a test"}});
  const nn::StateDict loaded = nn::safe_load(path);
  EXPECT_EQ(names_of(loaded), names_of(dict));
  for (const auto& [name, tensor] : dict) {
    EXPECT_EQ(loaded.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_EQ(loaded.at(name).shape(), tensor.shape()) << name;
    EXPECT_EQ(bytes_of_tensor(loaded.at(name)), bytes_of_tensor(tensor)) << name;
  }
}

TEST_F(StateFile, AModelComesBack) {
  const Named from, into;
  nn::safe_save(nn::state_dict(from), path);
  nn::load_state_dict(into, nn::safe_load(path));
  const Tensor x = lcg({3, 2}, 9);
  EXPECT_EQ(into.block.second(into.block.first(x)).to_vector(), from.block.second(from.block.first(x)).to_vector());
}

TEST_F(StateFile, BadFilesAreNamed) {
  EXPECT_THROW(nn::safe_load(path), UserError);
  nn::safe_save(nn::state_dict(Block()), path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  try {
    nn::safe_load(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::File);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("nn_state_test.cpp:"), std::string::npos);
  }
  EXPECT_THROW(nn::safe_save({{"x", Tensor()}}, path), UserError);
  EXPECT_THROW(nn::safe_save(nn::state_dict(Block()), "/no/such/folder/x.safetensors"), UserError);
}

}  // namespace
}  // namespace whit
