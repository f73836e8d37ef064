// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/data_set.h"

#include <cstdlib>
#include <filesystem>

#include "base/check.h"
#include "zoo/embedded.h"
#include "zoo/file_kind.h"
#include "zoo/gzip.h"
#include "zoo/picture_set.h"
#include "zoo/synthetic_set.h"
#include "zoo/text_set.h"

namespace lowtide::zoo {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEmbeddedTraining = 8000;
constexpr const char* kKnown = "fashion-mnist, fashion-mnist-full, tiny-shakespeare, synthetic";

std::unique_ptr<DataSet> embedded_pictures() {
  const std::string name = "the embedded Fashion-MNIST";
  return split_pictures({parse_idx(gunzip(embedded_fashion_mnist_pictures(), name), name),
                         parse_idx(gunzip(embedded_fashion_mnist_labels(), name), name)},
                        kEmbeddedTraining);
}

// LOWTIDE_DATA names a folder of data sets that comes before the system's.
std::unique_ptr<DataSet> full_fashion_mnist() {
  std::vector<fs::path> places = {"/usr/share/datasets", "/usr/local/share/datasets"};
  if (const char* own = std::getenv("LOWTIDE_DATA")) places.insert(places.begin(), own);
  for (const fs::path& place : places) {
    const fs::path folder = place / "fashion-mnist";
    if (kind_at(folder) == fs::file_type::directory) return read_pictures(folder);
  }
  throw IoError(
      "the full Fashion-MNIST is not installed; install Debian's package dataset-fashion-mnist, or "
      "name a folder that holds fashion-mnist/ in LOWTIDE_DATA");
}

std::unique_ptr<DataSet> open_by_name(const std::string& name, InputKind kind) {
  if (name == "fashion-mnist") return embedded_pictures();
  if (name == "fashion-mnist-full") return full_fashion_mnist();
  if (name == "tiny-shakespeare") {
    return make_text(gunzip(embedded_tiny_shakespeare(), name), name);
  }
  if (name == "synthetic") return make_synthetic(kind);
  const fs::path path = name;
  const fs::file_type kind_of_file = kind_at(path);
  if (kind_of_file == fs::file_type::directory) return read_pictures(path);
  // Some never end.
  const bool is_device =
      kind_of_file == fs::file_type::character || kind_of_file == fs::file_type::block;
  LT_REQUIRE(!is_device, "the data must be a file or a folder, not a device: ", name);
  if (kind_of_file != fs::file_type::not_found) return make_text(read_gzip(path), name);
  throw InvalidInput(base::concat("no such data: '", name, "'; give the name of a text file, of a ",
                                  "folder of IDX files, or one of ", kKnown));
}

}  // namespace

std::unique_ptr<DataSet> open_data(const std::string& name, InputKind kind) {
  std::unique_ptr<DataSet> data = open_by_name(name, kind);
  LT_REQUIRE(data->kind() == kind, "the model takes ",
             kind == InputKind::kPictures ? "pictures" : "text", ", but the data is ",
             kind == InputKind::kPictures ? "text" : "pictures", ": ", name);
  return data;
}

}  // namespace lowtide::zoo
