#include "unit/tensor_values.h"

namespace whit {
namespace {

Tensor of(DType type) { return Tensor({1, 1}, {.dtype = type}); }

TEST(TensorElementwise, TypesMeetInTheLatticeInBothOrders) {
  using enum DType;
  const std::vector<std::array<DType, 3>> cases{{int8, int32, int32},        {uint8, int8, int16},
                                                {int64, float16, float16},   {float16, bfloat16, float32},
                                                {boolean, float16, float16}, {uint32, int32, int64},
                                                {uint64, int64, float32},    {float32, float64, float64},
                                                {boolean, int8, int8},       {float8_e4m3, float8_e5m2, float16},
                                                {uint8, uint16, uint16},     {int64, float32, float32}};
  for (const auto& [a, b, both] : cases) {
    EXPECT_EQ((of(a) + of(b)).dtype(), both) << name(a) << " + " << name(b);
    EXPECT_EQ((of(b) + of(a)).dtype(), both) << name(b) << " + " << name(a);
  }
}

TEST(TensorElementwise, LiteralsNeverWidenATensor) {
  using enum DType;
  for (const DType type : {int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, bfloat16, float32, float64}) {
    EXPECT_EQ((of(type) + 1).dtype(), type) << name(type);
    EXPECT_EQ((2 * of(type)).dtype(), type) << name(type);
    EXPECT_EQ((of(type) * 1.5).dtype(), is_float(type) ? type : float32) << name(type);
    EXPECT_EQ((of(type) + true).dtype(), type) << name(type);
  }
  EXPECT_EQ((of(boolean) + 1).dtype(), int32);
  EXPECT_EQ((of(boolean) * 1.5).dtype(), float32);
  EXPECT_EQ((of(boolean) & true).dtype(), boolean);
  EXPECT_EQ(of(boolean).where(1, 0).dtype(), int32);
  EXPECT_EQ(of(boolean).where(1, 0.5).dtype(), float32);
  EXPECT_EQ(of(boolean).where(of(int8), 0).dtype(), int8);
  expect_refused([] { of(uint8) + 300; }, ErrorKind::Value, {"300", "uint8", "cast"});
  expect_refused([] { of(uint8) < -1; }, ErrorKind::Value, {"-1", "uint8"});
}

TEST(TensorElementwise, Broadcasting) {
  const Tensor column({{1}, {2}}), row({10, 20, 30});
  expect_values(column + row, {2, 3}, {11, 21, 31, 12, 22, 32});
  expect_values(Tensor(5) - row, {3}, {-5, -15, -25});
  expect_values(Tensor::ones({1}) + Tensor::ones({0}), {0}, {});
  expect_values(Tensor::ones({3, 1}) * Tensor::ones({1, 0}), {3, 0}, {});
  expect_values(Tensor(2) * Tensor(3), {}, {6});
  expect_values((column == 2).where(row, 0), {2, 3}, {0, 0, 0, 10, 20, 30});
}

TEST(TensorElementwise, ShapesThatDontBroadcastAreNamed) {
  const Tensor a = Tensor::ones({2, 3}), b = Tensor::ones({4});
  expect_refused([&] { a + b; }, ErrorKind::Shape, {"add", "(2, 3)", "(4,)", "3 and 4"});
  expect_refused([&] { b* a; }, ErrorKind::Shape, {"mul", "(2, 3)", "(4,)"});
  expect_refused([&] { a < b; }, ErrorKind::Shape, {"lt", "(2, 3)"});
  expect_refused([&] { a.maximum(b); }, ErrorKind::Shape, {"maximum"});
  expect_refused([&] { (a > 0).where(a, b); }, ErrorKind::Shape, {"where"});
  expect_refused([&] { a.pow(b); }, ErrorKind::Shape, {"pow"});
  expect_refused(
      [&] {
        Tensor c = Tensor::ones({4});
        c += a;
      },
      ErrorKind::Shape, {"(4,)"});
}

TEST(TensorElementwise, IntegersWrap) {
  expect_values(Tensor({127, -128}, {.dtype = DType::int8}) + 1, {2}, {-128, -127});
  expect_values(Tensor({200}, {.dtype = DType::uint8}) * 2, {1}, {144});
  const Tensor y({4, 100, -100, 127}, {.dtype = DType::int8});
  expect_values(6 * (5 + y), {4}, {54, 118, -58, 24});
  expect_values(6 * y + 30, {4}, {54, 118, -58, 24});
  expect_values(-Tensor({1, 0}, {.dtype = DType::uint8}), {2}, {255, 0});
  expect_values(Tensor({-128}, {.dtype = DType::int8}).abs(), {1}, {-128});
}

TEST(TensorElementwise, DivisionOfIntegers) {
  const Tensor a({-7, 7, 7, -7, -1, 1, 0, -6}), b({2, 2, -2, -2, 3, -3, 5, 3});
  expect_values(a / b, {8}, {-3.5, 3.5, -3.5, 3.5, double(-1.0f / 3), double(-1.0f / 3), 0, -2});
  EXPECT_EQ((a / b).dtype(), DType::float32);
  expect_values(a.floor_div(b), {8}, {-4, 3, -4, 3, -1, -1, 0, -2});
  expect_values(a % b, {8}, {1, 1, -1, -1, 2, -2, 0, 0});
  expect_values(a.trunc_div(b), {8}, {-3, 3, -3, 3, 0, 0, 0, -2});
  expect_values(a.fmod(b), {8}, {-1, 1, 1, -1, -1, 1, 0, 0});
  const Tensor least({INT32_MIN, INT32_MIN, 5}), by({-1, 0, 0});
  expect_values(least.floor_div(by), {3}, {double(INT32_MIN), 0, 0});
  expect_values(least % by, {3}, {0, 0, 0});
  expect_values(Tensor({7, 200}, {.dtype = DType::uint8}).floor_div(3), {2}, {2, 66});
  expect_values(((5 * Tensor::arange(12)) % 12) % 5, {12}, {0, 0, 0, 3, 3, 1, 1, 1, 4, 4, 2, 2});
  expect_values(Tensor({true, false}) % 1, {2}, {0, 0});
}

TEST(TensorElementwise, DivisionOfFloats) {
  const Tensor a({-7.0, 7.0, -3.5, 3.5, -1.0, 1.0, 5.0, -5.0, 0.0}), b({2.0, -2.0, 1.0, -1.0, 3.0, 0.1, kInf, kInf, 0.0});
  expect_values(a.floor_div(b), {9}, {-4, -4, -4, -4, -1, 9, 0, -1, kNaN});
  expect_close(a % b, {9}, {1, -1, 0.5, -0.5, 2, 0.1, 5, kInf, kNaN}, 3e-8);
  expect_close(a.fmod(b), {9}, {-1, 1, -0.5, 0.5, -1, 0.1, 5, -5, kNaN}, 3e-8);
  expect_values(Tensor({1.0, -1.0}) / 0, {2}, {kInf, -kInf});
}

TEST(TensorElementwise, Powers) {
  const Tensor x({-2.0, -3.0, -28.5});
  expect_values(x.pow(3), {3}, {-8, -27, -23149.125});
  expect_values(x.pow(2), {3}, {4, 9, 812.25});
  expect_close(x.pow(-2), {3}, {0.25, 1.0 / 9, 0.0012311480}, 1e-7);
  expect_values(x.pow(0), {3}, {1, 1, 1});
  expect_values(x.pow(0.2), {3}, {kNaN, kNaN, kNaN});
  expect_values(Tensor({2, -1, 1, 3}).pow(Tensor({-2, -3, -2, -1})), {4}, {0, -1, 1, 0});
  expect_values(Tensor({2, 2, 2}).pow(Tensor({0, 1, 30})), {3}, {1, 2, 1073741824});
  expect_values(Tensor({3, -7, 10}).pow(5), {3}, {243, -16807, 100000});
  expect_values(Tensor({3}, {.dtype = DType::int64}).pow(Tensor({39}, {.dtype = DType::int64})).cast(DType::float64), {1},
                {4052555153018976267.0});
  expect_close(Tensor(0.7).pow(Tensor({-2, -1, 0, 1, 2, 3})), {6}, {2.0408163, 1.4285715, 1.0, 0.7, 0.49, 0.343}, 1e-6);
  expect_values(Tensor({true, false}).pow(2), {2}, {1, 0});
  expect_values(Tensor({4.0, 2.25}).pow(0.5), {2}, {2, 1.5});
  expect_refused([] { Tensor({2}).pow(-1); }, ErrorKind::Value, {"pow", "-1", "float"});
}

TEST(TensorElementwise, ComparisonsWithNaN) {
  const Tensor a({1.0, kNaN, 2.0, kNaN}), b({1.0, 1.0, kNaN, kNaN});
  expect_values(a == b, {4}, {1, 0, 0, 0});
  expect_values(a != b, {4}, {0, 1, 1, 1});
  expect_values(a < b, {4}, {0, 0, 0, 0});
  expect_values(a <= b, {4}, {1, 0, 0, 0});
  expect_values(a > b, {4}, {0, 0, 0, 0});
  expect_values(a >= b, {4}, {1, 0, 0, 0});
  EXPECT_EQ((a >= b).dtype(), DType::boolean);
  expect_values(Tensor({1, 2, 3}) >= 2, {3}, {0, 1, 1});
  expect_values(2 <= Tensor({1, 2, 3}), {3}, {0, 1, 1});
  expect_values(Tensor({1, 2, 3}) < 1.5, {3}, {1, 0, 0});
}

TEST(TensorElementwise, MaximumAndMinimumKeepNaN) {
  const Tensor a({1.0, kNaN, 2.0}), b({2.0, 1.0, kNaN});
  expect_values(a.maximum(b), {3}, {2, kNaN, kNaN});
  expect_values(a.minimum(b), {3}, {1, kNaN, kNaN});
  expect_values(Tensor({-1.0, 0.5, 2.0, kNaN}).clip(0, 1), {4}, {0, 0.5, 1, kNaN});
  expect_values(Tensor({-1, 5}).clip(0, 3), {2}, {0, 3});
  EXPECT_EQ(Tensor({-1, 5}).clip(0, 3).dtype(), DType::int32);
  expect_values(Tensor({-1, 5}).clip({}, 3), {2}, {-1, 3});
  expect_refused([] { Tensor({1}).clip({}, {}); }, ErrorKind::Value, {"clip"});
}

TEST(TensorElementwise, Bits) {
  const Tensor a({12, -1}), b({10, 7});
  expect_values(a & b, {2}, {8, 7});
  expect_values(a | b, {2}, {14, -1});
  expect_values(a ^ b, {2}, {6, -8});
  expect_values(~a, {2}, {-13, 0});
  expect_values(~Tensor({0, 255}, {.dtype = DType::uint8}), {2}, {255, 0});
  expect_values(!Tensor({0.0, 2.0}), {2}, {1, 0});
  expect_values(~Tensor({true, false}), {2}, {0, 1});
  expect_values(Tensor({1, -8}) << 2, {2}, {4, -32});
  expect_values(Tensor({9, -8}) >> 1, {2}, {4, -4});
  expect_values((Tensor({1}) << 40), {1}, {0});
  expect_values(Tensor({true, true}) & Tensor({true, false}), {2}, {1, 0});
  expect_values(Tensor({true, false}) + Tensor({true, false}), {2}, {1, 0});
  expect_values(Tensor({true, true}) * Tensor({true, false}), {2}, {1, 0});
  expect_refused([] { Tensor({1.0}) & 1; }, ErrorKind::Type, {"bitwise_and", "float32"});
  expect_refused([] { Tensor({true}) << 1.5; }, ErrorKind::Type, {"lshift"});
  expect_refused([] { ~Tensor({1.0}); }, ErrorKind::Type, {"bitwise_not"});
  expect_refused([] { Tensor({true}) - Tensor({true}); }, ErrorKind::Type, {"sub", "bool"});
  expect_refused([] { Tensor({true}).neg(); }, ErrorKind::Type, {"neg", "bool"});
}

TEST(TensorElementwise, WhereAndMasks) {
  const Tensor condition({true, false, true});
  expect_values(condition.where(Tensor({1, 2, 3}), Tensor({0.5, 0.5, 0.5})), {3}, {1, 0.5, 3});
  expect_values(condition.where(Tensor({16777217, 5, -7}), 0.5), {3}, {16777216, 0.5, -7});
  expect_values(Tensor({2, 0, 1}).where(1, 0), {3}, {1, 0, 1});
  expect_values(Tensor({1.0, 2.0, 3.0}).masked_fill(condition, -1), {3}, {-1, 2, -1});
  expect_values((Tensor({1, 2}) == Tensor({1, 3})).where(Tensor({true, true}), 0), {2}, {1, 0});
  expect_refused([&] { Tensor({1}).masked_fill(Tensor({1}), 0); }, ErrorKind::Type, {"masked_fill", "bool"});
}

TEST(TensorElementwise, Casts) {
  expect_values(Tensor({3.9, -3.9, kNaN, 1e10, -1e10}).cast(DType::int32), {5}, {3, -3, 0, 2147483647.0, -2147483648.0});
  expect_values(Tensor({-1, -128}, {.dtype = DType::int8}).cast(DType::uint16), {2}, {65535, 65408});
  expect_values(Tensor({300}).cast(DType::uint8), {1}, {44});
  expect_values(Tensor({0.0, -0.0, 0.3, kNaN}).to_bool(), {4}, {0, 0, 1, 1});
  EXPECT_EQ(Tensor({1}).half().dtype(), DType::float16);
  expect_refused([] { Tensor({1}).cast(DType::index); }, ErrorKind::Type, {"cast", "index"});
}

TEST(TensorElementwise, BitcastsBetweenSizes) {
  expect_values(Tensor({1.0, -2.0}).bitcast(DType::int32), {2}, {0x3F800000, double(int32_t(0xC0000000))});
  expect_values(Tensor({0x04030201, -1}).bitcast(DType::uint8), {8}, {1, 2, 3, 4, 255, 255, 255, 255});
  expect_values(Tensor({1, 2, 3, 4}, {.dtype = DType::uint8}).bitcast(DType::int32), {1}, {0x04030201});
  expect_values(Tensor({0x3C00, 0x0001}, {.dtype = DType::uint16}).bitcast(DType::float16), {2}, {1, 5.9604644775390625e-08});
  expect_values(Tensor({{1.0}, {2.0}}, {.dtype = DType::float64}).bitcast(DType::float32).bitcast(DType::float64), {2, 1}, {1, 2});
  expect_refused([] { Tensor({1, 2, 3}, {.dtype = DType::uint8}).bitcast(DType::int32); }, ErrorKind::Shape, {"bitcast", "(3,)"});
  expect_refused([] { Tensor(1).bitcast(DType::uint8); }, ErrorKind::Shape, {"bitcast", "scalar"});
  expect_refused([] { Tensor({true}).bitcast(DType::uint8); }, ErrorKind::Type, {"bitcast", "bool"});
}

TEST(TensorElementwise, FloatFunctionsOfIntegersGiveFloat32) {
  for (const Tensor& result :
       {Tensor({4}).sqrt(), Tensor({4}).exp(), Tensor({true}).sin(), Tensor({4}).reciprocal(), Tensor({4}).tanh(), Tensor({4}).erf()})
    EXPECT_EQ(result.dtype(), DType::float32);
  EXPECT_EQ(Tensor({4.0}, {.dtype = DType::float16}).tanh().dtype(), DType::float16);
  EXPECT_EQ(Tensor({4}).floor().dtype(), DType::int32);
  EXPECT_EQ(Tensor({4}).abs().dtype(), DType::int32);
}

TEST(TensorElementwise, TensorsOfTwoDevicesDontMix) {
  const Tensor a({1.0}), b({1.0}, {.device = "NULL"});
  expect_refused([&] { a + b; }, ErrorKind::Device, {"add", a.device(), "NULL", "to("});
  expect_refused([&] { a.matmul(b); }, ErrorKind::Device, {"matmul"});
  expect_refused([&] { Tensor::cat({a, b}); }, ErrorKind::Device, {"cat"});
  EXPECT_EQ((b + 1).device(), "NULL");
}

}  // namespace
}  // namespace whit
