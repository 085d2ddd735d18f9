// Kernels for devices with work groups, from their axes to what every backend makes of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "codegen/pipeline.h"
#include "runtime/backend.h"

namespace whit {
namespace {

OpenDevice* device_of(const Backend* backend) {
  static auto& opened = *new std::map<const Backend*, std::unique_ptr<OpenDevice>>;
  auto& device = opened[backend];
  if (!device && backend->unavailable().empty()) device = backend->open(0);
  return device.get();
}

template <class T>
std::vector<T> run(OpenDevice& device, const LinearKernel& kernel, const std::vector<T>& input, size_t outputs) {
  const LinearKernel* one = &kernel;
  const auto program = device.compile({&one, 1})[0];
  std::vector<T> output(outputs);
  void* memory[] = {device.alloc(outputs * sizeof(T)), device.alloc(input.size() * sizeof(T))};
  const size_t offsets[] = {0, 0};
  device.copy_in(memory[1], 0, input.data(), input.size() * sizeof(T));
  device.launch(*program, memory, offsets, {}, kernel.parallel ? kernel.parallel->source(0)->arg(0) : 1);
  device.synchronize();
  device.copy_out(output.data(), memory[0], 0, outputs * sizeof(T));
  device.free(memory[0], outputs * sizeof(T));
  device.free(memory[1], input.size() * sizeof(T));
  return output;
}

Target with_groups() {
  Target target;
  target.work_group = 64;
  return target;
}

class Groups : public testing::TestWithParam<Backend*> {
 protected:
  void SetUp() override {
    if (std::string reason = GetParam()->unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  OpenDevice& device() { return *device_of(GetParam()); }

  const Node* output(DType type, int64_t size) { return graph.make(Op::Param, {}, {0, size, kNoDevice}, type); }
  const Node* input(const Node* index, DType type, int64_t size) {
    return graph.make(Op::Load, {graph.make(Op::Param, {}, {1, size, kNoDevice}, type), index});
  }
  const Node* fold(Op op, const Node* value, const Node* range) { return graph.make(Op::Accumulate, {value, range}, {int64_t(op)}); }
  const Node* sink(const Node* storage, const Node* index, const Node* value) {
    return graph.make(Op::Sink, {graph.make(Op::Store, {storage, index, value})});
  }
  /// row*columns + column
  const Node* at(const Node* row, int64_t columns, const Node* column) { return graph.add(graph.mul(row, graph.index(columns)), column); }

  Graph graph;
};

// Softmax of rows whose exponentials are staged: every thread computes three of them, and reads them all.
TEST_P(Groups, StagedSoftmax) {
  constexpr int64_t rows = 6, threads = 32, steps = 3, columns = threads * steps;
  const Node *row = graph.range(0, rows, AxisKind::parallel), *thread = graph.range(1, threads, AxisKind::local);
  const Node *step = graph.range(2, steps, AxisKind::loop), *i = graph.range(3, columns, AxisKind::reduce);
  const Node *j = graph.range(4, columns, AxisKind::reduce), *column = at(step, threads, thread);
  const auto value = [&](const Node* place) { return input(at(row, columns, place), DType::float32, rows * columns); };
  const Node* most = fold(Op::Max, value(i), i);
  const Node* power = graph.make(Op::Exp, {graph.add(value(column), graph.make(Op::Neg, {most}))});
  const Node* kept = graph.make(Op::Stage, {power, step, thread});
  const Node* sum = fold(Op::Add, graph.make(Op::Load, {kept, j}), j);
  const Node* share = graph.make(Op::Divide, {graph.make(Op::Load, {kept, column}), sum});
  LowerOptions options;
  for (const bool optimize : {true, false}) {
    options.optimize = optimize;
    const LinearKernel kernel =
        lower_kernel(sink(output(DType::float32, rows * columns), at(row, columns, column), share), device().target(), "softmax", options);
    EXPECT_EQ(kernel.group_size, threads);
    ASSERT_EQ(kernel.locals.size(), 1u);
    EXPECT_EQ(kernel.locals[0]->arg(1), columns);

    std::vector<float> in(size_t(rows * columns));
    for (size_t k = 0; k < in.size(); ++k) in[k] = float(int(k * 37 % 101) - 50) / 16;
    const std::vector<float> out = run(device(), kernel, in, in.size());
    for (size_t r = 0; r < size_t(rows); ++r) {
      double total = 0;
      for (size_t c = 0; c < size_t(columns); ++c) total += std::exp(double(in[r * columns + c]));
      for (size_t c = 0; c < size_t(columns); ++c)
        EXPECT_NEAR(out[r * columns + c], std::exp(double(in[r * columns + c])) / total, 1e-6) << r << ", " << c << '\n'
                                                                                               << to_string(kernel);
    }
  }
}

TEST_P(Groups, EverySizeRuns) {
  for (const int64_t size : {1, 2, 7, 63, 64, 65, 100, 1000, 1009, 4096, 10007}) {
    const Node* i = graph.range(0, size, AxisKind::loop);
    const Node* doubled = graph.add(input(i, DType::int32, size), graph.make(Op::Cast, {i}, {}, DType::int32));
    const LinearKernel kernel = lower_kernel(sink(output(DType::int32, size), i, doubled), with_groups(), "every", {});
    EXPECT_EQ(kernel.group_size, size % 64 == 0 ? 64 : size == 100 || size == 1000 ? 50 : size == 63 ? 63 : 0) << size;
    std::vector<int32_t> in(size_t(size), 5);
    const std::vector<int32_t> out = run(device(), kernel, in, in.size());
    for (size_t k = 0; k < out.size(); ++k) ASSERT_EQ(out[k], int32_t(k) + 5) << size;
  }
}

TEST_P(Groups, LongSumsAreShared) {
  for (const int64_t rows : {1, 3, 300})
    for (const int64_t columns : {1000, 1024, 5003, 1 << 15}) {
      const Node *row = rows == 1 ? graph.index(0) : graph.range(0, rows, AxisKind::loop), *i = graph.range(1, columns, AxisKind::reduce);
      const Node* sum = fold(Op::Add, input(at(row, columns, i), DType::int32, rows * columns), i);
      const LinearKernel kernel = lower_kernel(sink(output(DType::int32, rows), row, sum), with_groups(), "sums", {});
      const bool shared = rows < 256 && columns >= 1024;
      EXPECT_EQ(kernel.locals.size(), shared ? 1u : 0u);
      EXPECT_EQ(kernel.group_size, shared ? 64 : rows == 300 ? 60 : 0);

      std::vector<int32_t> in(size_t(rows * columns)), expected(static_cast<size_t>(rows));
      for (size_t k = 0; k < in.size(); ++k) {
        in[k] = int32_t(k * 2654435761u >> 12);
        int32_t& total = expected[k / size_t(columns)];
        total = int32_t(uint32_t(total) + uint32_t(in[k]));  // wraps, as the op does
      }
      ASSERT_EQ(run(device(), kernel, in, size_t(rows)), expected) << rows << " x " << columns << '\n' << to_string(kernel);
    }
}

// The second sum needs the first: both are shared, one after the other.
TEST_P(Groups, SumsOfSums) {
  constexpr int64_t rows = 5, columns = 2000;
  const Node *row = graph.range(0, rows, AxisKind::loop), *i = graph.range(1, columns, AxisKind::reduce);
  const Node* j = graph.range(2, columns, AxisKind::reduce);
  const auto value = [&](const Node* place) { return input(at(row, columns, place), DType::int32, rows * columns); };
  const Node* sum = fold(Op::Add, value(i), i);
  const Node* away = graph.add(value(j), graph.make(Op::Neg, {sum}));
  const Node* squares = fold(Op::Add, graph.mul(away, away), j);
  const LinearKernel kernel = lower_kernel(sink(output(DType::int32, rows), row, squares), with_groups(), "squares", {});
  EXPECT_EQ(kernel.locals.size(), 2u);

  std::vector<int32_t> in(size_t(rows * columns)), expected;
  for (size_t k = 0; k < in.size(); ++k) in[k] = int32_t(k * 37 % 23) - 9;
  for (size_t r = 0; r < size_t(rows); ++r) {
    uint32_t total = 0, result = 0;
    for (size_t c = 0; c < size_t(columns); ++c) total += uint32_t(in[r * columns + c]);
    for (size_t c = 0; c < size_t(columns); ++c)
      result += (uint32_t(in[r * columns + c]) - total) * (uint32_t(in[r * columns + c]) - total);
    expected.push_back(int32_t(result));
  }
  EXPECT_EQ(run(device(), kernel, in, size_t(rows)), expected) << to_string(kernel);
}

std::vector<Backend*> computing_backends() {
  std::vector<Backend*> backends = registered_backends();
  std::erase_if(backends, [](const Backend* backend) { return backend->device == "NULL"; });
  return backends;
}

std::string backend_name(const testing::TestParamInfo<Backend*>& parameter) {
  return std::string(parameter.param->device) + std::string(parameter.param->compiler);
}
INSTANTIATE_TEST_SUITE_P(All, Groups, testing::ValuesIn(computing_backends()), backend_name);

}  // namespace
}  // namespace whit
