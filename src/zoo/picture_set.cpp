// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/picture_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "zoo/file_kind.h"
#include "zoo/owned_tensor.h"

namespace lowtide::zoo {
namespace {

namespace fs = std::filesystem;

// One part of a data set: pictures of the numbers first .. first + count - 1.
struct Range {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class PictureSet final : public DataSet {
 public:
  PictureSet(LabelledPictures all, Range training, Range evaluation)
      : all_(std::move(all)), training_(training), evaluation_(evaluation) {
    const std::vector<std::uint8_t>& labels = all_.labels.elements;
    classes_ = *std::max_element(labels.begin(), labels.end()) + 1;
  }

  InputKind kind() const override { return InputKind::kPictures; }
  std::int64_t classes() const override { return classes_; }
  std::int64_t size(Part part, const InputShape&) const override { return range(part).count; }

  Batch batch(Part part, std::span<const std::int64_t> numbers,
              const InputShape& shape) const override {
    const std::int64_t height = all_.pictures.sizes[1], width = all_.pictures.sizes[2];
    const auto count = static_cast<std::int64_t>(numbers.size());
    const auto picture_bytes = static_cast<std::size_t>(height * width);
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> classes_of;
    bytes.reserve(numbers.size() * picture_bytes);
    for (const std::int64_t number : numbers) {
      const auto i = static_cast<std::size_t>(range(part).first + number);
      const std::uint8_t* const from = &all_.pictures.elements[i * picture_bytes];
      bytes.insert(bytes.end(), from, from + picture_bytes);
      classes_of.push_back(all_.labels.elements[i]);
    }
    const at::Tensor classes = owned_tensor(std::move(classes_of), {count});
    at::Tensor pictures =
        owned_tensor(std::move(bytes), {count, 1, height, width}).to(at::kFloat).div_(255);
    if (height != shape.size || width != shape.size) {
      pictures = at::upsample_bilinear2d(pictures, {shape.size, shape.size},
                                         /*align_corners=*/false);
    }
    const at::Tensor targets = shape.is_dense ? spread(classes, pictures) : classes;
    if (shape.channels > 1) {
      pictures = pictures.expand({-1, shape.channels, -1, -1}).contiguous();
    }
    return {pictures, targets};
  }

 private:
  // A class for each point: the picture's where there is something, none on the black ground.
  static at::Tensor spread(const at::Tensor& classes, const at::Tensor& pictures) {
    const at::Tensor everywhere = classes.view({-1, 1, 1}).expand_as(pictures.squeeze(1));
    return at::where(pictures.squeeze(1).gt(0), everywhere, kNoTarget);
  }

  const Range& range(Part part) const { return part == Part::kTraining ? training_ : evaluation_; }

  LabelledPictures all_;
  Range training_;
  Range evaluation_;
  std::int64_t classes_ = 0;
};

void check(const LabelledPictures& set, const std::string& name) {
  const std::vector<std::int64_t>& sizes = set.pictures.sizes;
  LT_REQUIRE(sizes.size() == 3, "pictures need three dimensions (number, height, width); ", name,
             " has ", sizes.size());
  LT_REQUIRE(set.labels.sizes.size() == 1 && set.labels.sizes[0] == sizes[0],
             "there must be one label for each picture; fetch the files again: ", name);
  LT_REQUIRE(!set.pictures.elements.empty(),
             "there are no pictures; fetch the files again: ", name);
}

fs::path find_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {".gz", ""}) {
    const fs::path file = folder / (name + ending);
    if (kind_at(file) != fs::file_type::not_found) return file;
  }
  throw IoError(base::concat("the data folder has no ", name,
                             "[.gz]; give one that holds the four ",
                             "files of MNIST or Fashion-MNIST: ", folder.string()));
}

LabelledPictures read_part(const fs::path& folder, const std::string& part) {
  LabelledPictures set = {read_idx(find_file(folder, part + "-images-idx3-ubyte")),
                          read_idx(find_file(folder, part + "-labels-idx1-ubyte"))};
  check(set, (folder / part).string());
  return set;
}

void append(IdxArray& to, const IdxArray& from) {
  to.sizes[0] += from.sizes[0];
  to.elements.insert(to.elements.end(), from.elements.begin(), from.elements.end());
}

}  // namespace

std::unique_ptr<DataSet> split_pictures(LabelledPictures all, std::int64_t training) {
  check(all, "the data set");
  const std::int64_t count = all.pictures.sizes[0];
  LT_REQUIRE(training > 0 && training <= count, "cannot train on ", training, " of ", count,
             " pictures");
  return std::make_unique<PictureSet>(std::move(all), Range{0, training},
                                      Range{training, count - training});
}

std::unique_ptr<DataSet> read_pictures(const fs::path& folder) {
  LabelledPictures all = read_part(folder, "train");
  const LabelledPictures evaluation = read_part(folder, "t10k");
  LT_REQUIRE(all.pictures.sizes[1] == evaluation.pictures.sizes[1] &&
                 all.pictures.sizes[2] == evaluation.pictures.sizes[2],
             "the pictures to train on and to evaluate have different sizes: ", folder.string());
  const std::int64_t training = all.pictures.sizes[0];
  append(all.pictures, evaluation.pictures);
  append(all.labels, evaluation.labels);
  return split_pictures(std::move(all), training);
}

}  // namespace lowtide::zoo
