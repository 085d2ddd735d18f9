// Random programs of views, writes and reads, beside a model on the host: a view is a value, and writing through it writes its base.
#include <gtest/gtest.h>
#include <whit/whit.h>

#include <numeric>
#include <random>

namespace whit {
namespace {

using Values = std::vector<int32_t>;

// A tensor and what it has to be: a base (its own), or a view of one.
struct Entry {
  Tensor tensor;
  size_t base;
  Sizes shape;
  Values values;               // of a view: as they were when it was made, or last written through
  std::vector<size_t> places;  // of each element, in the base
};

int64_t count(const Sizes& shape) { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }

std::vector<size_t> identity(size_t size) {
  std::vector<size_t> places(size);
  std::iota(places.begin(), places.end(), 0);
  return places;
}

class Program {
 public:
  Program(uint64_t seed, std::string device) : random_(seed), device_(std::move(device)) {
    for (int i = 0; i < 2; ++i) {
      const Sizes shape = pick(std::vector<Sizes>{{6}, {4, 6}, {2, 3, 4}, {1, 4}});
      Tensor tensor = data(shape);
      add_base(std::move(tensor), shape, last_data_);
      if (below(2)) entries_.back().tensor.realize();
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    std::vector<size_t> order = identity(entries_.size());
    std::shuffle(order.begin(), order.end(), random_);
    for (const size_t i : order) read(i);
  }
  const std::string& text() const { return text_; }

 private:
  void step() {
    const size_t i = below(entries_.size());
    switch (below(8)) {
      case 0:
      case 1: return make_view(i);
      case 2:
      case 3:
      case 4: return write(i);
      case 5: return read(i);
      case 6: return realise(i);
      default: return make_base(i);
    }
  }

  size_t below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random_); }
  template <class T>
  T pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  void say(const std::string& line) { text_ += line + '\n'; }
  static std::string name(size_t i) { return "t" + std::to_string(i); }

  Tensor data(const Sizes& shape) {
    last_data_.clear();
    for (int64_t k = count(shape); k > 0; --k) last_data_.push_back(int32_t(below(100)));
    return Tensor(last_data_, shape, {.device = device_});
  }

  void add_base(Tensor tensor, Sizes shape, Values values) {
    const std::vector<size_t> places = identity(values.size());
    entries_.push_back({std::move(tensor), entries_.size(), std::move(shape), std::move(values), places});
  }

  // ---- Views ----

  // Adds a view with these elements of entry i.
  void add_view(size_t i, Tensor tensor, const std::vector<size_t>& elements) {
    const Entry& from = entries_[i];
    Entry view{std::move(tensor), from.base, {}, {}, {}};
    view.shape = view.tensor.shape();
    for (const size_t element : elements) {
      view.values.push_back(from.values[element]);
      view.places.push_back(from.places[element]);
    }
    entries_.push_back(std::move(view));
  }

  // The same movement as of the tensor, of the numbers of its elements: done by whit on its own, from data.
  template <class Move>
  void move(size_t i, const std::string& how, const Move& by) {
    say(name(entries_.size()) + " = " + name(i) + "." + how);
    const std::vector<size_t> all = identity(entries_[i].values.size());
    const Tensor numbers(std::vector<int64_t>(all.begin(), all.end()), entries_[i].shape, {.device = "CPU:INTERP"});
    const std::vector<int64_t> moved = by(numbers).template to_vector<int64_t>();
    add_view(i, by(entries_[i].tensor), {moved.begin(), moved.end()});
  }

  void make_view(size_t i) {
    const Sizes shape = entries_[i].shape;
    if (shape.empty() || count(shape) == 0) return;
    const size_t axis = below(shape.size());
    const int64_t size = shape[axis], first = int64_t(below(size_t(size))), last = first + 1 + int64_t(below(size_t(size - first)));
    std::vector<Index> slice(axis, Slice{});
    switch (below(7)) {
      case 0: return move(i, "flip", [&](const Tensor& t) { return t.flip(axis); });
      case 1: return move(i, "T", [&](const Tensor& t) { return t.T(); });
      case 2: return move(i, "flatten", [](const Tensor& t) { return t.flatten(); });
      case 3: return move(i, "reshape", [](const Tensor& t) { return t.reshape({-1, 1}); });
      case 4: slice.emplace_back(first); break;
      case 5: slice.emplace_back(Slice{first, {}, 2}); break;
      default: slice.emplace_back(Slice{first, last});
    }
    move(i, "slice " + std::to_string(axis) + " " + std::to_string(first) + " " + std::to_string(last),
         [&](const Tensor& t) { return t.index(slice); });
  }

  // ---- Values ----

  // The first elements of an entry, in this shape.
  Tensor part(size_t i, const Sizes& shape) const {
    const Tensor& tensor = entries_[i].tensor;
    return tensor.shape() == shape ? tensor : tensor.flatten().shrink({{0, count(shape)}}).reshape(shape);
  }

  // A value of this shape that may read any entry.
  Tensor value(const Sizes& shape, Values& values, std::string& how) {
    const size_t i = below(entries_.size());
    if (below(3) == 0 || int64_t(entries_[i].values.size()) < count(shape)) {
      how = "data";
      Tensor tensor = data(shape);
      values = last_data_;
      return tensor;
    }
    values.assign(entries_[i].values.begin(), entries_[i].values.begin() + count(shape));
    how = name(i);
    if (below(4) == 0) return part(i, shape);
    how += " * 3 + 1";
    for (int32_t& v : values) v = int32_t(uint32_t(v) * 3 + 1);
    return part(i, shape) * 3 + 1;
  }

  void make_base(size_t i) {
    if (entries_.size() > 9) return realise(i);
    const Entry& from = entries_[i];
    const size_t how = below(5);
    say(name(entries_.size()) + " = copy " + std::to_string(how) + " of " + name(i));
    Tensor tensor = how == 0   ? from.tensor.clone()
                    : how == 1 ? from.tensor.contiguous()
                    : how == 2 ? from.tensor.detach()
                    : how == 3 ? from.tensor.to(device_)
                               : from.tensor + 0;
    add_base(std::move(tensor), Sizes(from.shape), Values(from.values));
  }

  void write(size_t i) {
    Values values;
    std::string how;
    const Tensor tensor = value(Sizes(entries_[i].shape), values, how);
    say(name(i) + ".assign(" + how + ")");
    Entry& entry = entries_[i];
    entry.tensor.assign(tensor);
    entry.values = values;
    if (entry.base == i) return;
    for (size_t k = 0; k < values.size(); ++k) entries_[entry.base].values[entry.places[k]] = values[k];
  }

  void realise(size_t i) {
    const size_t other = below(entries_.size());
    if (below(2)) {
      say("realize " + name(i));
      entries_[i].tensor.realize();
    } else {
      say("realize " + name(i) + " " + name(other));
      whit::realize({entries_[i].tensor, entries_[other].tensor});
    }
  }

  void read(size_t i) {
    say("read " + name(i));
    EXPECT_EQ(entries_[i].tensor.to_vector<int32_t>(), entries_[i].values) << name(i) << " after\n" << text_;
  }

  std::mt19937_64 random_;
  std::string device_, text_;
  std::vector<Entry> entries_;
  Values last_data_;
};

TEST(WritePrograms, GiveWhatTheModelGives) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Program program(seed, "CPU:INTERP");
    try {
      program.run(24);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << " after\n" << program.text();
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(WritePrograms, OnTheDefaultDevice) {
  for (uint64_t seed = 1000; seed < 1012; ++seed) {
    Program program(seed, Device::get_default());
    program.run(16);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace whit
